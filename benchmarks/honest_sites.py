"""Sites that look like traps and are none: lists, filters, galleries, threads, glossaries, mirrors, versions.

``true``: what each shows that no other page does, and copies (``copy of …``) where an archive wants them, too.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import replace
from itertools import product
from typing import ClassVar
from urllib.parse import parse_qsl, urlencode

from benchmarks.trap_sites import NOUNS, VERBS, Answer, Calendar, Site, story

GONE = "There is no such page."


class Table(Site, ABC):
    """Pages by address, made once."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.pages: dict[str, Answer] = {}
        self.make()
        self.true = {one.page for one in self.pages.values() if one.page is not None}
        self.contents = {one.page: f"{one.text} {one.pictures}" for one in self.pages.values()}

    @abstractmethod
    def make(self) -> None:
        """Add all pages."""

    def add(self, path: str, text: str, links: list[str], *pictures: str, page: object = None) -> None:
        self.pages[path] = Answer(text, links, page or path, pictures=list(pictures))

    def document(self, path: str) -> Answer:
        return self.pages.get(path, Answer(GONE, ["/"], status=404))

    def opaque(
        self, number: int, letters: str = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
    ) -> list[str]:
        return ["".join(self.dice.choices(letters, k=8)) for _ in range(number)]


class Lists(Table):
    """A paged list of small pictures whose pages say the same; each item is in it alone."""

    def make(self) -> None:
        names = self.opaque(120)
        self.add("/", story(0), ["/list?page=1", "/list?page=1&sort=new"])
        for page, sort in product(range(1, 25), ("", "&sort=new")):
            items = names[5 * page - 5 : 5 * page] if not sort else names[::-1][5 * page - 5 : 5 * page]
            steps = [f"/list?page={at}{sort}" for at in (page - 1, page + 1) if 1 <= at <= 24]
            self.add(
                f"/list?page={page}{sort}",
                "All our items, page by page. Next and previous.",
                [*(f"/i/{one}" for one in items), *steps],
            )
        for at, name in enumerate(names):
            self.add(f"/i/{name}", story(at + 1), ["/", "/list?page=1"])


class PastTheEnd(Table):
    """Lists link five pages beyond their end, which say that there is nothing."""

    def make(self) -> None:
        self.add("/", story(0), [f"/tag/{one}?page=1" for one in NOUNS])
        for at, noun in enumerate(NOUNS):
            for page in range(1, 12):
                steps = [f"/tag/{noun}?page={page + step}" for step in (1, 2)] if page < 10 else []
                full = page <= 5
                items = [f"/story/{at * 30 + page * 3 + one}" for one in range(3)] if full else []
                self.add(
                    f"/tag/{noun}?page={page}",
                    f"List {noun} {page}" if full else "Nothing was found here, sorry.",
                    [*items, *steps],
                )
                for one in items:
                    self.add(one, story(int(one.rpartition("/")[2])), ["/", f"/tag/{noun}?page=1"])


class Shop(Site):
    """Filters by color, size, maker, order: many show the same list; a product is in few of them."""

    facets: ClassVar = {"color": ("red", "blue", "green", "grey"), "size": ("s", "m", "l"), "sort": ("price", "name")}

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.products = [
            {"color": self.dice.choice(self.facets["color"]), "size": self.dice.choice(self.facets["size"])}
            for _ in range(60)
        ]
        self.true = {"/", *range(60)}

    def document(self, path: str) -> Answer:
        if path == "/":
            return Answer(story(9_999), ["/shop"], "/")
        if found := re.fullmatch(r"/product/(\d+)", path):
            return Answer(story(int(found[1])), ["/shop"], int(found[1]))
        address, _, query = path.partition("?")
        if address != "/shop":
            return Answer(GONE, ["/"], status=404)
        chosen = dict(parse_qsl(query))
        page = int(chosen.pop("page", 1))
        fitting = [at for at, one in enumerate(self.products) if all(one.get(k, v) == v for k, v in chosen.items())]
        shown = fitting[6 * page - 6 : 6 * page]
        links = [f"/product/{at}" for at in shown]
        for name, values in self.facets.items():
            links += ["/shop?" + urlencode(sorted({**chosen, name: value}.items())) for value in values]
        if len(fitting) > 6 * page:
            links.append("/shop?" + urlencode(sorted({**chosen, "page": str(page + 1)}.items())))
        names = ", ".join(f"product {at}" for at in shown)
        return Answer(f"Our products: {names or 'none fits'}. Choose color, size and order.", links)


class Gallery(Table):
    """A page for each picture says no more than "next"; pictures' names are digests, or all one script's."""

    script = False

    def make(self) -> None:
        self.add("/", story(0), [f"/album/{at}" for at in range(6)])
        for album in range(6):
            names = ["".join(self.dice.choices("0123456789abcdef", k=32)) for _ in range(25)]
            self.add(f"/album/{album}", f"Album {story(album + 1)}", [f"/album/{album}/photo/1"])
            for at, name in enumerate(names, 1):
                picture = f"/img.php?id={album * 100 + at}&w=800" if self.script else f"/files/{name}.jpg"
                steps = [f"/album/{album}/photo/{one}" for one in (at - 1, at + 1) if 1 <= one <= 25]
                self.add(
                    f"/album/{album}/photo/{at}",
                    "A photo of this album: previous, next, back.",
                    [f"/album/{album}", *steps],
                    picture,
                )


class GalleryByScript(Gallery):
    script = True


class Threads(Table):
    """A mailing list: months by thread, date and author; short messages; attachments that were taken out."""

    def make(self) -> None:
        months = [f"2026-{name}" for name in ("March", "April", "May", "June")]
        self.add("/", story(0), [f"/list/{month}/{by}.html" for month in months for by in ("thread", "date", "author")])
        for month in months:
            numbers = [f"{self.dice.randrange(10**6):06}" for _ in range(40)]
            for by in ("thread", "date", "author"):
                order = self.dice.sample(numbers, 40)
                self.add(
                    f"/list/{month}/{by}.html",
                    f"Messages by {by}: {' '.join(order)}",
                    [f"/list/{month}/{one}.html" for one in order],
                )
            for at, number in enumerate(numbers):
                short = at % 3 == 0
                told = "I agree with you in all of this. Thank you." if short else story(int(number))
                steps = [f"/list/{month}/{numbers[one]}.html" for one in (at - 1, at + 1) if 0 <= one < 40]
                scrubbed = [f"/list/attachments/{month}/{int(number):08x}/attachment.html"] * (at % 4 == 0)
                self.add(f"/list/{month}/{number}.html", told, [*steps, f"/list/{month}/thread.html", *scrubbed])
                for one in scrubbed:
                    self.add(one, "An HTML attachment was scrubbed from this message.", [])


class Wiki(Table):
    """Each article has a history, old versions, an edit page that asks to log in; some links lead to no article."""

    def make(self) -> None:
        names = [f"{verb}_{noun}" for verb, noun in product(VERBS[:5], NOUNS)]
        self.add("/", story(0), [f"/wiki/{one}" for one in names[:5]])
        for at, name in enumerate(names):
            own = f"/w/index.php?title={name}"
            missing = [f"/w/index.php?title={name}_{one}&action=edit&redlink=1" for one in ("II", "III")]
            near = [f"/wiki/{names[one]}" for one in (2 * at + 1, 2 * at + 2, at - 1) if 0 <= one < len(names)]
            self.add(
                f"/wiki/{name}",
                story(at + 1),
                [*near, f"{own}&action=history", f"{own}&action=edit", f"/wiki/Talk:{name}", *missing],
            )
            for one in missing:
                self.add(one, "You must log in to create pages here. There is no such article yet.", ["/", "/login"])
            self.add(f"{own}&action=edit", "You must log in to edit pages here. View source.", ["/", "/login"])
            self.add(f"/wiki/Talk:{name}", "There is no text in this page yet. You can log in.", ["/", f"/wiki/{name}"])
            old = [100_000 + at * 10 + one for one in range(4)]
            self.add(f"{own}&action=history", f"History of versions {old}", [f"{own}&oldid={one}" for one in old])
            for one in old:
                self.add(
                    f"{own}&oldid={one}",
                    f"Old version {one}. {story(at + 1)}",
                    [f"/wiki/{name}", f"{own}&diff=prev&oldid={one}"],
                )
                self.add(f"{own}&diff=prev&oldid={one}", f"Difference {story(one)}", [f"/wiki/{name}"])
        self.add("/login", "Please log in with your name.", ["/"])


class Glossary(Table):
    """A page per term; most say that nobody has explained it yet, and name the next ones."""

    def make(self) -> None:
        terms = sorted({f"{verb[:-1]}{noun}" for verb, noun in product(VERBS, NOUNS)})
        letters = sorted({one[0] for one in terms})
        self.add("/", story(0), [f"/glossary/{one}/" for one in letters])
        for letter in letters:
            self.add(
                f"/glossary/{letter}/",
                f"Terms with {letter}",
                [f"/glossary/{letter}/{one}" for one in terms if one[0] == letter][:3],
            )
        for at, term in enumerate(terms):
            near = [
                f"/glossary/{terms[one][0]}/{terms[one]}" for one in (at - 1, at + 1, at + 2) if 0 <= one < len(terms)
            ]
            told = story(at + 1) if at % 7 == 0 else "Nobody has explained this term yet. Be the first!"
            self.add(f"/glossary/{term[0]}/{term}", f"{term}: {told}", [*near, f"/suggest?term={term}"])
            self.add(f"/suggest?term={term}", "Please log in to explain this term. Thank you very much.", ["/"])


class Stubs(Table):
    """Terms one after the other, each named by its neighbours alone, and the first by an index; few are explained."""

    one_in = 12

    def make(self) -> None:
        terms = sorted(f"{verb}{noun}" for verb, noun in product(VERBS, NOUNS))
        self.add("/", story(0), ["/terms/", "/about", "/contact"])
        for name in ("/about", "/contact"):
            self.add(name, story(len(name)), ["/"])
        self.add("/terms/", "All terms, one after the other.", ["/", f"/terms/{terms[0]}"])
        for at, term in enumerate(terms):
            near = [f"/terms/{terms[one]}" for one in (at - 1, at + 1) if 0 <= one < len(terms)]
            told = story(100 + at) if self.dice.randrange(self.one_in) == 0 else "Nobody has explained this term yet."
            self.add(f"/terms/{term}", f"{term}: {told}", ["/", "/terms/", *near])


class Tongues(Table):
    """The same tree in five languages; three of four pages are not translated; each page names its like."""

    by_query = False

    def at(self, tongue: str, name: str) -> str:
        return f"/{name}?lang={tongue}" if self.by_query else f"/{tongue}/{name}"

    def make(self) -> None:
        tongues = ("en", "de", "fr", "it", "es")
        names = [f"{verb}-{noun}" for verb, noun in product(VERBS[:4], NOUNS)]
        self.add("/", story(0), [self.at(tongue, names[0]) for tongue in tongues])
        for (at, name), tongue in product(enumerate(names), tongues):
            translated = tongue == "en" or at % 4 == 0
            told = story(at + 1 + 1_000 * tongues.index(tongue)) if translated else story(at + 1)
            below = [self.at(tongue, names[one]) for one in (3 * at + 1, 3 * at + 2, 3 * at + 3) if one < len(names)]
            self.add(self.at(tongue, name), told, [*below, *(self.at(one, name) for one in tongues)])


class TonguesByQuery(Tongues):
    by_query = True


class Versions(Table):
    """Documentation in twelve versions: a page changes in one of six of them; ``digests``: under a digest each."""

    digests = False

    def make(self) -> None:
        versions = [f"{at // 4 + 1}.{at % 4}" for at in range(12)]
        if self.digests:
            versions = ["".join(self.dice.choices("0123456789abcdef", k=16)) for _ in versions]
        names = [f"{verb}{noun}" for verb, noun in zip(VERBS * 2, NOUNS + NOUNS[::-1], strict=False)][:17]
        state = dict.fromkeys(names, 0)
        self.add("/", story(0), [f"/{version}/api/{names[0]}" for version in versions])
        for version in versions:
            for at, name in enumerate(names):
                state[name] += self.dice.random() < 1 / 6
                text = f"{name}: {story(at + 1)} {story(5_000 + 100 * at + state[name])}"
                below = [f"/{version}/api/{one}" for one in (*names[at + 1 : at + 3], names[0])]
                others = [f"/{one}/api/{name}" for one in self.dice.sample(versions, 3)] if not self.digests else []
                self.add(f"/{version}/api/{name}", text, [*below, *others], page=(name, state[name]))


class VersionsByDigest(Versions):
    digests = True


class Expired(Table):
    """Links that have expired say so, and alone name the next pages."""

    def make(self) -> None:
        true, old = self.opaque(156), self.opaque(156)
        self.add("/", story(0), [f"/{one}" for one in old[:6]])
        for at in range(156):
            self.add(
                f"/{old[at]}",
                "This link has expired. Here is a newer one, please go on.",
                [f"/{true[at]}"],
                page="expired",
            )
            self.add(
                f"/{true[at]}", story(at + 1), ["/", *(f"/{old[one]}" for one in (2 * at + 6, 2 * at + 7) if one < 156)]
            )


class Museum(Calendar):
    """Eight pages and a calendar; an event, with its page, every ``months`` months for six years."""

    months = 3

    def __init__(self, seed: int) -> None:
        super().__init__(seed, 8, "near", "/events/{y}-{m:02}/", days=False, front=False, years=False)
        now = 2026 * 12 + 10
        self.at = set(range(now - 48, now + 24, self.months))
        self.true |= {f"/event/{at}" for at in self.at}

    def document(self, path: str) -> Answer:
        if found := re.fullmatch(r"/event/(\d+)", path):
            return Answer(story(int(found[1])), ["/"], path)
        return super().document(path)

    def events(self, at: int) -> str:
        return f"Come to us: {NOUNS[at % 12]} {at}" if at in self.at else "No events."

    def named(self, at: int) -> list[str]:
        return [f"/event/{at}"] if at in self.at else []


class Fair(Museum):
    months = 12


class Register(Table):
    """Names by their letters: each page says its own, and names those with one letter more."""

    def make(self) -> None:
        self._walk("/", 0)

    def _walk(self, path: str, depth: int) -> None:
        more = [f"{path}{letter}{depth}/" for letter in "klmno"] if depth < 4 else []
        self.add(path, f"Names with {path}", more)
        for one in more:
            self._walk(one, depth + 1)


class Dictionary(Table):
    """A word a page; each names the next, and another by chance at each answer."""

    def make(self) -> None:
        ends = ["nor", "tim", "sel", "rup", "gan", "vik", "lom", "put", "dez", "kar"]
        self.words = [f"/w/{a}{b}{c}" for a in "bdfgkl" for b in "aeiou" for c in ends]
        self.add("/", story(0), self.words[::30])
        for at, word in enumerate(self.words):
            self.add(word, word.removeprefix("/w/"), self.words[at + 1 : at + 2])

    def document(self, path: str) -> Answer:
        answer = super().document(path)
        by_chance = [self.dice.choice(self.words)] * path.startswith("/w/")
        return replace(answer, links=[*answer.links, *by_chance])


KINDS = {
    one.__name__: one
    for one in (
        Lists,
        PastTheEnd,
        Shop,
        Gallery,
        GalleryByScript,
        Threads,
        Wiki,
        Glossary,
        Stubs,
        Tongues,
        TonguesByQuery,
        Versions,
        VersionsByDigest,
        Expired,
        Museum,
        Fair,
        Register,
        Dictionary,
    )
}
