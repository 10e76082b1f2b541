"""A real headless browser, which must not say a word and not fetch a thing."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1300,1000"
)
OURS = ("file:", "data:")
READ_BACK = "willReadFrequently"  # a hint to the tests, which read what is painted


class Page:
    """A page in the browser, and what the browser said of it."""

    def __init__(self, driver: Any, shots: Path | None) -> None:
        self.driver, self.shots = driver, shots

    def open(self, path: Path) -> None:
        self.driver.get("about:blank")
        self.said(), self.fetched()
        self.driver.get(path.as_uri())
        self.until("document.documentElement.dataset.ready === 'true'")

    def run(self, script: str, *words: object) -> Any:
        return self.driver.execute_script(script, *words)

    def until(self, condition: str) -> None:
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.driver, 60).until(lambda d: d.execute_script(f"return {condition}"))

    def all(self, css: str) -> list[Any]:
        return [found for found in self.driver.find_elements("css selector", css) if found.is_displayed()]

    def first(self, css: str) -> Any:
        return self.all(css)[0]

    def text(self, css: str) -> str:
        return str(self.first(css).text)

    def unfold(self, css: str) -> None:
        """Open a fold and wait for its rows: a browser tells a page of the fold a little later."""
        self.first(f"{css} summary").click()
        self.until(f"document.querySelector('{css} tbody tr') !== null")

    def keys(self, css: str, *keys: str) -> None:
        self.first(css).send_keys(*keys)

    def seen(self, element: Any) -> Any:
        """An element in the middle of the window, so that the mouse can reach it."""
        self.run("arguments[0].scrollIntoView({block: 'center'})", element)
        return element

    def size(self, width: int, height: int = 1000) -> None:
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        )

    def prefers(self, scheme: str) -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def said(self) -> list[str]:
        """What the console has said since the last time."""
        entries = [entry for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
        return [entry["message"] for entry in entries if READ_BACK not in entry["message"]]

    def fetched(self) -> list[str]:
        """What has been asked for since the last time, but for the page itself."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
        return [url for url in asked if not url.startswith((*OURS, "chrome"))]

    def shot(self, name: str) -> None:
        """Keep a picture where OPTSCHED_SHOTS says."""
        if self.shots is not None:
            self.shots.mkdir(parents=True, exist_ok=True)
            self.driver.save_screenshot(str(self.shots / f"{name}.png"))


@pytest.fixture(scope="session")
def driver() -> Iterator[Any]:
    webdriver = pytest.importorskip("selenium.webdriver", reason="the browser tests need selenium")
    pytest.importorskip("plotly", reason="a page needs plotly")
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("the browser tests need chromium and chromedriver")
    from selenium.webdriver.chrome.service import Service

    with tempfile.TemporaryDirectory(prefix="optsched-browser-") as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for flag in [*FLAGS.split(), f"--user-data-dir={profile}"]:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        made = webdriver.Chrome(options=options, service=Service(DRIVER))
        made.set_page_load_timeout(120)
        yield made
        made.quit()


@pytest.fixture
def page(driver: Any) -> Iterator[Page]:
    """The page of a test; at its end nothing has been said, and nothing fetched."""
    shots = os.environ.get("OPTSCHED_SHOTS")
    made = Page(driver, Path(shots) if shots else None)
    made.size(1300)
    made.prefers("light")
    yield made
    assert made.said() == []
    assert made.fetched() == []
    driver.execute_script("localStorage.clear()")


Written = Callable[..., Path]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """Writes a page of results on instances and gives its path."""
    from optsched.analysis.page import page as made

    def write(results: list[Any], instances: list[Any], names: list[str] | None = None) -> Path:
        path = tmp_path / "report.html"
        path.write_text(made(results, instances, names), encoding="utf-8", errors="replace")
        return path

    return write
