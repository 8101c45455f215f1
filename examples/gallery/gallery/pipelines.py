"""Items go into a file at once: what a callback has yielded is there, whatever becomes of the process."""

import json
from pathlib import Path


class WriteAtOnce:
    """One line an item, added to what a former run has written."""

    def __init__(self, path):
        self.path = path

    @classmethod
    def from_crawler(cls, crawler):
        return cls(Path(crawler.settings["ITEMS"]))

    def process_item(self, item):
        with self.path.open("a") as file:
            file.write(json.dumps(dict(item), sort_keys=True) + "\n")
        return item
