"""What tests in a real browser share: where Chromium is, how it starts, and waiting without `eval`."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
NEEDED = [  # of every such module: pytestmark = NEEDED
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here; `make test` as root installs it"),
]
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


LOCAL = ("http://127.0.0.1:", "blob:", "data:")


@contextmanager
def quiet_page(browser: Any, width: int = 1280, allowed: tuple[str, ...] = LOCAL, **options: Any) -> Iterator[Any]:
    """A page that says nothing in its console, asks nobody else, and from which nothing sticks out."""
    settings = {"viewport": {"width": width, "height": 900}, "reduced_motion": "reduce", **options}
    context = browser.new_context(**settings)
    page, said, asked = context.new_page(), [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    yield page
    wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    context.close()
    assert said == []
    assert [url for url in asked if not url.startswith(allowed)] == []
    assert wide <= 0


def until(page: Any, holds: Callable[[], bool]) -> None:
    """Waits at most ten seconds. Playwright's own `wait_for_function` may evaluate text, which the policy forbids."""
    for _ in range(100):
        if holds():
            return
        page.wait_for_timeout(100)
    assert holds()
