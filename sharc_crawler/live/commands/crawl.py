"""``scrapy crawl``, with our errors as one line instead of a traceback, and exit codes that say what came of it."""

from __future__ import annotations

import argparse
import asyncio
import sys
import traceback
from pathlib import Path

from scrapy.commands import ScrapyHelpFormatter
from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.crawler import CrawlerProcessBase

from sharc_crawler.errors import SharcError
from sharc_crawler.live.config import Config
from sharc_crawler.live.failures.exit_codes import EXIT_CODE, FAILED, INTERRUPTED
from sharc_crawler.live.failures.output_streams import unfailing
from sharc_crawler.live.setup.places import check_state, is_begun, make_folder, nearest_folder
from sharc_crawler.live.spiders.site import SiteSpider, without_schedulers
from sharc_crawler.live.writing.space import Space
from sharc_crawler.plural import counted
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.folders import capture_folders

_ARGUMENTS = "arguments of the spider site"


class _Formatter(ScrapyHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Leaves our lines as they are, and makes them where they are shown."""

    def add_text(self, text: str | None) -> None:
        """The argument parser calls this with each of its texts."""
        if text == _ARGUMENTS:
            from sharc_crawler.options.pages import help_text

            text = help_text()
        super().add_text(text)


class Command(CrawlCommand):
    """Run a spider; ``site`` is checked before anything else happens."""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Scrapy calls this; ``--help`` shows our arguments after Scrapy's options."""
        super().add_options(parser)
        parser.formatter_class = _Formatter
        parser.epilog = _ARGUMENTS

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Scrapy calls this."""
        unfailing()
        try:
            if args == [SiteSpider.name]:
                self._run_site(opts)
            else:
                from sharc_crawler.live.setup.checks import check_spider  # not for a plain capture

                check_spider(args, self._process.spider_loader.list())
                super().run(args, opts)
        except SharcError as error:
            from sharc_crawler.live.failures.fatal_errors import refused

            refused(error)
            self.exitcode = error.exit_code
        except KeyboardInterrupt:  # before Scrapy handles it
            self._stopped("give the same command again")

    def _run_site(self, opts: argparse.Namespace) -> None:
        settings = self._process.settings.copy()
        opts.spargs = without_schedulers(opts.spargs)
        given = SiteSpider.prepare(settings, opts.spargs)
        config = Config.from_settings(settings)
        output = config.output or Path()
        if given.choice and config.progress:
            sys.stderr.write(f"ranking {counted(len(given.urls), 'seed')} by {given.choice.ranker} …\n")
        arguments, selection = given.chosen(output)
        specs = arguments.specs(config.strategy, {}, config)
        _check_output(output, specs, config, collected="collection" in opts.spargs)
        if "collection" in opts.spargs and not arguments.options.dry_run:
            from sharc_crawler.collection.crawl_arguments import begin
            from sharc_crawler.report.words import printable

            sys.stderr.writelines(f"sharc: {printable(line)}\n" for line in begin(opts.spargs))
        if config.history:
            from sharc_crawler.live.setup.checks import check_history  # before a folder is made

            check_history(Path(config.history), opts.spargs, reading=arguments.options.dry_run)
        if arguments.options.dry_run:
            from sharc_crawler.live.setup.plan import show_plan, show_selection  # only for a dry run

            show_plan(arguments, config)
            show_selection(selection)
            return
        Space(nearest_folder(output), config.min_free).require()
        make_folder(output)
        if selection:
            selection.save(output)
        self._crawl({**opts.spargs, "output": str(output)})

    @property
    def _process(self) -> CrawlerProcessBase:
        assert self.crawler_process is not None, "Scrapy makes it before it runs the command"
        return self.crawler_process

    def _crawl(self, arguments: dict[str, str]) -> None:
        crawler = self._process.create_crawler(SiteSpider.name)
        crawl = self._process.crawl(crawler, **arguments)
        self._process.start()
        error = crawl.exception() if isinstance(crawl, asyncio.Task) and crawl.done() else None
        if isinstance(error, SharcError):
            raise error
        if error:
            traceback.print_exception(error)  # Scrapy does not print it
        code = crawler.stats.get_value(EXIT_CODE)
        if error or (self._process.bootstrap_failed and not code):
            self.exitcode = FAILED
        elif code is None:  # Ctrl-C twice, or before the spider was opened
            from sharc_crawler.live.beginning import sessions
            from sharc_crawler.live.failures.failed_exchanges import way_out

            self._stopped(way_out(sessions.get(crawler), Path(arguments["output"])))
        else:
            self.exitcode = code

    def _stopped(self, way_out: str) -> None:
        sys.stderr.write(f"sharc: stopped; {way_out}\n")
        self.exitcode = INTERRUPTED


def _check_output(output: Path, specs: list[CaptureSpec], config: Config, *, collected: bool) -> None:
    """Refuse a folder that these captures cannot begin in, nor go on."""
    if config.resume == "rebuild":
        from sharc_crawler.live.setup.unfinished import check_rebuilding  # rarely needed

        check_rebuilding(output, specs, config.bounds, collected=collected)
        return
    if is_begun(output):
        from sharc_crawler.live.setup.unfinished import check_output  # only if there is something to continue

        check_output(output, specs, config.bounds)
    for folder in capture_folders(output):
        check_state(folder)
