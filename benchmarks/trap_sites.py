"""Sites without an end, drawn at random: session names, made-up links, soft 404s, calendars beside a few true pages.

Each answers a path with a document. What is made up is another at each answer; ``stable``: the same for one address.
"""

from __future__ import annotations

import calendar
import random
import re
import string
from dataclasses import dataclass, field
from functools import cached_property

NAMES = {
    "letters": (string.ascii_lowercase, 6, 11),
    "mixed": (string.ascii_letters, 6, 11),
    "base36": (string.ascii_lowercase + string.digits, 7, 12),
    "hex": ("0123456789abcdef", 12, 32),
    "digits": (string.digits, 7, 12),
}
SLUGS = [
    "about",
    "contact",
    "news",
    "opening-hours",
    "tickets",
    "team",
    "history",
    "collection",
    "garden",
    "library",
    "press",
    "jobs",
    "shop",
    "visit",
    "school",
    "friends",
    "archive",
    "imprint",
    "map",
    "music",
    "theatre",
    "film",
    "books",
    "food",
    "sport",
    "science",
    "weather",
    "travel",
    "letters",
    "prizes",
]
NOUNS = [
    "harbour",
    "meadow",
    "lantern",
    "engine",
    "violin",
    "glacier",
    "orchard",
    "cathedral",
    "railway",
    "compass",
    "market",
    "bridge",
]
VERBS = [
    "restores",
    "measures",
    "describes",
    "collects",
    "forgets",
    "repairs",
    "photographs",
    "translates",
    "borrows",
    "maps",
]
FORMS = (
    "/s/{R}/{P}",
    "/{R}/{P}",
    "/{P}/{R}",
    "/{P}?r={R}",
    "/{P}?{R}",
    "/{P}?a={R}&b={R}",
    "/{R}/{P}/{R}",
    "/x/{R}/{R}/{P}",
    "/{R}-{R}/{P}",
    "/index.php?id={P}&s={R}",
    "/{P};s={R}",
    "/{P}-{R}.html",
    "/{R}.html?p={P}",
)
MADE = ("/{R}", "/x/{R}", "/{R}/{R}", "/x/{R}/{R}", "/p?q={R}&r={R}", "/p?q={R}", "/{R}-{R}.html")
LINKS = ("all", "near", "chain", "tree", "star")
SIZES = (5, 8, 12, 30)
CALENDARS = (
    "/cal/{y}/{m:02}",
    "/events/{y}-{m:02}/",
    "/cal?year={y}&month={m}",
    "/index.php?p=cal&m={m}&y={y}",
    "/c/{y}{m:02}",
)


def story(number: int) -> str:
    """What a true page says; no two say the same."""
    dice = random.Random(f"story {number}")
    return " ".join(f"The {dice.choice(NOUNS)} {dice.choice(VERBS)} a {dice.choice(NOUNS)}." for _ in range(12))


def linked(shape: str, at: int, number: int) -> list[int]:
    """Which others a true page names."""
    others = {
        "all": range(number),
        "near": (0, *range(max(at - 2, 0), min(at + 4, number))),
        "chain": (0, at + 1),
        "tree": (0, (at - 1) // 2, 2 * at + 1, 2 * at + 2),
        "star": range(number) if at == 0 else (0,),
    }[shape]
    return [other for other in dict.fromkeys(others) if 0 <= other < number and other != at]


@dataclass
class Answer:
    """``page``: which true page it is, if it is one."""

    text: str
    links: list[str]
    page: object = None
    status: int = 200
    pictures: list[str] = field(default_factory=list)
    title: str = "A house of stories"
    anchor: str = "see"

    @property
    def html(self) -> bytes:
        anchors = " ".join(f"<a href='{link.replace('&', '&amp;')}'>{self.anchor}</a>" for link in self.links)
        shown = "".join(f"<img src='{one}'>" for one in self.pictures)
        head = f"<html><head><title>{self.title}</title></head>"
        return f"{head}<body><p>{self.text}</p>{shown}{anchors}</body></html>".encode()


class Site:
    """``true``: the pages that are to be captured; ``shown``: those that were answered."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.true: set[object] = set()
        self.shown: set[object] = set()
        self.contents: dict[object, str] = {}  # what pages say, where several may say the same

    @property
    def lost(self) -> set[object]:
        """True pages that were not answered and say what none says that was."""
        seen = {self.contents.get(page, page) for page in self.shown}
        return {page for page in self.true - self.shown if self.contents.get(page, page) not in seen}

    def answer(self, path: str) -> Answer:
        made = self.document(re.sub(r"[?&]no-such-page-[a-z]+$", "", path))
        if made.page is not None:
            self.shown.add(made.page)
        return made

    def document(self, path: str) -> Answer:
        raise NotImplementedError

    def name(self, kind: str) -> str:
        letters, least, most = NAMES[kind]
        return "".join(self.dice.choices(letters, k=self.dice.randint(least, most)))


class Numbered(Site):
    """``size`` true pages, the front page among them, that name each other by ``links``."""

    def __init__(self, seed: int, size: int, links: str) -> None:
        super().__init__(seed)
        self.size, self.links = size, links
        self.true = set(range(size))
        slugs = self.dice.sample(SLUGS, min(size, len(SLUGS)))
        self.names = self.dice.choice(
            [
                [f"page{number}" for number in range(size)],
                [f"{number + 1}" for number in range(size)],
                [f"{slugs[number % len(slugs)]}{number // len(slugs) or ''}" for number in range(size)],
            ]
        )
        self.number_of = {name: number for number, name in enumerate(self.names)}


class Sessions(Numbered):
    """Something in each link is made up at each answer; ``one``: the same in all links of an answer."""

    def __init__(self, seed: int, size: int, links: str, form: str, kind: str, *, one: bool = False) -> None:
        super().__init__(seed, size, links)
        self.form, self.kind, self.one = form, kind, one
        self.of = re.compile(
            re.escape(form).replace(r"\{P\}", "(?P<page>[a-z0-9-]+?)").replace(r"\{R\}", "[A-Za-z0-9]+") + r"\Z"
        )

    def document(self, path: str) -> Answer:
        found = self.of.match(path)
        at = 0 if path == "/" else self.number_of.get(found["page"]) if found else None
        if at is None:
            return Answer("There is no such page.", ["/"], status=404)
        made = [self.name(self.kind) for _ in range(2)]
        others = linked(self.links, at, self.size)
        return Answer(story(at), [self.address(other, made if self.one else None) for other in others], at)

    def address(self, number: int, made: list[str] | None) -> str:
        url = self.form.replace("{P}", self.names[number])
        for at in range(2):
            url = url.replace("{R}", made[at] if made else self.name(self.kind), 1)
        return url


TRAP_TEXTS = ("one", "three", "changing id", "own path")


class Beside(Numbered):
    """True pages keep their addresses; ``every``: of them one in so many names ``made`` made-up ones."""

    stable = False

    def __init__(
        self, seed: int, size: int, links: str, form: str, kind: str, *, every: int, made: int, says: str, known: bool
    ) -> None:
        super().__init__(seed, size, links)
        self.form, self.kind, self.every, self.made, self.says = form, kind, every, made, says
        self.known = known  # what it has not named is not there
        self.named: set[str] = set()

    def made_up(self) -> str:
        url = self.form
        while "{R}" in url:
            url = url.replace("{R}", self.name(self.kind), 1)
        self.named.add(url)
        return url

    def document(self, path: str) -> Answer:
        at = 0 if path == "/" else self.number_of.get(path.removeprefix("/stories/"))
        if self.stable:
            self.dice = random.Random(path)
        if at is not None:
            links = ["/stories/" + self.names[other] if other else "/" for other in linked(self.links, at, self.size)]
            return Answer(story(at), links + [self.made_up() for _ in range(self.made * (at % self.every == 0))], at)
        if self.known and path not in self.named:
            return Answer("There is no such page.", ["/"], status=404)
        return Answer(self.text(path), ["/", *(self.made_up() for _ in range(self.made))])

    def text(self, path: str) -> str:
        return {
            "one": "There is always more to be seen here, so please have a look.",
            "three": f"There is always more to be seen here, so please {self.dice.choice(['look', 'read', 'go on'])}.",
            "changing id": f"Sorry, nothing was found. Please tell us this number: {self.dice.randrange(16**16):016x}.",
            "own path": f"Sorry, the page {path} was not found. Perhaps you look for one of these.",
        }[self.says]


class Leading(Beside):
    """The same, whose made-up pages name more that is known: the page that led there, the first of them, true ones."""

    also = ""

    def made_up(self) -> str:
        url = super().made_up()
        self.led.setdefault(url, self.at)
        return url

    def document(self, path: str) -> Answer:
        self.at = path
        answer = super().document(path)
        if answer.page is None and answer.status == 200:
            true = "/stories/" + self.names[1]
            known = {"parent": self.led.get(path, "/"), "first": next(iter(self.led)), "true": true}
            answer.links[:0] = [known[one] for one in self.also.split()]
        return answer

    @cached_property
    def led(self) -> dict[str, str]:
        """Made-up address → the page that named it first."""
        return {}


ALSO = ("parent", "first", "parent first", "true", "parent true")
SOFT = ("top", "own folder", "deeper", "other shape", "true ones, too")


class Soft(Numbered):
    """Whatever is no page is answered with status 200, and names others."""

    def __init__(self, seed: int, size: int, links: str, kind: str, *, leads: str, every: int) -> None:
        super().__init__(seed, size, links)
        self.kind, self.leads, self.every = kind, leads, every

    def document(self, path: str) -> Answer:
        at = 0 if path == "/" else self.number_of.get(path.removeprefix("/stories/"))
        if at is not None:
            links = ["/stories/" + self.names[other] if other else "/" for other in linked(self.links, at, self.size)]
            return Answer(story(at), links + [f"/{self.name(self.kind)}"] * (at % self.every == 0), at)
        name, folder = self.name(self.kind), path.rpartition("/")[0]
        links = {
            "top": [f"/{name}", f"/{self.name(self.kind)}"],
            "own folder": [f"{folder}/{name}", f"{folder}/{self.name(self.kind)}"],
            "deeper": [f"{path.partition('?')[0]}/{name}"],
            "other shape": [f"/x/{number}/{self.name(self.kind)}" for number in range(5)],
            "true ones, too": [f"/{name}", *("/stories/" + one for one in self.names[1:])],
        }[self.leads]
        told = f"{self.dice.randrange(16**12):012x}"
        return Answer(f"Oops. {path} was not found. Your request has the number {told}; tell us.", ["/", *links])


class Calendar(Numbered):
    """Each month names its neighbours; ``days``: and its days, which name their month; ``front``: named by it alone."""

    def __init__(self, seed: int, size: int, links: str, form: str, *, days: bool, front: bool, years: bool) -> None:
        super().__init__(seed, size, links)
        self.form, self.days, self.front, self.years = form, days, front, years
        self.month_of = {self.month(at): at for at in range(2026 * 12 - 700, 2026 * 12 + 700)}

    def month(self, at: int) -> str:
        return self.form.format(y=at // 12, m=at % 12 + 1)

    def document(self, path: str) -> Answer:
        at = 0 if path == "/" else self.number_of.get(path.removeprefix("/stories/"))
        if at is not None:
            links = ["/stories/" + self.names[other] if other else "/" for other in linked(self.links, at, self.size)]
            return Answer(story(at), links + [self.month(2026 * 12 + 10)] * (not self.front or at == 0), at)
        if path not in self.month_of:
            return self.day(path)
        at = self.month_of[path]
        year, month = at // 12, at % 12 + 1
        grid = " ".join(str(day.day) for week in calendar.Calendar().monthdatescalendar(year, month) for day in week)
        text = f"What is on in {calendar.month_name[month]} {year}: Mo Tu We Th Fr Sa Su {grid}. {self.events(at)}"
        steps = (1, -1, 12, -12) if self.years else (1, -1)
        days = calendar.monthrange(year, month)[1] if self.days else 0
        links = [
            *(self.month(at + step) for step in steps),
            *(f"/day/{year}/{month:02}/{day:02}" for day in range(1, days + 1)),
        ]
        return Answer(text, ["/", *links, *self.named(at)], anchor="")

    def day(self, path: str) -> Answer:
        found = re.fullmatch(r"/day/(\d{4})/(\d\d)/(\d\d)", path)
        if not found:
            return Answer("There is no such page.", ["/"], status=404)
        year, month, day = map(int, found.groups())
        text = f"What is on on {day} {calendar.month_name[month]} {year}: nothing is planned on this day."
        return Answer(text, ["/", self.month(year * 12 + month - 1)])

    def events(self, at: int) -> str:  # noqa: ARG002
        return "No events."

    def named(self, at: int) -> list[str]:  # noqa: ARG002
        return []


def drawn(family: str, seed: int, size: int | None = None) -> tuple[str, Site]:
    """A site of a family (``sessions``, ``beside``, ``leading``, ``soft``, ``calendar``), and what it is."""
    dice = random.Random(f"{family} {seed}")
    size, links, kind = size or dice.choice(SIZES), dice.choice(LINKS), dice.choice(list(NAMES))
    if family == "sessions":
        form, one = dice.choice(FORMS), dice.random() < 0.3
        return f"{form} {kind} {links} one={one}", Sessions(seed, size, links, form, kind, one=one)
    if family in {"beside", "leading"}:
        leading = family == "leading"
        forms, mades = ((*MADE, "/s/{R}/story"), [1, 1, 2]) if leading else (MADE, [1, 3, 10])
        form, every, made = dice.choice(forms), dice.choice([1, 1, 4]), dice.choice(mades)
        says, known = dice.choice(TRAP_TEXTS), dice.random() < 0.3
        site = (Leading if leading else Beside)(
            seed, size, links, form, kind, every=every, made=made, says=says, known=known
        )
        site.stable = dice.random() < 0.2
        told = f"{form} {kind} {links} every={every} made={made} {says} known={known} stable={site.stable}"
        if leading:
            site.also = dice.choice(ALSO)
            told += f" also={site.also}"
        return told, site
    if family == "soft":
        leads, every = dice.choice(SOFT), dice.choice([1, 1, 4])
        return f"{leads} {kind} {links} every={every}", Soft(seed, size, links, kind, leads=leads, every=every)
    form, days, front, years = dice.choice(CALENDARS), dice.random() < 0.25, dice.random() < 0.5, dice.random() < 0.3
    told = f"{form} {links} days={days} front={front} years={years}"
    return told, Calendar(seed, size, links, form, days=days, front=front, years=years)
