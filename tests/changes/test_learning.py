"""Masks learned from two fetches close together: noise is taken out, edits beside it are not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.changes.fingerprint import fingerprint
from sharc_crawler.changes.learning import MOST, Pair, _Difference, _fewest, learn
from sharc_crawler.changes.masks import Mask, as_json, load_masks
from sharc_crawler.errors import DataError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

PAGE = """<html><head><script>var now = {clock!r};</script></head><body><main id=main>
{filler}<p>The castle has 12 towers and costs 7 euros.</p></main>
<div id=status><script>1</script>Seen {count} times, 3 halls open, on {day} at {clock} o'clock</div>
<section id="s{count}"><b>{token}</b></section>
<blockquote class=q>{quote}</blockquote><a href="/out/{token}/go?page=2">out</a><img src="/img/{token}.png" alt=x>
</body></html>"""
FILLER = "<p>Words that make up a page, many of them, as pages have.</p>" * 8


def page(count: int, day: str, clock: str, quote: str, token: str) -> str:
    return PAGE.format(count=count, day=day, clock=clock, quote=quote, token=token, filler=FILLER)


FIRST = page(7, "Fri 20 Nov 2026", "10:31:07", "to be or not", "abc12")
SECOND = page(8, "Fri 20 Nov 2026", "10:31:09", "all is well that ends", "zz991")
LATER = page(1_210, "Sat 21 Nov 2026", "9:02:59", "brevity", "q")


def of(text: str, masks: tuple[Mask, ...]) -> str:
    return fingerprint(text.encode(), "text/html", masks)


@pytest.fixture(scope="module")
def learned() -> tuple[Mask, ...]:
    return learn([Pair(FIRST.encode(), SECOND.encode(), "text/html")]).masks


def test_noise_of_another_day_is_ignored(learned: tuple[Mask, ...]) -> None:
    assert of(FIRST, ()) != of(SECOND, ())
    assert of(FIRST, learned) == of(SECOND, learned) == of(LATER, learned)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("12 towers", "13 towers"),
        ("costs 7", "costs 8"),
        ("3 halls open", "4 halls open"),
        ("3 halls open", "3 rooms open"),
        ("Seen", "Sold"),
        ("/go?page=2", "/go?page=3"),
        ("/img/", "/pictures/"),
        ("many of them", "some of them"),
    ],
)
def test_an_edit_is_seen_even_within_a_text_that_varies(learned: tuple[Mask, ...], old: str, new: str) -> None:
    assert old in LATER
    assert of(LATER.replace(old, new), learned) != of(FIRST, learned)


def test_what_is_large_is_no_noise() -> None:
    one, other = "<p>Hello you</p><p>a b c d e", "<p>Good morning to you</p><p>a b c d e"
    assert learn([Pair(one.encode(), other.encode(), "text/html")]).masks == ()


def test_support() -> None:
    one = Pair(FIRST.encode(), SECOND.encode(), "text/html", "/one")
    still = Pair(FIRST.encode(), FIRST.encode(), "text/html", "/two")
    other = Pair(SECOND.encode(), LATER.encode(), "text/html", "/three")
    assert learn([one, still], support=2).masks == ()
    assert learn([one, still, other], support=2).masks
    assert learn([one, other._replace(page="/one")], support=2).masks == (), "one page under two URLs"


def test_an_edit_made_just_then_is_no_noise() -> None:
    """A title that three listings show, of twenty, those that stood still among them; the counter is on all."""

    def listing(number: int, version: int, seen: int) -> bytes:
        title = f"post-1 v{version}" if number < 3 else f"post-{number} v1"
        text = f"<html><body><h2><a href=/post>{title}</a></h2>{FILLER}<div id=seen>Seen {seen} times</div>"
        return text.encode()

    pairs = [Pair(listing(n, 1, n), listing(n, 2, 100 + n), "text/html", f"/page/{n}") for n in range(20)]
    (mask,) = learn(pairs, support=2).masks
    assert mask == Mask("//*[@id='seen']", r"Seen (\d[\d.,:/'+-]*) times")
    still = [pair._replace(new=pair.old) if n > 2 else pair for n, pair in enumerate(pairs)]
    assert learn(still, support=2).masks == ()


def test_what_is_known_is_not_learned_again(learned: tuple[Mask, ...]) -> None:
    assert learn([Pair(FIRST.encode(), LATER.encode(), "text/html")], known=learned).masks == ()


@pytest.mark.parametrize(("body", "media_type"), [(b"", "text/html"), (b"a", "text/plain"), (b"<", None)])
def test_nothing_is_learned_from_what_is_no_page(body: bytes, media_type: str | None) -> None:
    assert learn([Pair(body, body + b"x", media_type)]).masks == ()


TEXTS = st.text("ab1:2 ", min_size=1, max_size=12)


@given(TEXTS, TEXTS)
def test_a_learned_text_fits_both_examples(one: str, other: str) -> None:
    first, second = (f"<body>{FILLER}<p id=a>x {text} y</p></body>" for text in (one, other))
    masks = learn([Pair(first.encode(), second.encode(), "text/html")]).masks
    assert of(first, masks) == of(second, masks)


def test_a_file_of_masks(tmp_path: Path, learned: tuple[Mask, ...]) -> None:
    (tmp_path / "masks.json").write_text(json.dumps(as_json(learned)))
    assert load_masks(tmp_path / "masks.json") == learned


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("nonsense", DataError, "no file of masks"),
        ("[" * 100_000, DataError, "no file of masks"),
        ('{"version": 9, "masks": []}', DataError, "version 9"),
        ('{"version": 1, "masks": [{"path": "//["}]}', UsageError, "XPath"),
        ('{"version": 1, "masks": [{"path": "//p", "pattern": "("}]}', UsageError, "regular expression"),
        ('{"version": 1, "masks": [{"oops": "//p"}]}', DataError, "oops"),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path: Path, text: str, error: type[Exception], message: str) -> None:
    (tmp_path / "masks.json").write_text(text)
    with pytest.raises(error, match=message):
        load_masks(tmp_path / "masks.json")


@pytest.mark.parametrize(
    ("text", "instants", "edit"),
    [
        (
            "Es ist {}, 3 Hallen",
            "Freitag, 20. November 2026, 10:31:0{} Uhr|Samstag, 5. Dezember 2026, 9:02:59 Uhr",
            "3",
        ),
        ("Hoy es {}", "viernes, 20 de noviembre de 2026, 10:31:0{}|sábado, 5 de diciembre de 2026, 9:02:59", "Hoy"),
        ("Сейчас {}", "пятница, 20 ноября 2026 г., 10:31:0{}|суббота, 5 декабря 2026 г., 9:02:59", "Сейчас"),
        ("현재 {}, 3개관", "2026년 11월 20일 금요일 10:31:0{}|2026년 12월 5일 토요일 9:02:59", "3"),
        ("現在 {}", "2026年11月20日(金) 10:31:0{}|2026年12月5日(土) 9:02:59", "現在"),
        ("时间：{}。开放3个馆", "2026年11月20日10时31分0{}秒|2026年12月5日9时02分59秒", "开放"),
        ("本页已被浏览{}次，开放3个馆。", "10{}|2345", "3"),
        ("It is {}, 3 halls", "10:31:0{} AM|9:02:59 PM", "3"),
        ("Since {} 3 halls", "10:31:0{}|9:02:59", "3"),
    ],
)
def test_clocks_and_counters_of_any_language(text: str, instants: str, edit: str) -> None:
    now, later = instants.split("|")
    whole = f"{FILLER}<p id=foot>{text}</p>"
    one, other, next_day = (whole.format(shown) for shown in (now.format(7), now.format(9), later))
    masks = learn([Pair(one.encode(), other.encode(), "text/html; charset=utf-8")]).masks
    assert of(one, masks) == of(next_day, masks)
    assert of(next_day, masks) != of(whole.replace(edit, "4").format(later), masks)


def listed(*items: str) -> str:
    return FILLER + "<ul id=list>" + "".join(f"<li><a href='/{item[0]}'>{item}</a></li>" for item in items) + "</ul>"


@pytest.mark.parametrize(
    ("first", "second", "later", "ignored"),
    [
        (("to be", "all is well", "so"), ("if", "brevity", "the rest is"), ("once", "more unto", "the breach"), True),
        (("DAX +0,3", "Dow -0,1"), ("DAX +0,4", "Dow -0,2"), ("DAX -1,5", "Dow 0,0"), True),
        (("DAX +0,3", "Dow -0,1"), ("DAX +0,4", "Dow -0,2"), ("DAX -1,5", "MDAX 0,0"), False),
    ],
)
def test_lists_that_rotate_and_numbers_with_signs(
    first: tuple[str, ...], second: tuple[str, ...], later: tuple[str, ...], ignored: bool
) -> None:
    one, other = listed(*first), listed(*second)
    masks = learn([Pair(one.encode(), other.encode(), "text/html")]).masks
    assert (of(one, masks) == of(listed(*later), masks)) is ignored


def test_a_list_that_has_grown_is_not_masked_as_a_whole() -> None:
    one, other = listed("to be", "all is well", "so"), listed("brevity", "to be", "all is well")
    assert "//*[@id='list']" not in [
        mask.path for mask in learn([Pair(one.encode(), other.encode(), "text/html")]).masks
    ]


def test_how_much_of_a_page_is_masked_does_not_depend_on_spaces_between_words() -> None:
    pages = [f"<p>{'桥梁与河流' * 40}</p><b id=quote>{quote}</b>" for quote in ("存在还是毁灭 问题", "光阴", "简洁")]
    masks = learn([Pair(pages[0].encode(), pages[1].encode(), "text/html; charset=utf-8")]).masks
    assert of(pages[0], masks) == of(pages[2], masks)


# -- pages as stock CMSes make them: hand-made, with what theirs have --------------------------------------------------

POST = """<html><body class="post-template single postid-{id} theme-town"><article id="post-{id}"><h1>Post {id}</h1>
{filler}<p>The bridge has {id} arches.</p><p class="entry-meta post-{id}-meta">Seen {views} times, {id} answers</p>
<a class="reply comment-{id}-link" href="/?p={id}&reply={id}&_wpnonce_of={nonce}">Answer</a></article>
<footer><img class="avatar avatar-32" src="http://{shard}.avatars.example/a?s=32" alt="">
<p class="made">Page made in {seconds} s. Queries: {queries}</p></footer></body></html>"""


def post(number: int, fetch: int, **more: object) -> bytes:
    shown = {
        "views": 100 * number + 3 * fetch, "nonce": f"{number:x}f{fetch}a7c1d9e0", "shard": (number + fetch) % 3,
        "seconds": 0.02 + 0.11 * fetch, "queries": 20 + (number * (3 + fetch)) % 11,
    } | more  # fmt: skip
    return POST.format(id=number, filler=FILLER, **shown).encode()


@pytest.fixture(scope="module")
def of_posts() -> tuple[Mask, ...]:
    return learn([Pair(post(n, 0), post(n, 1), "text/html", f"/?p={n}") for n in range(8, 14)], support=2).masks


def test_masks_hold_for_all_pages_whatever_their_ids(of_posts: tuple[Mask, ...]) -> None:
    assert not any(character.isdigit() for mask in of_posts for character in mask.path.replace("h1", ""))
    one, other = post(1_234, 0), post(1_234, 5, views=99_999)
    assert fingerprint(one, "text/html") != fingerprint(other, "text/html")
    assert fingerprint(one, "text/html", of_posts) == fingerprint(other, "text/html", of_posts)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1234 arches", "1235 arches"),
        ("1234 answers", "1235 answers"),
        ("Page made", "Film made"),
        ("?p=1234&", "?p=1235&"),
        ("avatars.example", "pictures.example"),
        ("Answer<", "Ask<"),
    ],
)
def test_edits_beside_what_varies_are_seen(of_posts: tuple[Mask, ...], old: str, new: str) -> None:
    before, after = post(1_234, 0).decode(), post(1_234, 1).decode()
    assert old in after
    assert of(before, of_posts) != of(after.replace(old, new), of_posts)


def test_a_template_that_was_edited_is_no_noise() -> None:
    """Everywhere in the same way: an edit of what all pages share."""
    pages = [(post(n, 0, queries=20, seconds=1, shard=0, views=1), n) for n in range(8, 14)]
    pairs = [Pair(page, page.replace(b"Queries: 20", b"Queries: 21"), "text/html", f"/?p={n}") for page, n in pages]
    lesson = learn(pairs, support=2)
    assert lesson.masks == ()
    assert "changed in the same way on 6 pages" in lesson.why_no_more()[0]


def test_a_link_that_leads_elsewhere_is_no_noise() -> None:
    pages = [f"<body>{FILLER}<p class=see><a href='/w.php?title=P{n}&action=edit'>see</a></p>" for n in range(4)]
    pairs = [
        Pair(page.encode(), page.replace(f"?title=P{n}&action=edit", f"/P{n}").encode(), "text/html", str(n))
        for n, page in enumerate(pages)
    ]
    lesson = learn(pairs, support=2)
    assert (lesson.masks, lesson.edited) == ((), 4)
    assert "leads elsewhere" in lesson.why_no_more()[-1]


@pytest.mark.parametrize(
    "page", ["<p id=a>{} \x1b[2J\x00 {}</p>", "<p id='\x1b'>{}</p>", "<p class='\x1b a1'><a title='\x07{}'>x</a>"]
)
def test_control_characters_are_no_obstacle(page: str) -> None:
    one, other = (FILLER + page.format(text, 3) for text in ("7 times", "8 times"))
    masks = learn([Pair(one.encode(), other.encode(), "text/html")]).masks
    assert of(one, masks) == of(other, masks) != of(one.replace("times", "rooms"), masks)


def test_why_nothing_was_learned() -> None:
    same = Pair(post(8, 0), post(8, 0), "text/html", "8")
    assert "nothing to compare" in learn([]).why_no_more()[0]
    assert "Of 1 page that was fetched twice" in learn([same, same]).why_no_more()[0], "three times"
    assert "none differed" in learn([same]).why_no_more()[0]
    once = learn([same._replace(new=post(8, 1)), same], support=2)
    assert "differs on 1 page alone; a mask takes 2 pages that show it" in once.why_no_more()[0]


@pytest.mark.slow
@pytest.mark.parametrize(("places", "teaches"), [(MOST, True), (MOST + 1, False)])
def test_a_page_that_differs_in_very_many_places_is_another_page(places: int, teaches: bool) -> None:
    one, other = ("".join(f"<p>{FILLER} made in {n + turn} ms</p>" for n in range(places)) for turn in (1, 5_000))
    lesson = learn([Pair(one.encode(), other.encode(), "text/html")])
    assert (bool(lesson.masks), lesson.edited) == (teaches, 0 if teaches else 1)


MASKS = [Mask("//p", str(number)) for number in range(6)]
HIDDEN = st.lists(st.lists(st.sampled_from(MASKS), unique=True, max_size=4).map(tuple), max_size=8)


@given(HIDDEN, st.sets(st.sampled_from(MASKS)))
def test_few_masks_hide_all_that_can_be_hidden(hidden: list[tuple[Mask, ...]], refused: set[Mask]) -> None:
    differences = [_Difference("", masks, ("", ""), clock=False) for masks in hidden]
    masks = _fewest(differences, lambda mask: mask not in refused)
    assert refused.isdisjoint(masks)
    left = list(differences)
    for mask in masks:  # each is the one that hides most of what is left
        hides = {one: sum(one in each.masks for each in left) for one in MASKS if one not in refused}
        assert hides[mask] == max(hides.values()) > 0
        left = [one for one in left if mask not in one.masks]
    assert all(refused.issuperset(one.masks) for one in left)
