"""A capture with its certificate, as it was made, and a copy that may be altered."""

from __future__ import annotations

import shutil

import pytest

from sharc_crawler.report.packaging import package
from sharc_crawler.report.write import write
from tests.certificate.made import certified


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certified")
    certified(folder)
    return folder


@pytest.fixture(scope="module")
def packaged(tmp_path_factory):
    """A folder with report and certificate, and its package."""
    folder = tmp_path_factory.mktemp("certified")
    facts = certified(folder)
    write([facts], folder)
    return folder, package(folder, [facts])


@pytest.fixture
def capture(original, tmp_path):
    """A copy that may be altered."""
    return shutil.copytree(original, tmp_path / "capture")
