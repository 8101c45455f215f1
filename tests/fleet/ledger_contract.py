"""Conformance of a :class:`~sharc_crawler.fleet.ledger.FleetLedger`.

Subclass in a test module, say how one is opened, and pytest collects the checks::

    class TestMyLedger(FleetLedgerContract):
        def open(self):
            return MyLedger(...)
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from sharc_crawler.fleet.ledger import Pulse, SiteState, Wish
from tests.fleet.ledger_means import MOMENT, TERM, SharedMeansChecks, site_order, step_of

if TYPE_CHECKING:
    from sharc_crawler.fleet.ledger import FleetLedger, Tenure


class FleetLedgerContract(SharedMeansChecks):
    """What any ledger must do; ``open`` opens one more on the same, new fleet."""

    def test_a_site_is_added_once(self, ledger: FleetLedger) -> None:
        """Adding again is no error."""
        assert ledger.add([site_order("a"), site_order("b"), site_order("a")]) == 2
        assert ledger.add([site_order("b", priority=3), site_order("c")]) == 1
        assert [one.priority for one in ledger.sites(["b"])] == [0], "one that is known stays as it is"

    def test_many_sites_are_added(self, ledger: FleetLedger) -> None:
        """A list may be long."""
        assert ledger.add(site_order(f"s{number}") for number in range(2_500)) == 2_500
        assert ledger.status().states == {SiteState.WAITING: 2_500}

    def test_what_is_claimed_is_what_was_ordered(self, ledger: FleetLedger) -> None:
        """The worker is told all that it needs."""
        ledger.add([site_order("a")])
        [tenure] = ledger.claim("w1", 5, TERM)
        assert tenure[:1] == ("a",)
        assert tenure.arguments == {"url": "http://a/", "limit": "10"}
        assert (tenure.round, tenure.epoch, tenure.seq, tenure.wish, tenure.former) == (1, 1, 0, Wish.RUN, None)
        assert abs(tenure.clock - time.time()) < 3600

    def test_a_site_has_one_owner(self, ledger: FleetLedger) -> None:
        """Nobody claims what is held."""
        ledger.add([site_order("a"), site_order("b")])
        assert [one.site for one in ledger.claim("w1", 1, TERM)] == ["a"]
        assert [one.site for one in ledger.claim("w2", 5, TERM)] == ["b"]
        assert ledger.claim("w3", 5, TERM) == []

    def test_claims_come_by_priority_and_when_they_are_due(self, ledger: FleetLedger) -> None:
        """Nothing else orders them."""
        later = time.time() + 3600
        ledger.add([site_order("low", -1), site_order("later", 9, later), site_order("high", 5), site_order("mid")])
        assert [one.site for one in ledger.claim("w1", 2, TERM)] in (["high", "mid"], ["mid", "high"])
        assert [one.site for one in ledger.claim("w1", 5, TERM)] == ["low"]

    def test_claims_at_once_share_nothing(self, ledger: FleetLedger) -> None:
        """Placement is this."""
        ledger.add(site_order(f"s{number}") for number in range(40))
        others = [self.open() for _ in range(4)]

        def claims(number: int) -> list[str]:
            return [one.site for _ in range(10) for one in others[number].claim(f"w{number}", 1, TERM)]

        with ThreadPoolExecutor(4) as pool:
            claimed = [site for sites in pool.map(claims, range(4)) for site in sites]
        for other in others:
            other.close()
        assert len(claimed) == len(set(claimed)) == 40

    def test_steps_are_read_back_in_order(self, ledger: FleetLedger) -> None:
        """Byte for byte."""
        ledger.add([site_order("a"), site_order("b")])
        held = {one.site: one for one in ledger.claim("w", 2, TERM)}
        bodies = [bytes([number, 0, 255]) * 9 for number in range(1, 4)]
        for seq, body in enumerate(bodies, 1):
            steps = [step_of(held[site], seq, body + site.encode()) for site in ("b", "a")]
            assert ledger.step(steps, TERM) == {"a", "b"}
        assert list(ledger.journal("a", 3)) == [body + b"a" for body in bodies]
        assert list(ledger.journal("b", 2)) == [body + b"b" for body in bodies[:2]]
        assert ledger.step([], TERM) == frozenset()

    def test_a_long_journal_is_read_whole(self, ledger: FleetLedger) -> None:
        """However it is read, piece by piece."""
        ledger.add([site_order("a")])
        [held] = ledger.claim("w", 1, TERM)
        for seq in range(1, 451):
            ledger.step([step_of(held, seq, str(seq).encode())], TERM)
        assert [int(body) for body in ledger.journal("a", 450)] == list(range(1, 451))

    def test_a_step_given_again_is_written_once(self, ledger: FleetLedger) -> None:
        """An answer may be lost."""
        ledger.add([site_order("a"), site_order("b")])
        first, second = ledger.claim("w", 2, TERM)
        assert ledger.step([step_of(first, 1)], TERM) == {first.site}
        again = [step_of(first, 1), step_of(second, 1)]
        assert ledger.step(again, TERM) == {"a", "b"}, "the answer may have been lost"
        assert len(list(ledger.journal(first.site, 9))) == 1

    def test_a_step_out_of_turn_is_refused(self, ledger: FleetLedger) -> None:
        """A journal has no gaps."""
        ledger.add([site_order("a")])
        [held] = ledger.claim("w", 1, TERM)
        assert ledger.step([step_of(held, 2)], TERM) == frozenset()
        assert list(ledger.journal("a", 9)) == []

    def test_an_old_owner_writes_nothing(self, ledger: FleetLedger) -> None:
        """The epoch is the fence."""
        ledger.add([site_order("a"), site_order("b")])
        old = {one.site: one for one in ledger.claim("w1", 2, TERM)}
        ledger.step([step_of(old["a"], 1)], MOMENT)
        time.sleep(5 * MOMENT)
        assert ledger.claim("w2", 2, TERM, silent=False) == []
        [new] = ledger.claim("w2", 2, TERM)
        assert (new.site, new.epoch, new.seq, new.former) == ("a", old["a"].epoch + 1, 1, "w1")
        assert ledger.step([step_of(old["a"], 2), step_of(old["b"], 1)], TERM) == {"b"}
        assert ledger.renew(Pulse("w1", {"a": old["a"].epoch, "b": old["b"].epoch}, 9), TERM).wishes == {"b": Wish.RUN}
        assert not ledger.release("a", old["a"].epoch)
        assert not ledger.merge("a", old["a"].epoch, 0, 1, b"x")
        assert not ledger.forget_journal("a", old["a"].epoch)
        assert ledger.step([step_of(new, 2)], TERM) == {"a"}
        assert ledger.status().takeovers == 1

    def test_a_step_renews(self, ledger: FleetLedger) -> None:
        """Who writes is alive."""
        ledger.add([site_order("a")])
        [held] = ledger.claim("w1", 1, MOMENT)
        ledger.step([step_of(held, 1)], TERM)
        assert ledger.claim("w2", 1, TERM) == []

    def test_a_term_that_is_renewed_does_not_run_out(self, ledger: FleetLedger) -> None:
        """Who has nothing to write says so."""
        ledger.add([site_order("a")])
        [held] = ledger.claim("w1", 1, MOMENT)
        assert ledger.renew(Pulse("w1", {"a": held.epoch}, 9), TERM).wishes == {"a": Wish.RUN}
        assert ledger.claim("w2", 1, TERM) == []

    def test_a_site_handed_over_goes_on_elsewhere(self, ledger: FleetLedger) -> None:
        """That is no takeover."""
        ledger.add([site_order("a")])
        [held] = ledger.claim("w1", 1, TERM)
        ledger.step([step_of(held, 1, b"one")], TERM)
        assert ledger.release("a", held.epoch)
        assert not ledger.release("a", held.epoch), "it holds it no longer"
        assert ledger.renew(Pulse("w1", {"a": held.epoch}, 9), TERM).wishes == {}
        [other] = ledger.claim("w2", 1, TERM)
        assert (other.seq, other.former) == (1, None)
        assert ledger.status().takeovers == 0
        assert list(ledger.journal("a", other.seq)) == [b"one"]

    def test_owners_that_end_as_they_begin_with_a_site_are_counted(self, ledger: FleetLedger) -> None:
        """The site may have ended them; a worker is given one such at a time, so that others are not blamed for it."""
        ledger.add([site_order("a"), site_order("b")])
        counted = [sorted(one.silent for one in self._claimed(ledger, f"w{number}")) for number in range(3)]
        assert counted == [[0, 0], [1, 1], [2]], "the third one is given one"
        [third] = self._claimed(ledger, "w3", silent=False)
        assert third.silent in (2, 3)
        assert ledger.claim("w3", 5, TERM) == [], "while it has done no more than begin with that one"
        for seq in (1, 2):
            ledger.step([step_of(third, seq)], TERM)
        [fourth] = self._claimed(ledger, "w3")
        assert {third.site, fourth.site} == {"a", "b"}
        ledger.renew(Pulse("w3", {third.site: third.epoch}, 9), MOMENT)
        time.sleep(5 * MOMENT)
        again = {one.site: one.silent for one in ledger.claim("w4", 5, TERM)}
        assert again[third.site] == 0, "its last owner made a step"

    def test_owners_that_are_heard_of_again_did_not_end(self, ledger: FleetLedger) -> None:
        """The ledger was away from them, and their terms ran out."""
        ledger.add([site_order("a")])
        [first], [second] = (self._claimed(ledger, worker) for worker in ("w1", "w2"))
        assert (first.silent, second.silent) == (0, 1)
        assert not ledger.renew(Pulse("w1", {"a": first.epoch}, 9), TERM).wishes
        [third] = self._claimed(ledger, "w3")
        assert third.silent == 1, "the second one, after the first"
        [fourth] = self._claimed(ledger, "w4")
        assert fourth.silent == 2
        assert not ledger.step([step_of(third, 1)], TERM)
        assert not ledger.step([step_of(second, 1)], TERM), "said twice, and later, it is the same"
        [fifth] = ledger.claim("w5", 1, TERM)
        assert fifth.silent == 1, "the fourth one"

    @staticmethod
    def _claimed(ledger: FleetLedger, worker: str, *, silent: bool = True) -> list[Tenure]:
        """By an owner that is ``silent`` from then on."""
        claimed = ledger.claim(worker, 5, TERM)
        if silent:
            ledger.renew(Pulse(worker, {one.site: one.epoch for one in claimed}, 9), MOMENT)
            time.sleep(5 * MOMENT)
        return claimed

    def test_who_gives_a_site_back_is_not_silent_and_may_let_it_rest(self, ledger: FleetLedger) -> None:
        """Nobody claims it meanwhile, and people see why."""
        ledger.add([site_order("a")])
        self._claimed(ledger, "w1")
        [held] = ledger.claim("w1", 1, TERM)
        assert ledger.release("a", held.epoch, SiteState.WAITING, "a full disk", TERM)
        assert ledger.claim("w2", 1, TERM) == []
        [one] = ledger.sites()
        assert (one.state, one.reason, one.owner) == (SiteState.WAITING, "a full disk", None)
        assert 0 < one.due - ledger.clock() <= TERM
        ledger.drop(["a"])
        ledger.add([site_order("a")])
        self._claimed(ledger, "w1")
        [held] = ledger.claim("w1", 1, TERM)
        assert held.silent == 1
        ledger.release("a", held.epoch, SiteState.WAITING, "a full disk", MOMENT)
        time.sleep(5 * MOMENT)
        [again] = ledger.claim("w2", 1, TERM)
        assert again.silent == 0
        assert ledger.sites()[0].reason == ""

    def test_what_has_ended_is_not_claimed(self, ledger: FleetLedger) -> None:
        """It stays as it ended."""
        ledger.add([site_order("a"), site_order("b")])
        for held in ledger.claim("w1", 2, TERM):
            assert ledger.release(
                held.site, held.epoch, SiteState.FAILED if held.site == "a" else SiteState.DONE, "why"
            )
        assert ledger.claim("w1", 2, TERM) == []
        assert {one.site: (one.state, one.reason) for one in ledger.sites()} == {
            "a": (SiteState.FAILED, "why"),
            "b": (SiteState.DONE, "why"),
        }

    def test_merged_rows_read_as_one(self, ledger: FleetLedger) -> None:
        """Steps go on behind them."""
        ledger.add([site_order("a")])
        [held] = ledger.claim("w", 1, TERM)
        for seq in range(1, 6):
            ledger.step([step_of(held, seq, str(seq).encode())], TERM)
        assert ledger.merged("a") == 0
        assert ledger.merge("a", held.epoch, 0, 3, b"123")
        assert ledger.merged("a") == 3
        assert list(ledger.journal("a", 5)) == [b"123", b"4", b"5"]
        assert list(ledger.journal("a", 5, 3)) == [b"4", b"5"]
        assert ledger.step([step_of(held, 6)], TERM) == {"a"}
        assert ledger.merge("a", held.epoch, 3, 5, b"45")
        assert ledger.merged("a") == 5
        assert list(ledger.journal("a", 6)) == [b"123", b"45", b"body"]
        assert ledger.forget_journal("a", held.epoch)
        assert list(ledger.journal("a", 6)) == []

    def test_what_captures_taught_outlives_them(self, ledger: FleetLedger) -> None:
        """Whoever held the site, and no longer does, adds nothing."""
        ledger.add([site_order("a")])
        [old] = ledger.claim("w", 1, MOMENT)
        time.sleep(5 * MOMENT)
        [new] = ledger.claim("w2", 1, TERM)
        assert not ledger.remember("a", old.epoch, b"late")
        assert all(ledger.remember("a", new.epoch, body) for body in (b"once", b"twice"))
        ledger.release("a", new.epoch, SiteState.DONE)
        ledger.requeue(["a"])
        [again] = ledger.claim("w", 1, TERM)
        assert ledger.remember("a", again.epoch, b"\x00more")
        ledger.drop(["a"])
        assert ledger.history("a") == [b"once", b"\x00more"]
        assert ledger.history("b") == []

    def test_masks_that_captures_learned_hold_until_others_do(self, ledger: FleetLedger) -> None:
        """A capture that learns none changes nothing; nor does whoever no longer holds the site."""
        ledger.add([site_order("a")])
        assert ledger.masks("a") == ""
        for number, masks in enumerate(('{"masks": [1]}', "", '{"masks": [1, "\u00e9"]}')):
            [held] = ledger.claim("w", 1, TERM)
            assert ledger.remember("a", held.epoch, b"body", masks)
            assert not ledger.remember("a", held.epoch - 1, b"body", "late")
            assert ledger.masks("a") == ('{"masks": [1]}' if number < 2 else '{"masks": [1, "\u00e9"]}')
            ledger.release("a", held.epoch, SiteState.DONE)
            ledger.requeue(["a"])
        ledger.drop(["a"])
        assert ledger.masks("a") == '{"masks": [1, "\u00e9"]}'
        assert ledger.masks("b") == ""

    def test_what_a_hosts_robots_txt_said_last_is_known_for_a_while(self, ledger: FleetLedger) -> None:
        """By whoever asks."""
        for text in ("once", "User-agent: *\nDisallow: /\u00e9\n"):
            ledger.keep_robots("a", text)
        read, text = ledger.robots("a", TERM) or (0.0, "")
        assert abs(read - ledger.clock()) < TERM
        assert text == "User-agent: *\nDisallow: /\u00e9\n"
        time.sleep(MOMENT)
        assert ledger.robots("a", MOMENT / 2) is None
        assert ledger.robots("b", TERM) is None

    def test_a_paused_site_is_nobodys_until_it_is_resumed(self, ledger: FleetLedger) -> None:
        """Its owner is told."""
        ledger.add([site_order("a"), site_order("b")])
        held = {one.site: one for one in ledger.claim("w", 1, TERM)}
        assert ledger.wish(Wish.PAUSE, None) == 2
        assert ledger.claim("w", 5, TERM) == []
        answer = ledger.renew(Pulse("w", {site: one.epoch for site, one in held.items()}, 9), TERM)
        assert answer.wishes == dict.fromkeys(held, Wish.PAUSE)
        assert ledger.status().states == {SiteState.PAUSED: 2}
        for site, one in held.items():
            ledger.release(site, one.epoch)
        assert ledger.wish(Wish.RUN, ["a"]) == 1
        assert ledger.wish(Wish.PAUSE, None) == 1, "the other is paused already"
        assert ledger.wish(Wish.RUN, ["a"]) == 1
        assert [one.site for one in ledger.claim("w", 5, TERM)] == ["a"]

    def test_a_site_that_is_to_stop_is_ended_by_whoever_has_it(self, ledger: FleetLedger) -> None:
        """What was captured gets its report."""
        ledger.add([site_order("new"), site_order("begun", 1)])
        [held] = ledger.claim("w", 1, TERM)
        ledger.step([step_of(held, 1)], TERM)
        ledger.release("begun", held.epoch)
        assert ledger.wish(Wish.STOP, ["new", "begun", "unknown"]) == 2
        assert ledger.status().states == {SiteState.STOPPED: 1, SiteState.WAITING: 1}, "nothing was done of one"
        assert [(one.site, one.wish) for one in ledger.claim("w", 5, TERM)] == [("begun", Wish.STOP)]

    def test_of_a_site_that_was_not_begun_the_capture_may_be_a_further_round(self, ledger: FleetLedger) -> None:
        """Whoever has it next is told so."""
        ledger.add([site_order("a")])
        [held] = ledger.claim("w", 1, TERM)
        assert not ledger.further("a", held.epoch - 1)
        assert ledger.further("a", held.epoch)
        ledger.release("a", held.epoch)
        [again] = ledger.claim("w", 1, TERM)
        assert (again.round, again.seq) == (2, 0)
        ledger.step([step_of(again, 1)], TERM)
        assert not ledger.further("a", again.epoch), "it is begun"

    def test_what_was_done_is_captured_again_what_failed_goes_on(self, ledger: FleetLedger) -> None:
        """Former owners write no more."""
        ledger.add([site_order("done"), site_order("failed"), site_order("waits", -1)])
        for held in ledger.claim("w", 2, TERM):
            ledger.step([step_of(held, 1, pages=7)], TERM)
            ledger.release(held.site, held.epoch, SiteState(held.site))
        assert ledger.requeue(None) == 1
        assert ledger.requeue(["done", "waits", "unknown"]) == 1
        again = {one.site: one for one in ledger.claim("w", 2, TERM)}
        assert (again["done"].round, again["done"].seq, list(ledger.journal("done", 9))) == (2, 0, [])
        assert (again["failed"].round, again["failed"].seq, again["failed"].wish) == (1, 1, Wish.RUN)
        assert all(one.epoch > 1 for one in again.values())

    def test_what_failed_at_its_end_is_captured_again(self, ledger: FleetLedger) -> None:
        """Its journal lies with its capture: there is nothing to go on with."""
        ledger.add([site_order("a"), site_order("never-begun"), site_order("0", priority=-1)])
        for held in ledger.claim("w", 2, TERM):
            if held.site == "a":
                ledger.step([step_of(held, 1, pages=7)], TERM)
                assert ledger.forget_journal("a", held.epoch)
            ledger.release(held.site, held.epoch, SiteState.FAILED, "no page was captured")
        assert [one.site for one in ledger.sites()] == ["a", "never-begun", "0"], "what failed is listed before"
        assert ledger.requeue(None) == 2
        again = {one.site: one for one in ledger.claim("w", 2, TERM)}
        assert (again["a"].round, again["a"].seq, again["never-begun"].round) == (2, 0, 1)
        assert [one.pages for one in ledger.sites(["a"])] == [0]

    def test_a_dropped_site_is_nobodys_and_its_epochs_do_not_come_again(self, ledger: FleetLedger) -> None:
        """Not even if it is added anew."""
        ledger.add([site_order("a")])
        [old] = ledger.claim("w", 1, TERM)
        ledger.step([step_of(old, 1)], TERM)
        assert ledger.drop(["a", "unknown"]) == 1
        assert ledger.step([step_of(old, 2)], TERM) == frozenset()
        ledger.add([site_order("a")])
        [new] = ledger.claim("w", 1, TERM)
        assert new.epoch > old.epoch
        assert list(ledger.journal("a", 9)) == []
        assert ledger.step([step_of(old, 1)], TERM) == frozenset()

    def test_workers_are_known_until_they_leave(self, ledger: FleetLedger) -> None:
        """With what they say of themselves."""
        assert not ledger.drain("w")
        assert not ledger.renew(Pulse("w", {}, 5, superseded=2, skew=1.5), TERM).draining
        assert ledger.drain("w")
        assert ledger.renew(Pulse("w", {}, 5, superseded=3, skew=1.5), TERM).draining
        [known] = ledger.status().workers
        assert (known.worker, known.held, known.room, known.draining) == ("w", 0, 5, True)
        assert (known.superseded, known.skew, ledger.status().superseded) == (3, 1.5, 3)
        ledger.leave("w")
        assert ledger.status().workers == ()

    def test_a_worker_whose_term_is_over_holds_no_site(self, ledger: FleetLedger) -> None:
        """Killed, it cannot say so itself."""
        ledger.add([site_order("a")])
        [tenure] = ledger.claim("w", 1, TERM)
        ledger.renew(Pulse("w", {"a": tenure.epoch}, 5), TERM)
        assert [one.held for one in ledger.status().workers] == [1]
        ledger.renew(Pulse("w", {"a": tenure.epoch}, 5), MOMENT)
        time.sleep(5 * MOMENT)
        assert [one.held for one in ledger.status().workers] == [0]

    def test_a_worker_that_comes_gets_its_share(self, ledger: FleetLedger) -> None:
        """Where nothing else is there for it."""
        ledger.add(site_order(f"s{number}") for number in range(10))
        held = {one.site: one.epoch for one in ledger.claim("old", 10, TERM)}
        assert ledger.renew(Pulse("old", held, 20), TERM).surplus == 0
        ledger.renew(Pulse("new", {}, 20), TERM)
        assert ledger.renew(Pulse("old", held, 20), TERM).surplus == 5
        ledger.add([site_order("more")])
        assert ledger.renew(Pulse("old", held, 20), TERM).surplus == 0, "there is something for the new one"

    def test_status_adds_up(self, ledger: FleetLedger) -> None:
        """In sums, and site by site."""
        ledger.add([site_order("a"), site_order("b", 1)])
        [held] = ledger.claim("w", 1, TERM)
        ledger.step([step_of(held, 1, pages=5, visits=3, size=700)], TERM)
        status = ledger.status()
        assert status.states == {SiteState.WAITING: 1, SiteState.HELD: 1}
        assert (status.pages, status.visits, status.size) == (5, 3, 700)
        assert status.oldest is not None
        assert 0 <= status.oldest < TERM
        first, second = ledger.sites()
        assert (first.site, first.owner, first.seq, first.pages) == ("b", "w", 1, 5)
        assert first.left is not None
        assert 0 < first.left <= TERM
        assert (second.site, second.owner, second.left) == ("a", None, None)
        assert [one.site for one in ledger.sites(most=1)] == ["b"]

    def test_another_process_sees_what_was_done(self, ledger: FleetLedger) -> None:
        """Nothing is kept in a connection."""
        ledger.add([site_order("a")])
        other = self.open()
        [held] = other.claim("w", 1, TERM)
        other.close()
        assert ledger.step([step_of(held, 1)], TERM) == {"a"}, "a tenure is the epoch, not the connection"
