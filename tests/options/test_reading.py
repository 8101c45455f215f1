"""Arguments and settings are read by the table; errors name what was written as it was written."""

from __future__ import annotations

import re

import pytest

from sharc_crawler.errors import UsageError
from sharc_crawler.live import profile
from sharc_crawler.options.reading import ROWS, SETTINGS, read_arguments, read_settings, tell_unread
from sharc_crawler.options.table import Options


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"strat": "bfs"}, "argument 'strat' is not known; did you mean 'strategy'?"),
        ({"warc_level": "3"}, "it is a setting: -s SHARC_WARC_LEVEL=VALUE"),
        ({"SHARC_MIN_FREE": "3"}, "it is a setting: -s SHARC_MIN_FREE=VALUE"),
        ({"every": "5m"}, "every='5m' is only for -a mode=instant"),
        ({"every": "5m", "mode": "capture"}, "every='5m' is only for -a mode=instant"),
        ({"theta": "0.5"}, "theta='0.5' is only for -a ranker=NAME"),
        ({"size": "9", "mode": "instant"}, "size='9' is for whole captures, not for mode=instant"),
        ({"strategy": "bsf"}, "strategy='bsf' is not known; did you mean 'bfs'?"),
    ],
)
def test_arguments_that_cannot_be_used_are_named(given, says):
    with pytest.raises(UsageError, match=re.escape(says)):
        read_arguments(given)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"SHARC_CHROMIUM": "/usr/bin/x"}, "SHARC_CHROMIUM is no setting but an environment variable"),
        ({"SHARC_DELAY": 2}, "SHARC_DELAY is no setting; did you mean 'DOWNLOAD_DELAY'?"),
        ({"SHARC_EXCLUDE": "/a"}, "SHARC_EXCLUDE is no setting but an argument of the spider site: -a exclude=VALUE"),
        ({"SHARC_STRATEGIE": "bfs"}, "SHARC_STRATEGIE is no setting; did you mean 'SHARC_STRATEGY'?"),
        ({"SHARC_STRATEGY": "bsf"}, "SHARC_STRATEGY='bsf' is not known; did you mean 'bfs'?"),
        ({"SHARC_STORE": "a.b.Store"}, "SHARC_STORE='a.b.Store' cannot be imported: there is no module 'a'"),
        ({"SHARC_MAX_TIME": "soon"}, "SHARC_MAX_TIME='soon' is no duration"),
        ({"DOWNLOAD_DELAY": "5s"}, "DOWNLOAD_DELAY='5s' must be a number"),
        ({"SHARC_WARC": "maybe"}, "SHARC_WARC='maybe' must be 1 or 0"),
        ({"SHARC_OPERATOR": "nobody"}, "SHARC_OPERATOR='nobody' must be a web page or a mail address"),
    ],
)
def test_settings_that_cannot_be_used_are_named(given, says):
    with pytest.raises(UsageError, match="^" + re.escape(says)):
        read_settings(given)


def test_a_setting_in_the_environment_is_told_where_it_is_given_nowhere_else(monkeypatch, caplog):
    for name in ("SHARC_STRATEGY", "SHARC_OPERATOR", "SHARC_CHROMIUM", "SHARC_SOMEBODYS"):
        monkeypatch.setenv(name, "x")
    tell_unread({"SHARC_OPERATOR": "x", "SHARC_STRATEGY": None})
    told = "SHARC_STRATEGY of the environment is not read: settings are given as -s SHARC_STRATEGY=…"
    assert caplog.messages == [told]


def test_what_is_not_set_has_the_tables_default():
    assert Options(**read_settings({"SHARC_HISTORY": None, "SHARC_RATES": ""})) == Options()


def test_an_argument_means_what_its_setting_means():
    for row in ROWS:
        if row.option.argument and (row.setting or "").startswith("SHARC_") and row.default not in (None, (), ""):
            text = row.option.kind.show(row.default)
            assert read_arguments({row.name: text}) == read_settings({row.setting: text})


def test_the_profile_is_what_the_table_says_of_it():
    stated = {row.setting: row.option.profile for row in ROWS if row.option.profile is not None}
    assert stated == {name: getattr(profile, name) for name in SETTINGS if hasattr(profile, name)}


def test_no_two_rows_share_a_name():
    assert len({row.name for row in ROWS}) == len(ROWS)
    assert len(SETTINGS) == len([row for row in ROWS if row.setting])
