"""The pictures of the explorer at the top of README and docs, taken anew by `make pictures`."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import sync_playwright

from glassformer.explorer.serve import start
from in_browser import CHROMIUM, FLAGS

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
SHOWN = "model=ko-en&text=나는+어제+학교에서+영어를+배웠다&view=heads&at=decoder.2.cross_attention"


def main() -> None:
    running = start(browser=False, port=0)
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        for lang in ("en", "ko"):
            size = {"width": 1280, "height": 1240}
            page = browser.new_page(viewport=size, color_scheme="light", reduced_motion="reduce")
            page.goto(f"{running.url}#{SHOWN}&lang={lang}")
            page.wait_for_selector("html[data-ready=yes]")
            page.wait_for_selector(".arcs")
            page.wait_for_load_state("networkidle")
            page.screenshot(path=FOLDER / f"explorer.{lang}.png")
            page.close()
        browser.close()
    running.stop()


if __name__ == "__main__":
    main()
