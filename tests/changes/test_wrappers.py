"""Pairs as link wrappers, signed addresses and forms make them: a regression set, made from documented patterns.

Each pattern is one of a large service or a common framework, as its documentation has it; tokens are drawn at random in
its alphabet and length. Pairs of real pages are not among them.
"""

# ruff: noqa: E501 - addresses as they are

from __future__ import annotations

import random
import string

import pytest

from sharc_crawler.changes.fingerprint import fingerprint

HEX, WORD = "0123456789abcdef", string.ascii_letters + string.digits
TARGETS = ("https%3A%2F%2Fexample.org%2Fterms", "https%3A%2F%2Fexample.org%2Fprivacy")
ROUNDS = 5  #: pairs of each pattern

#: address: ``{u}`` is the target, ``{w24}`` 24 letters and digits, ``{x32}`` as many hexadecimal digits, ``{n10}`` a time
LINKS = {
    "facebook": "https://l.facebook.com/l.php?u={u}&h=AT{w60}&s=1",
    "instagram": "https://l.instagram.com/?u={u}&e=AT{w60}",
    "google": "https://www.google.com/url?sa=t&url={u}&ved=2ah{w43}&usg=AOv{w22}",
    "youtube": "https://www.youtube.com/redirect?event=desc&redir_token=QU{w80}&q={u}",
    "vk": "https://vk.com/away.php?to={u}&cc_key={x32}",
    "outlook": "https://eur01.safelinks.protection.outlook.com/?url={u}&data={w64}&sdata={w43}&reserved=0",
    "proofpoint": "https://urldefense.proofpoint.com/v2/url?u={u}&d=DwMF&c={w43}&m={w43}&s={w43}",
    "fbclid": "https://example.org/terms?lang=en&fbclid=IwAR{w57}",
    "amazon s3": "https://b.s3.amazonaws.com/{u}.pdf?X-Amz-Credential={w20}&X-Amz-Date=20261123T{n6}Z&X-Amz-Signature={x64}",
    "google storage": "https://storage.googleapis.com/b/{u}.pdf?X-Goog-Expires=900&X-Goog-Signature={x64}",
    "cloudfront": "https://d1.cloudfront.net/{u}.pdf?Expires={n10}&Signature={w80}&Key-Pair-Id=APKA",
    "jsessionid": "/shop/list;jsessionid={X32}?doc={u}",
    "php session": "/list.php?doc={u}&PHPSESSID={y26}",
    "wordpress nonce": "/wp-login.php?action=logout&to={u}&_wpnonce={x10}",
    "rails": "/delete?doc={u}&authenticity_token={w86}",
    "cache buster": "/pixel?doc={u}&cb={n10}",
}
MARKUP = {
    "django": "<input type=hidden name=csrfmiddlewaretoken value={w64}>",
    "rails": "<meta name=csrf-token content={w86}>",
    "drupal": "<input type=hidden name=form_build_id value=form-{w43}>",
    "asp.net": "<input type=hidden name=__VIEWSTATE value={w120}><input type=hidden name=__EVENTVALIDATION value={w80}>",
    "content security policy": "<script nonce={w22}>var a = 1;</script>",
    "cloudflare": "<script>window.__CF$cv$params={{r:'{x16}',t:'{w20}'}};</script>",
    "new relic": "<script>window.NREUM={{applicationTime:{n3},queueTime:{n2},transactionName:'{w40}'}}</script>",
    "varnish": "<!-- served by cache-{n3} in 0.{n3} s, request {x32} -->",
}


def drawn(rng: random.Random, template: str, **known: str) -> str:
    alphabets = {"w": WORD, "x": HEX, "X": HEX.upper(), "y": "0123456789abcdefghijklmnopqrstuv", "n": string.digits}
    for kind, letters in alphabets.items():
        for length in range(130, 0, -1):
            while (mark := f"{{{kind}{length}}}") in template:
                template = template.replace(mark, "".join(rng.choices(letters, k=length)), 1)
    return template.format(**known)


def same(one: str, other: str) -> bool:
    first, second = (fingerprint(f"<body><p>Words of a page.</p>{part}".encode(), "text/html") for part in (one, other))
    return first == second


@pytest.mark.parametrize("name", LINKS)
def test_a_link_is_its_target(name):
    rng = random.Random(name)
    for _ in range(ROUNDS):
        one, again = (f"<a href='{drawn(rng, LINKS[name], u=TARGETS[0])}'>there</a>" for _ in range(2))
        other = f"<a href='{drawn(rng, LINKS[name], u=TARGETS[1])}'>there</a>"
        assert same(one, again), (one, again)
        if "{u}" in LINKS[name]:
            assert not same(one, other), (one, other)


@pytest.mark.parametrize("name", MARKUP)
def test_what_forms_and_scripts_carry_is_no_content(name):
    rng = random.Random(name)
    for _ in range(ROUNDS):
        one, again = (drawn(rng, MARKUP[name]) for _ in range(2))
        assert same(one, again), (one, again)
        assert not same(f"{one}<p>Costs 3.</p>", f"{again}<p>Costs 4.</p>")
