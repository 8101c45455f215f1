"""What is done with a page that rests, so that it shows more: scrolling it and its parts, clicks on "more"; bounded.

Each is a script that does one thing at a time, in a world that the page's scripts do not see, and says whether there
was anything to do; ``act`` false: it says so only.
"""

from __future__ import annotations

import json
from typing import NamedTuple

SCREENS = 30  #: that are scrolled
PARTS = 30  #: so are screens of parts that scroll by themselves, of all together
CLICKS = 20


class Behavior(NamedTuple):
    """A script that makes a page show more (scrolls, opens, plays)."""

    script: str  #: a function of ``act``
    most: int  #: times
    beyond: str  #: what a page was shown without that was cut
    after: str = ""  #: what is to be worked out once the page rests again


#: a screen further, and what it shows drawn: only then is it known what is in sight
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
#: what a button says that brings more of a list, in the languages of most pages
MORE = (
    r"\b(?:load|show|see|view|display)\s+(?:\S+\s+)?more\b|\bmore\s+(?:results|posts|articles|items|comments|stories)\b"
    r"|\bolder\s+(?:posts|articles|items|entries|stories)\b|^\W*more\W*$|\bmehr\s+\S+|\bweitere\s+\S+"
    r"|\b(?:afficher|voir|charger)\s+plus\b|\b(?:mostrar|ver|cargar)\s+m[aá]s\b|\b(?:mostrar|ver|carregar)\s+mais\b"
    r"|\b(?:mostra|carica)\s+altr|\bmeer\s+(?:laden|tonen)\b|więcej|ещё|もっと|更多"
)
_LONGEST = 40  #: characters that such a button says
#: one is clicked again where its last click made the document larger: a menu that opens and closes does not
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

#: by the names that ``behaviors=`` has for them, in the order in which they are tried
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
    return [one for name, some in BEHAVIORS.items() if name in names for one in some]
