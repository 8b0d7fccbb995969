"""One browser for each module of tests, and the explorer with the trained models of the package."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from glassformer.explorer.serve import start
from in_browser import CHROMIUM, FLAGS, quiet_page


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The address of an explorer with the trained models of the package."""
    running = start(browser=False, port=0)
    yield running.url
    running.stop()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    with quiet_page(browser) as opened:
        yield opened
