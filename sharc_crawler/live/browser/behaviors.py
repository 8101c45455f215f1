"""What is done with a page at rest, so that it shows more: scroll it and its parts, click on "more"; bounded.

Each behavior is a script that takes one step, in a world that the page's scripts do not see, and returns whether there
was something to do; with ``act`` false it only returns that.
"""

from __future__ import annotations

import json
from typing import NamedTuple

SCREENS = 30  #: scrolled at most
PARTS = 30  #: screens of parts that scroll by themselves, in all
CLICKS = 20


class Behavior(NamedTuple):
    """A script that makes a page show more."""

    script: str  #: a function of ``act``
    most: int  #: steps at most
    beyond: str  #: what a page that was cut short lacks
    after: str = ""  #: expression to evaluate once the page rests again


#: scrolls by a screen, and waits until it is drawn: only then is it known what is visible
_SCROLL = """async act => {
  const before = scrollY, end = document.scrollingElement.scrollHeight;
  if (!act) return before + innerHeight < end - 1 ? 1 : 0;
  scrollBy({top: innerHeight, behavior: 'instant'});
  if (scrollY <= before) return 0;
  await new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  return 1;
}"""
_PARTS = """async act => {
  for (const part of document.querySelectorAll('body *')) {
    if (part.clientHeight < 100 || part.scrollTop + part.clientHeight >= part.scrollHeight - 1) continue;
    if (!/auto|scroll/.test(getComputedStyle(part).overflowY)) continue;
    if (!act) return 1;
    const before = part.scrollTop;
    part.scrollBy({top: part.clientHeight, behavior: 'instant'});
    if (part.scrollTop <= before) continue;
    await new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    return 1;
  }
  return 0;
}"""
#: the text of a button that extends a list, in the languages of most pages
MORE = (
    r"\b(?:load|show|see|view|display)\s+(?:\S+\s+)?more\b|\bmore\s+(?:results|posts|articles|items|comments|stories)\b"
    r"|\bolder\s+(?:posts|articles|items|entries|stories)\b|^\W*more\W*$|\bmehr\s+\S+|\bweitere\s+\S+"
    r"|\b(?:afficher|voir|charger)\s+plus\b|\b(?:mostrar|ver|cargar)\s+m[aá]s\b|\b(?:mostrar|ver|carregar)\s+mais\b"
    r"|\b(?:mostra|carica)\s+altr|\bmeer\s+(?:laden|tonen)\b|więcej|ещё|もっと|更多"
)
_LONGEST = 40  #: characters of such a text
#: clicks a button again if its last click made the document larger, unlike a menu that opens and closes
_CLICK = """async act => {
  const more = new RegExp(%s, 'iu'), spent = globalThis.sharcSpent ??= new WeakSet(), found = [];
  const look = root => {
    for (const one of root.querySelectorAll('*')) {
      if (one.shadowRoot) look(one.shadowRoot);
      if (one.matches('button, [role=button], input[type=button], a:not([href]), a[href^="#"], a[href^="javascript:"]'))
        found.push(one);
    }
  };
  const size = () => (found.length = 0, look(document), document.getElementsByTagName('*').length + found.length);
  const before = size();
  for (const one of found) {
    const says = (one.innerText || one.value || one.getAttribute('aria-label') || '').trim();
    if (!says || says.length > %d || !more.test(says) || one.disabled || !one.getClientRects().length) continue;
    if (one.getAttribute('aria-expanded') === 'true' || one.hasAttribute('aria-haspopup')) continue;
    if (one.form && (one.type || 'submit') === 'submit') continue;
    if (spent.has(one)) continue;
    if (!act) return 1;
    globalThis.sharcClicked = () => { if (size() <= before) spent.add(one) };
    one.scrollIntoView({block: 'center', behavior: 'instant'});
    one.click();
    return 1;
  }
  return 0;
}""" % (json.dumps(MORE), _LONGEST)  # noqa: UP031 - braces are the script's

#: by their names in ``behaviors=``, in the order in which they are tried
BEHAVIORS = {
    "scroll": (
        Behavior(_SCROLL, SCREENS, f"what lies beyond its first {SCREENS} screens"),
        Behavior(_PARTS, PARTS, f"what lies beyond {PARTS} screens of parts that scroll"),
    ),
    "more": (Behavior(_CLICK, CLICKS, f'what comes after {CLICKS} clicks on "more"', "sharcClicked()"),),
}


def behaviors_of(names: tuple[str, ...]) -> list[Behavior]:
    """The behaviors of these names, in the order in which they are tried.

    >>> len(behaviors_of(("more", "scroll"))), len(behaviors_of(()))
    (3, 0)
    """
    return [behavior for name, some in BEHAVIORS.items() if name in names for behavior in some]
