"""| A fleet's metrics for Prometheus, from its ledger: one server for all workers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, generate_latest, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from sharc_crawler.errors import StoreUnavailable, UsageError
from sharc_crawler.fleet.ledger import FleetLedger, FleetStatus, SiteState, WorkerStatus

if TYPE_CHECKING:
    from wsgiref.simple_server import WSGIServer

    from prometheus_client.metrics_core import Metric


#: of a worker: name, help, what of it
_OF_WORKERS = (
    ("held", "Sites that it holds.", lambda one: one.held),
    ("room", "Sites that it would hold at most.", lambda one: one.room),
    ("silent_seconds", "Since it was heard of.", lambda one: one.seen),
    ("clock_skew_seconds", "Its clock less the ledger's.", lambda one: one.skew),
    ("draining", "1: it hands over what it holds.", lambda one: float(one.draining)),
)


class FleetMetrics:
    """A collector that asks the ledger once per scrape."""

    def __init__(self, ledger: FleetLedger) -> None:
        self._ledger = ledger

    def describe(self) -> list[Metric]:
        """Nothing, so that the ledger is not asked before the first scrape."""
        return []

    def collect(self) -> Iterator[Metric]:
        """The metrics; only ``up`` where the ledger does not answer."""
        try:
            status = self._ledger.status()
        except StoreUnavailable:
            status = None
        yield GaugeMetricFamily("sharc_fleet_up", "1: the ledger answers.", float(status is not None))
        if status is not None:
            yield from _sums(status)
            yield from _workers(status.workers)


def _sums(status: FleetStatus) -> Iterator[Metric]:
    states = GaugeMetricFamily("sharc_fleet_sites", "Sites by state.", labels=["state"])
    for state in SiteState:
        states.add_metric([state.value], status.states.get(state, 0))
    yield states
    bounds = GaugeMetricFamily("sharc_fleet_budget_bound", "Of all workers; of until: an instant.", labels=["what"])
    drawn = GaugeMetricFamily("sharc_fleet_budget_drawn", "What workers have drawn of it.", labels=["what"])
    for bound in status.budget:
        bounds.add_metric([bound.what], bound.bound)
        drawn.add_metric([bound.what], bound.spent)
    yield bounds
    yield drawn
    # gauges, as the numbers fall when sites are dropped or captured again
    yield GaugeMetricFamily("sharc_fleet_pages", "Pages known, of all sites.", status.pages)
    yield GaugeMetricFamily("sharc_fleet_visits", "Visits made, revisits included, of all sites.", status.visits)
    yield GaugeMetricFamily("sharc_fleet_received_bytes", "Bytes received, of all sites.", status.size)
    yield CounterMetricFamily(
        "sharc_fleet_takeovers", "Sites taken over from an owner that was silent.", status.takeovers
    )
    yield CounterMetricFamily(
        "sharc_fleet_superseded_steps", "Steps refused: the site was another's.", status.superseded
    )
    yield GaugeMetricFamily(
        "sharc_fleet_oldest_step_seconds", "Since the last step of the site that waits longest.", status.oldest or 0.0
    )


def _workers(workers: tuple[WorkerStatus, ...]) -> Iterator[Metric]:
    for name, what, value in _OF_WORKERS:
        family = GaugeMetricFamily(f"sharc_fleet_worker_{name}", what, labels=["worker"])
        for worker in workers:
            family.add_metric([worker.worker], value(worker))
        yield family


def text(ledger: FleetLedger) -> str:
    """The metrics in Prometheus's text format."""
    return generate_latest(_registry(ledger)).decode()


def serve(ledger: FleetLedger, host: str, port: int) -> WSGIServer:
    """Serve ``/metrics`` in a thread, until the server is shut down; raises UsageError for a port that is taken."""
    try:
        server, _ = start_http_server(port, host, _registry(ledger))
    except OSError as error:
        raise UsageError(f"--listen={host}:{port} cannot be listened on: {error}; choose another port") from error
    return server


def _registry(ledger: FleetLedger) -> CollectorRegistry:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(FleetMetrics(ledger))
    return registry
