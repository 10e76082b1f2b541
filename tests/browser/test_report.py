"""The page of `optsched report` as a reader uses it: mouse, keyboard, themes, narrow windows, ten thousand jobs."""

from __future__ import annotations

from typing import Any

import pytest

import optsched
from optsched import deferrable
from optsched.instances.base import Instance
from tests.browser.conftest import Page, Written

pytestmark = pytest.mark.browser

HOSTILE = "</script><b>bold</b><img src=x onerror=window.pwned=1>"
WIDE = "document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth"


def evening() -> tuple[Instance, Any]:
    """Two jobs over four hours: `short` in the first, the hostile one in the other three."""
    m = deferrable.Model("an evening", slot_s=3600, capacity=[4, 4, 2, 2], delay_penalty=0.1, overload_penalty=5)
    m.add_job(cores=2, duration=3, earliest=0, latest=1, id=HOSTILE)
    m.add_job(cores=4, duration=1, earliest=0, latest=2, id="short")
    return m.instance(), optsched.solve(m.instance(), time_limit=20)


def point(page: Page, plot: int, across: float, down: float) -> None:
    """The mouse onto a place of a panel's axes, in shares of it."""
    from selenium.webdriver.common.action_chains import ActionChains

    drag = page.seen(page.all(".figure .plot .nsewdrag")[plot])
    size = drag.size
    at = (round((across - 0.5) * size["width"]), round((down - 0.5) * size["height"]))
    ActionChains(page.driver, duration=30).move_to_element_with_offset(drag, *at).perform()


def drag(page: Page, plot: int, across: tuple[float, float]) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    area = page.seen(page.all(".figure .plot .nsewdrag")[plot])
    width = area.size["width"]
    begin, end = (round((share - 0.5) * width) for share in across)
    chain = ActionChains(page.driver, duration=60).move_to_element_with_offset(area, begin, 0).click_and_hold()
    chain.move_by_offset((end - begin) // 2, 0).move_by_offset(end - begin - (end - begin) // 2, 0).release().perform()


def ranges(page: Page) -> list[list[float]]:
    found = page.run("return [...document.querySelectorAll('.figure')][0].querySelectorAll('.plot')")
    return [page.run("return arguments[0].layout.xaxis.range.map(Number)", plot) for plot in found]


def painted(page: Page) -> int:
    """How many pixels of the first Gantt chart that is seen have colour."""
    script = "const c = arguments[0], d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
    return int(
        page.run(script + "let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n", page.first("canvas"))
    )


@pytest.mark.parametrize("name", ["armida-snapshot", "deferrable-small", "geo-small", "vcc-small", "day-ahead"])
def test_every_family_is_drawn(page: Page, written: Written, examples: Any, name: str) -> None:
    instance = optsched.load(examples / f"{name}.json")
    page.open(written([optsched.solve(instance, "exact", time_limit=60)], [instance]))
    for figure in page.all(".figure"):
        page.seen(figure)
        page.until("[...document.querySelectorAll('.figure')].every((host) => host.querySelector('.main-svg'))")
    assert len(page.all(".figure")) == 2
    for plot in page.all(".figure .plot"):
        assert plot.find_elements("css selector", ".xgrid, .xtick, .xlines-above")
    if name != "day-ahead":
        assert painted(page) > 1000
    page.shot(f"family-{name}")


def test_a_replay_is_drawn_too(page: Page, written: Written, examples: Any) -> None:
    instance = optsched.load(examples / "armida.json")
    runs = [optsched.replay(instance, policy) for policy in ("fifo", "rolling")]
    page.open(written(runs, [instance]))
    assert painted(page) > 1000
    titles = [title.text for title in page.all("h5")]
    assert titles[:3] == ["Jobs on the GPUs of each node", "Load against capacity, GPUs", "Jobs waiting and running, jobs"]
    assert "keeps no trace" in page.text("article")


def test_bars_are_hovered(page: Page, written: Written) -> None:
    instance, result = evening()
    page.open(written([result], [instance]))
    point(page, 0, 0.1, 0.25)  # the first hour, the first of two rows
    assert page.text(".tip b") == "short"
    said = page.text(".tip")
    for words in ("run, 0:00 h to 1:00 h", "cores\n4", "waits\n0 s", "latest start\n2:00 h"):
        assert words in said
    point(page, 0, 0.6, 0.75)
    assert page.text(".tip b") == HOSTILE
    assert "run, 1:00 h to 4:00 h" in page.text(".tip")
    assert "waits\n60 min" in page.text(".tip")
    point(page, 1, 0.6, 0.5)
    assert "load\n2 cores" in page.text(".tip")
    assert "capacity\n2 cores" in page.text(".tip")
    point(page, 1, 0.1, 0.5)
    assert "load\n4 cores" in page.text(".tip")
    page.shot("hover")


def test_what_files_say_stays_text(page: Page, written: Written) -> None:
    instance, result = evening()
    page.open(written([result], [instance], [HOSTILE]))
    assert page.run("return [...document.querySelectorAll('.plot text')].some((t) => t.textContent.includes('</script>'))")
    page.unfold("details.jobs")
    assert HOSTILE in page.text("details.jobs")
    assert page.run("return window.pwned") is None
    assert page.run("return document.querySelectorAll('main b img, main img').length") == 0
    page.run("const s = document.createElement('script'); s.textContent = 'window.pwned = 2'; document.body.append(s)")
    assert page.run("return window.pwned") is None, "the policy lets a foreign script run"
    assert len(page.said()) == 1


def test_zoom_is_one_for_all_panels_and_is_reset(page: Page, written: Written) -> None:
    instance, result = evening()
    page.open(written([result], [instance]))
    whole = ranges(page)
    assert whole == [[0, 4], [0, 4]]
    drag(page, 1, (0.25, 0.75))
    zoomed = ranges(page)
    assert zoomed[0] == zoomed[1] == pytest.approx([1, 3], abs=0.05)
    point(page, 0, 0.5, 0.75)  # what lies under the pointer has moved with it
    assert page.text(".tip b") == HOSTILE
    page.first("button[aria-label='Show everything again']").click()
    assert ranges(page) == whole
    page.first("button[aria-label='Zoom in']").click()
    assert ranges(page) == [[1, 3], [1, 3]]
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(page.driver).double_click(page.seen(page.all(".figure .plot .nsewdrag")[1])).perform()
    assert ranges(page) == whole


def test_keys_do_what_the_mouse_does(page: Page, written: Written) -> None:
    from selenium.webdriver.common.keys import Keys

    instance, result = evening()
    page.open(written([result], [instance]))
    page.keys(".figure", Keys.ARROW_RIGHT)
    assert page.text(".tip b") == "short"
    page.keys(".figure", Keys.ARROW_RIGHT)
    assert page.text(".tip b") == HOSTILE
    page.keys(".figure", "+")  # about the bar that is chosen
    assert ranges(page)[0] == [1.5, 3.5]
    page.keys(".figure", "0")
    assert ranges(page)[0] == [0, 4]
    page.keys(".figure", Keys.ESCAPE)
    assert page.all(".tip") == []


def test_a_legend_hides_what_it_names(page: Page, written: Written) -> None:
    instance, result = evening()
    page.open(written([result], [instance]))
    image = "return document.querySelector('canvas').toDataURL()"
    before = page.run(image)
    button = next(b for b in page.all(".legend button") if b.text == "run")
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert page.run(image) != before
    button.click()
    assert page.run(image) == before


def test_light_and_dark(page: Page, written: Written) -> None:
    instance, result = evening()
    path = written([result], [instance])
    paper = "return getComputedStyle(document.body).backgroundColor"
    page.prefers("dark")
    page.open(path)
    dark = page.run(paper)
    page.prefers("light")
    page.until("document.documentElement.dataset.theme === 'light'")
    light = page.run(paper)
    assert light != dark
    page.first("#theme").click()
    assert page.run(paper) == dark
    page.shot("dark")
    page.open(path)  # what was chosen is remembered
    assert page.run(paper) == dark
    assert page.text("#theme") == "Light"
    page.first("#theme").click()
    assert page.run(paper) == light


def test_paper_is_light_and_narrow(page: Page, written: Written, examples: Any) -> None:
    instance = optsched.load(examples / "geo-small.json")
    page.prefers("dark")
    page.open(written([optsched.solve(instance, "exact", time_limit=60)], [instance]))
    page.run("dispatchEvent(new Event('beforeprint'))")
    assert page.run("return document.documentElement.dataset.theme") == "light"
    assert page.run("return Math.max(...[...document.querySelectorAll('.main-svg')].map((svg) => svg.clientWidth))") <= 700
    assert page.run("return document.querySelectorAll('.plot .main-svg').length >= 9"), (
        "all pictures are drawn, not only those seen"
    )
    page.shot("paper")
    page.run("dispatchEvent(new Event('afterprint'))")
    assert page.run("return document.documentElement.dataset.theme") == "dark"
    assert page.run("return document.querySelector('.main-svg').clientWidth") > 700


def test_tables_are_sorted_and_results_switched(page: Page, written: Written, examples: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    instance = optsched.load(examples / "deferrable-small.json")
    made = [optsched.solve(instance, method) for method in ("fifo", "exact", "greedy")]
    page.open(written(made, [instance]))
    names = "return [...document.querySelectorAll('table tbody tr')].map((row) => row.cells[0].textContent)"
    assert page.run(names) == ["fifo", "exact", "greedy"]
    order = sorted(made, key=lambda r: r.objective)
    heads = {head.text.split("\n")[0].rstrip("\u00a0↕"): head for head in page.all("th button")}
    objective = next(head for text, head in heads.items() if text.startswith("objective"))
    objective.click()
    assert page.run(names) == [r.method for r in order]
    objective.click()
    assert page.run(names) == [r.method for r in reversed(order)]
    bound = next(head for text, head in heads.items() if text.startswith("bound"))
    for _ in range(2):
        bound.click()
        assert page.run(names)[0] == "exact", "what has no bound is below whichever way it is sorted"
    assert page.run("return [...document.querySelectorAll('th[aria-sort]')].length") == 1
    tabs = page.all("[role=tab]")
    assert [tab.text for tab in tabs] == ["fifo", "exact", "greedy"]
    assert page.text("article h3").startswith("fifo")
    tabs[1].click()
    assert page.text("article h3").startswith("exact")
    tabs[1].send_keys(Keys.ARROW_RIGHT)
    assert page.text("article h3").startswith("greedy")
    assert painted(page) > 1000
    page.first("a[data-show]").click()
    assert len(page.all("article")) == 1


@pytest.mark.parametrize("width", [360, 1900])
def test_narrow_and_wide_windows(page: Page, written: Written, examples: Any, width: int) -> None:
    instance = optsched.load(examples / "geo-small.json")
    path = written([optsched.solve(instance, m) for m in ("greedy", "local-fcfs")], [instance])
    page.size(width)
    page.open(path)
    assert page.run(f"return {WIDE}") <= 0
    page.shot(f"width-{width}")
    page.size(900)
    page.until(
        "Math.abs(document.querySelector('.plot .main-svg').clientWidth - document.querySelector('.plot').clientWidth) < 2"
    )
    assert page.run(f"return {WIDE}") <= 0


def test_ten_thousand_jobs(page: Page, written: Written) -> None:
    instance = optsched.generate("osdec", jobs=10_000, horizon=2000)
    result = optsched.solve(instance, "greedy")
    page.open(written([result], [instance]))
    assert painted(page) > 10_000
    starts = sorted(result.best.starts, key=lambda start: (start.start, start.job))
    row = len(starts) // 2
    job, jobs = starts[row], {job.id: job for job in instance.jobs}
    page.shot("ten-thousand")
    page.unfold("details.jobs")
    assert "10,000" in page.text("details.jobs summary")
    page.keys("details.jobs input", job.job)
    found = next(link for link in page.all("details.jobs .link") if link.text == job.job)
    page.run("arguments[0].click()", found)
    assert page.text(".tip b") == job.job
    assert f"cores\n{jobs[job.job].cores:g}" in page.text(".tip")
    named = page.run("return [...document.querySelectorAll('.plot .ytick text')].map((text) => text.textContent)")
    assert job.job in named
    low, high = ranges(page)[0]
    assert low <= job.start * 300 / 86400 <= high
    page.first("button[aria-label='Zoom in']").click()
    assert ranges(page)[0][1] - ranges(page)[0][0] == pytest.approx((high - low) / 2)
    assert page.text(".tip b") == job.job
    page.shot("ten-thousand-zoomed")
