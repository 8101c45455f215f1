"""What was not followed, in few words."""

from __future__ import annotations

from sharc_crawler.report.left_out import notes_on_links, probed

TRAP = "looks like a trap: {} pages of /{}/*/{} had {} contents (traps=0 takes them)"


def test_what_differs_in_places_alone_is_one_note():
    folders = {TRAP.format(20 + k, folder, "@@sharing", 1 + k): 25 + k for k, folder in enumerate("abcdefgh")}
    notes = list(notes_on_links({**folders, "not in scope": 7}))
    assert notes == [
        "links not followed, looks like a trap: 27 pages of /h/*/@@sharing had 8 contents, and so in 7 other places"
        " (traps=0 takes them): named 228 times",
        "links not followed, not in scope: named 7 times",
    ]


def test_a_few_are_told_one_by_one():
    few = {TRAP.format(20, folder, "p", 1): 1 for folder in "abc"}
    assert list(notes_on_links(few)) == [f"links not followed, {why}: named 1 time" for why in few]


def test_error_pages_of_many_folders_are_one_note():
    answer = (
        "the site answers 404 to a page that cannot exist (http://h/{}/no-such-page-a), so pages that look alike count"
    )
    notes = [answer.format(folder) for folder in "abcde"]
    assert probed(["first", *notes, "last"]) == [
        "first",
        "the site answers 404 to a page that cannot exist (http://h/a/no-such-page-a, and so in 4 other folders), so"
        " pages that look alike count",
        "last",
    ]
    assert probed(notes[:3]) == notes[:3]
