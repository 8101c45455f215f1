"""A site that was never captured begins with rates told by a model of other sites."""

from __future__ import annotations

import numpy as np

from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.rates.estimators.base import Estimates
from sharc_crawler.rates.predictor.examples import Examples
from sharc_crawler.rates.predictor.features import PageTraits
from sharc_crawler.rates.predictor.model import Predictor


def test_a_crawl_goes_by_a_model(run_crawl, tmp_path):
    pages = [PageTraits(f"http://h/{'news' if page % 2 else 'about'}/{page}") for page in range(40)]
    rates = np.tile([1e-6, 1e-3], 20)
    found = Estimates(rates, rates / 2, np.full(40, 4.0), np.full(40, 9))
    model = tmp_path / "model.json"
    Predictor.train(Examples(pages, rates, found), {"online": "tree", "offline": "bayes"}, {}).save(model)
    with serve(LivingSite(seed=6, pages=20, scale=1.0, slow=0.05)) as server:
        options = {"url": server.url, "delay": "0", "output": str(tmp_path / "out")}
        done = run_crawl(tmp_path, **options, sitemap="off", rates=f"captures,sitemap,predictor:model={model}")
        assert done.code == 0, done.err
        captured = [page for page in done.capture["pages"] if page["kind"] == "page" and page["verdict"]]
        assert captured
        sources = {page["rate_source"] for page in captured}
        assert {"predictor"} <= sources <= {"predictor", "last-modified"}  # as the visits told
        predicted = [page["rate"] for page in captured if page["rate_source"] == "predictor"]
    assert all(1e-7 < rate < 1e-2 for rate in predicted)


def test_a_model_that_is_not_there_stops_the_crawl_before_the_first_request(run_crawl, tmp_path):
    output = tmp_path / "out"
    done = run_crawl(tmp_path, url="http://127.0.0.1:9/", output=str(output), rates="predictor:model=no.json")
    assert done.code == 2
    assert "model='no.json' cannot be read" in done.err
    assert not output.exists()
