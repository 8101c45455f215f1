"""A project's requests under a SHARC order: no item more or less than without."""

from __future__ import annotations

import json
import subprocess
import sys

SPIDER = """
import scrapy


class Poll(scrapy.Spider):
    name = "poll"
    polled = 0

    async def start(self):
        for _ in range(2):
            yield scrapy.Request(self.url, dont_filter=True)

    def parse(self, response):
        self.polled += 1
        yield {"polled": self.polled}
        if self.polled < 4:
            yield scrapy.Request(response.url, dont_filter=True)
        yield scrapy.Request(response.url, callback=self.once)

    def once(self, response):
        yield {"once": response.url}
"""


def items(tmp_path, url, addons) -> list[str]:
    (tmp_path / "poll.py").write_text(SPIDER)
    settings = [f"ADDONS={json.dumps(addons)}", "SHARC_ALLOWED_ADDRESSES=127.0.0.0/8", "TELNETCONSOLE_ENABLED=False"]
    chosen = [text for setting in settings for text in ("-s", setting)]
    run = [sys.executable, "-m", "scrapy", "runspider", "poll.py", "-a", f"url={url}", "-O", "items.jsonl", *chosen]
    subprocess.run(run, cwd=tmp_path, check=True, capture_output=True, timeout=60)
    return sorted((tmp_path / "items.jsonl").read_text().splitlines())


def test_dont_filter_is_honoured_and_hides_no_later_request(static, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<html>polled</html>")
    with static(tmp_path / "site") as url:
        plain = items(tmp_path, url, {})
        assert len(plain) == 6
        assert items(tmp_path, url, {"sharc_crawler.live.addon.SharcAddon": 500}) == plain
