"""What the documents say is so."""

from __future__ import annotations

import ast
import builtins
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import docs_glossary
from sharc_crawler.guides import guide
from sharc_crawler.options.reading import ARGUMENTS, SETTINGS
from sharc_crawler.plugins import names

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()
MODULE = r"(?:\w+/)*[a-z_]+\.py"
CODE = re.compile(rf"`({MODULE})`")
REFERENCE = re.compile(r":(?:mod|class|func|meth|data):`(?:[^`<]*<)?~?([\w.]+)>?`")
ARGUMENTS_PAGE = (ROOT / "docs/arguments.md").read_text()


def test_every_setting_is_documented_and_no_other():
    documented = set(re.findall(r"^\| `([A-Z_]+)` \|", (ROOT / "docs/settings.md").read_text(), re.MULTILINE))
    assert documented == set(SETTINGS)


def test_the_tests_that_stand_for_security_exist():
    tests = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    named = re.findall(r"`([^`]*test_[^`]*)`", (ROOT / "docs/security.md").read_text())
    assert named
    for name in named:
        file, _, test = name.partition("::")
        if file.startswith("test_never"):
            file, test = "", file
        assert not file or list((ROOT / "tests").rglob(file.removeprefix("tests/"))), name
        assert not test or f"def {test}(" in tests, name


def test_tests_and_benchmarks_that_are_named_by_their_paths_exist():
    text = "\n".join(
        path.read_text() for path in [ROOT / ".ci/run", ROOT / "Makefile", *ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
    )
    named = set(re.findall(r"(?<![\w/.-])(?:tests|benchmarks)/[\w/]+\.py", text))
    assert len(named) > 50
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_nothing_is_pickled():
    for path in (ROOT / "sharc_crawler").rglob("*.py"):
        assert not re.search(r"^\s*(?:import|from) (?:pickle|marshal|shelve)", path.read_text(), re.MULTILINE), path


def test_every_argument_is_documented():
    listed = [re.findall(r"`(\w+)`", row) for row in re.findall(r"^\|(.*?)\|", ARGUMENTS_PAGE, re.MULTILINE)]
    assert {name for names in listed for name in names} == set(ARGUMENTS)


def test_the_readme_names_arguments_that_exist():
    table = README.partition("| argument")[2].partition("\n\n")[0]
    named = {name for row in re.findall(r"^\|(.*?)\|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    assert {"url", "strategy", "output"} <= named <= set(ARGUMENTS)


def test_every_strategy_of_the_readme_exists():
    table = README.partition("### Strategies")[2].partition("###")[0]
    named = {name.partition(":")[0] for name in re.findall(r"`([a-z][a-z-]+(?::[a-z=]+)?)`", table)}
    assert named - {"strategy", "lifo", "none"} <= set(names("strategy"))


def test_links_between_documents_lead_somewhere():
    for document in [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *ROOT.glob("examples/*/README.md")]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"


def test_links_from_documents_lead_to_files_that_the_site_can_hold():
    for document in (ROOT / "docs").glob("*.md"):
        for target in re.findall(r"\]\(((?:\.\./)[^)#]+)", document.read_text()):
            assert (document.parent / target).is_file(), (
                f"{document.name} links to {target}: make docs copies files only"
            )


def test_every_document_is_in_the_sites_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text().partition("\nnav:")[2]
    assert [page.name for page in (ROOT / "docs").glob("*.md") if page.name not in navigation] == []


def imported(node: ast.AST) -> Iterator[str]:
    """Modules of the package, those that only type hints name left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.ImportFrom):
            yield from (f"{child.module}.{name.name}" for name in child.names)
        elif isinstance(child, ast.stmt):
            yield from imported(child)


def test_every_room_and_module_at_the_top_stands_once_in_the_architectures_table():
    table = (ROOT / "docs/architecture.md").read_text().partition("## Rooms")[2].partition("### Arrows")[0]
    named = [name for row in re.findall(r"^\| (`.*?) \|", table, re.M) for name in re.findall(r"`([\w.]+/?)`", row)]
    package = ROOT / "sharc_crawler"
    rooms = [f"{path.parent.name}/" for path in package.glob("*/__init__.py")]
    assert sorted(named) == sorted([*rooms, *(path.name for path in package.glob("[a-z]*.py"))])


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_modules_and_names_that_a_page_for_newcomers_tells_are_there(page):
    text = (ROOT / page).read_text()
    paths = [path for room in ("sharc_crawler", "benchmarks", "tests") for path in (ROOT / room).rglob("*.py")]
    modules = {name: [path for path in paths if path.match(name)] for name in CODE.findall(text)}
    assert [name for name, found in modules.items() if not found] == []
    named = [(name, file) for file, name in re.findall(rf"`({MODULE})`, `(\w+)`", text)]
    named += re.findall(rf"`(\w+)`(?: of a \w+)? in `({MODULE})`", text)
    told = {one: "".join(path.read_text() for path in modules[file]) for one, file in named}
    assert [one for one, source in told.items() if not re.search(rf"\b{one}\b", source)] == []


def test_docstrings_refer_to_what_is_there():
    texts = {path.relative_to(ROOT): path.read_text() for path in (ROOT / "sharc_crawler").rglob("*.py")}
    modules = {".".join(path.with_suffix("").parts).removesuffix(".__init__"): text for path, text in texts.items()}
    wrong = []
    for path, text in texts.items():
        plain = REFERENCE.sub("", text)
        for told in REFERENCE.findall(text):
            name = f"sharc_crawler.{told[2:]}" if told.startswith("..") else told
            name = ".".join(path.parent.parts) + name if name.startswith(".") else name
            module = next((name[:at] for at in range(len(name), 0, -1) if name[:at] in modules), "")
            within = name.removeprefix(f"{module}.").partition(".")[0]
            if name != module and not re.search(rf"\b{within}\b", modules.get(module, plain)):
                wrong += [] if hasattr(builtins, within) else [(path.as_posix(), told)]
    assert wrong == []


@pytest.mark.slow
def test_the_arrows_of_the_architecture_are_those_of_the_code():
    text = (ROOT / "docs/architecture.md").read_text()
    table = text.partition("### Arrows")[2].partition("\n## ")[0]
    drawn = {
        room: set(re.findall(r"`(\w+)`", others))
        for room, others in re.findall(r"^\| `(\w+)/` \| (.*) \|$", table, re.M)
    }
    rooms = {path.parent.name for path in (ROOT / "sharc_crawler").glob("*/__init__.py")}
    assert set(drawn) == rooms
    for room in sorted(rooms):
        trees = [ast.parse(path.read_bytes()) for path in (ROOT / "sharc_crawler" / room).rglob("*.py")]
        named = {name.split(".")[1] for tree in trees for name in imported(tree) if name.startswith("sharc_crawler.")}
        assert drawn[room] == (named & rooms) - {room}, room


def test_each_page_of_the_site_links_words_of_the_glossary_once():
    glossary = (ROOT / "docs/glossary.md").read_text()
    known, anchors = dict(docs_glossary.words(glossary)), re.findall(r'id="(\S+)"', docs_glossary.anchored(glossary))
    assert sorted(anchors) == sorted({*known.values()}), "a row, an anchor"
    text = (ROOT / "docs/capturing.md").read_text()
    shown = docs_glossary.linked(text, known)
    uses = re.findall(r"\[([^]]+)\]\(glossary\.md#\S+?\)", shown)
    assert "reference instant" in uses
    assert len({use.lower().removesuffix("s") for use in uses}) == len(uses) > 10
    assert re.sub(r"\[([^]]+)\]\(glossary\.md#\S+?\)", r"\1", shown) == text, "nothing else is altered"


def test_guides_that_notes_and_errors_name_are_there_and_can_be_named_by_an_address(monkeypatch):
    sources = "".join(path.read_text() for path in (ROOT / "sharc_crawler").rglob("*.py"))
    named = set(re.findall(r"guide\('([a-z-]+)'\)", sources))
    assert len(named) > 3
    assert [name for name in named if not (ROOT / guide(name)).is_file()] == []
    monkeypatch.setenv("SHARC_DOCS", "https://docs.archive.example/sharc/")
    assert guide("changes") == "https://docs.archive.example/sharc/changes.html"


def test_scrapys_file_is_read_under_any_locale():
    assert (ROOT / "scrapy.cfg").read_bytes().isascii()
