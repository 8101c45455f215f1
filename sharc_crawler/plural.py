"""Format numbers with nouns and verbs in singular or plural."""

from __future__ import annotations

_ONE = {"are": "is", "were": "was", "have": "has", "do": "does", "these": "this", "their": "its", "they": "it"}


def counted(number: int, noun: str, verb: str = "") -> str:
    """Return a number with its noun and, if given in the plural, its verb.

    >>> counted(1, "page"), counted(1200, "page"), counted(2, "address")
    ('1 page', '1,200 pages', '2 addresses')
    >>> counted(1, "page", "were"), counted(0, "page", "differ"), counted(1, "page", "differ")
    ('1 page was', '0 pages differ', '1 page differs')
    """
    nouns = noun if number == 1 else f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{number:,} {nouns} {agreeing(number, verb)}".rstrip()


def agreeing(number: int, word: str) -> str:
    """Return a verb or pronoun, given in the plural, in the form for a number.

    >>> agreeing(1, "were"), agreeing(0, "were"), agreeing(1, "hold"), agreeing(1, "their")
    ('was', 'were', 'holds', 'its')
    """
    return word if number != 1 or not word else _ONE.get(word, f"{word}s")
