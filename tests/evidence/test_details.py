"""What can be said of single pages once all are known."""

from __future__ import annotations

from dataclasses import replace

from sharc_crawler.evidence.facts import VisitFacts
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import Kind, Result, Slot, Url, Verdict
from tests.evidence.test_figures import T, page
from tests.report.test_notes import facts


def test_a_redirect_to_what_was_captured_is_not_missing():
    new = page(Evidence.BYTES, (Slot.FIRST, T - 20), (Slot.SECOND, T + 30))
    visit = replace(new.visit, result=Result.REDIRECTED)
    old = replace(new, url=Url("http://h.example/old"), verdict=None, visit=visit, revisit=None, reason="redirected")
    here, elsewhere = replace(old, target=new.url), replace(old, target="http://h.example/not-captured")
    assert facts(new, here).details.redirects == {Kind.PAGE: 1}
    assert facts(new, elsewhere).details.redirects == {}


def test_of_two_redirects_the_one_that_leads_nowhere_is_missing():
    new = page(Evidence.BYTES, (Slot.FIRST, T - 20), (Slot.SECOND, T + 30))
    visit = replace(new.visit, result=Result.REDIRECTED)
    away = replace(new, verdict=None, visit=visit, revisit=None, reason="redirected")
    there, *nowhere = (replace(away, url=Url(f"http://h.example/{number}")) for number in range(3))
    made = facts(new, replace(there, target=new.url), *(replace(one, target="http://h.example/x") for one in nowhere))
    assert made.details.missing[Kind.PAGE, "redirected"] == 2


def test_the_commonest_payload_is_shown_by_a_page_as_it_is_archived():
    visit = VisitFacts(Slot.FIRST, Result.OK, T - 20, T - 19, digest="sha1:A")
    one = replace(page(Evidence.BYTES), visit=visit)
    assert facts(one, one).details.alike == one.url
    assert facts(replace(one, archived_as="http://h.example/A"), one).details.alike == "http://h.example/A"


def test_pages_are_complete_by_what_they_embed_and_the_commonest_payload_is_that_of_most():
    def shown(name, digest):
        visit = VisitFacts(Slot.FIRST, Result.OK, T - 20, T - 19, digest=digest)
        return replace(page(Evidence.BYTES), visit=visit, url=Url(f"http://h.example/{name}"))

    made = facts(shown("a", "sha1:A"), shown("b", "sha1:B"), shown("c", "sha1:B"))
    assert made.details.alike == "http://h.example/b"
    image = replace(page(Evidence.BYTES, kind=Kind.RESOURCE), url=Url("http://h.example/i"))
    lost = replace(image, url=Url("http://h.example/l"), verdict=Verdict.CHANGED)
    framing = [
        replace(shown(name, "sha1:A"), embeds=(of.url,)) for name, of in (("a", image), ("b", image), ("c", lost))
    ]
    assert facts(image, lost, *framing).details.complete == {Verdict.COHERENT: 2, Verdict.CHANGED: 1}


def test_the_blur_of_all_pages_is_told_and_of_nothing_else():
    one = page(Evidence.BYTES, (Slot.FIRST, T - 20), (Slot.SECOND, T + 30))
    totals = facts(one, one, replace(one, kind=Kind.RESOURCE)).details.blur.totals()
    assert totals is not None
    assert totals["pages"] == 2
