"""What a command shares with a crawl's arguments is read, refused and described as there."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from sharc_crawler.cli import main
from sharc_crawler.options.pages import plain_text
from sharc_crawler.options.reading import ARGUMENTS


def sharc(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(main, [str(one) for one in arguments])
    return done.exit_code, done.output


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("simulate", "-a", "hints=5"), "hints='5' must be a number from 0 to 1"),
        (("simulate", "-a", "skip=some"), "skip='some' is not known. Allowed: attested, off"),
        (("simulate", "-a", "subsites=folders"), "subsites='folders' is not known"),
        (("seeds", "rank", "--theta", 7), "--theta='7' must be a number from 0 to 1"),
        (("seeds", "rank", "--budget", -3), "--budget='-3' must be a whole number of at least 0"),
        (("seeds", "rank", "--updates", "digests"), "did you mean 'digest'?"),
        (("seal", ".", "--sign", "no-such.pem"), "'no-such.pem' cannot be read"),
        (("seal", ".", "--operator", "me"), "--operator='me' must be a web page or a mail address"),
        (("seal", ".", "--timestamp", "a b"), "--timestamp='a b' is not an http(s) URL"),
        (("demo", "--strategy", "bsf"), "did you mean 'bfs'?"),
    ],
)
def test_what_a_crawl_refuses_a_command_refuses(arguments, says):
    code, output = sharc(*arguments)
    assert (code, says in output) == (2, True), output


def test_what_an_option_is_a_command_says_in_the_tables_words():
    said = " ".join(sharc("seeds", "rank", "--help")[1].split())
    assert plain_text(ARGUMENTS["theta"]) in said and "[default: digest]" in said
    assert '[default: ""]' not in sharc("simulate", "--help")[1], "where nothing stands for a value, none is shown"
