class Numbered:
    """Numbers the items, to show that pipelines work as ever."""

    def __init__(self):
        self.count = 0

    def process_item(self, item):
        self.count += 1
        item["number"] = self.count
        return item
