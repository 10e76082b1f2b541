"""Published figures made anew: whoever changes what they say must change where they are said.

    python benchmarks/reproduce.py              # the small ones, two minutes; what CI runs
    python benchmarks/reproduce.py --full       # all; the first line says how long they take
    python benchmarks/reproduce.py --only armida --keep out/reproduce

benchmarks/reproduce.toml has runs, each a command or a notebook, and under each the pages that show what it prints. What a page
shows has its figures in braces, `| FIFO | {1798.8} |`, and the run's pattern finds them in what is printed, in that order.
A figure may be off by half of its last digit, or by `within` where that is more (a number, or one a figure). Exits 1 where a
page no longer says it, a run fails, or a figure is off. What a notebook shows is read from out/notebooks, where
`make notebooks` has made it anew (`make reproduce FULL=1` and CI do so before), else from the notebook as it is kept, which is
told. `--keep` keeps what was printed, and reads it where it is kept already; `--update` writes figures that are off, as they
were printed, into the page and into reproduce.toml.

The benchmark library holds its own values (`optsched bench`), and shipped weights their recorded scores (`make rl`).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from optsched.files import traces

ROOT = Path(__file__).parents[1]
FILE = Path(__file__).with_suffix(".toml")
MADE = ROOT / "out" / "notebooks"
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
BRACED = re.compile(r"\{([^{}]*)\}")


def listed(given: Any) -> list[Any]:
    """One or several."""
    return given if isinstance(given, list) else [given]


def plain(text: str) -> str:
    """As it stands on a page, however its lines are broken."""
    return " ".join(BRACED.sub(r"\1", text).split())


def number(text: str) -> float:
    """Of what is shown or printed."""
    return float(text.replace(",", ""))


def slack(text: str) -> float:
    """Half of the last digit of what is shown."""
    digits, _, power = text.partition("e")
    return 0.5000001 * 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))


def figures(claim: dict[str, Any]) -> list[str]:
    """The braced figures of what a page shows, in order."""
    return [figure for shown in listed(claim["shown"]) for figure in BRACED.findall(shown)]


def printed(claim: dict[str, Any], output: str) -> list[str]:
    """What the patterns find, in order; `between` two words where there are any."""
    first, last = claim.get("between", ("", ""))
    output = output[output.find(first) :] if first in output else ""
    end = output.find(last, len(first)) if last else -1
    output = output if end < 0 else output[:end]
    found = [match for pattern in listed(claim["pattern"]) for match in re.findall(pattern, output)]
    return [text for match in found for text in ((match,) if isinstance(match, str) else match) if text]


def compare(claim: dict[str, Any], output: str) -> tuple[list[str], dict[str, str]]:
    """What is wrong with a claim, and figures that are off with what was printed."""
    shown, found = figures(claim), printed(claim, output)
    if len(shown) != len(found):
        return [f"{claim['page']} shows {len(shown)} figures, printed are {len(found)}: {' '.join(found)[:300]}"], {}
    within = listed(claim.get("within", 0.0))
    allowed = within * len(shown) if len(within) == 1 else within
    wrong, off = [], {}
    for figure, text, more in zip(shown, found, allowed, strict=True):
        room = max(slack(figure), more)
        if abs(number(figure) - number(text)) > room:
            wrong.append(f"{claim['page']}: {text} where {figure} is published (within {room:.3g})")
            off[figure] = text
    return wrong, off


def missing(claim: dict[str, Any]) -> list[str]:
    """What the page no longer says."""
    page = plain((ROOT / claim["page"]).read_text(encoding="utf-8"))
    return [f"{claim['page']} no longer says {plain(s)!r}" for s in listed(claim["shown"]) if plain(s) not in page]


def shown_in(notebook: str) -> Path:
    """The notebook as made anew by `make notebooks`, or else as it is kept."""
    made = MADE / f"{notebook}.ipynb"
    return made if made.exists() else ROOT / "notebooks" / f"{notebook}.ipynb"


def cells(notebook: str) -> str:
    """What a notebook shows."""
    book = json.loads(shown_in(notebook).read_text(encoding="utf-8"))
    outputs = [output for cell in book["cells"] for output in cell.get("outputs", ())]
    texts = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs]
    return "\n".join("".join(text) for text in texts)


def output(run: dict[str, Any], keep: Path | None) -> tuple[str, str | None]:
    """What a run prints, and why it failed."""
    if "notebook" in run:
        return cells(run["notebook"]), None
    kept = keep / f"{re.sub(r'[^a-z0-9]+', '-', run['name'].lower())}.txt" if keep else None
    if kept and kept.exists():
        return kept.read_text(encoding="utf-8"), None
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = re.sub(r"(?<![\w/])(instances|benchmarks|optsched/rl)/", rf"{ROOT}/\1/", run["command"])
    with tempfile.TemporaryDirectory(prefix="optsched-reproduce-") as folder:
        ran = subprocess.run(
            ["bash", "-euc", command],
            cwd=folder,
            env={**os.environ, "PATH": path, "OPTSCHED_DATA": str(traces()), "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
        )
    if ran.returncode != run.get("exit", 0):
        last = (ran.stderr.strip().splitlines() or ran.stdout.strip().splitlines() or ["nothing"])[-1]
        return ran.stdout, f"exit code {ran.returncode}: {last[:300]}"
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(ran.stdout, encoding="utf-8")
    return ran.stdout, None


def rounded(text: str, like: str) -> str:
    """A printed figure with as many digits as the published one has."""
    decimals = len(like.partition("e")[0].partition(".")[2])
    sign = "+" if like.startswith("+") else ""
    return f"{number(text):{sign}{',' if ',' in like else ''}.{decimals}f}"


def update(claim: dict[str, Any], found: list[str]) -> None:
    """Write what was printed where it is said."""
    page, words = ROOT / claim["page"], FILE.read_text(encoding="utf-8")
    text, texts = page.read_text(encoding="utf-8"), iter(found)

    def anew(match: re.Match[str]) -> str:
        told = next(texts)
        off = abs(number(match[1]) - number(told)) > slack(match[1])
        return "{" + (rounded(told, match[1]) if off else match[1]) + "}"

    for shown in listed(claim["shown"]):
        now = BRACED.sub(anew, shown)
        words, text = words.replace(shown, now), text.replace(BRACED.sub(r"\1", shown), BRACED.sub(r"\1", now))
    FILE.write_text(words, encoding="utf-8")
    page.write_text(text, encoding="utf-8")


def faults(run: dict[str, Any], keep: Path | None, rewrite: bool = False) -> Iterator[str]:
    """Why what a run prints is not what is published."""
    claims = run["claims"]
    unsaid = [fault for claim in claims for fault in missing(claim)]
    yield from unsaid
    if unsaid:
        return
    text, failed = output(run, keep)
    if failed:
        yield failed
    for claim in claims:
        wrong, off = compare(claim, text)
        yield from wrong
        if off and rewrite:
            update(claim, printed(claim, text))


def spent(runs: list[dict[str, Any]]) -> str:
    """What they take, in words."""
    seconds = sum(run.get("seconds", 0) for run in runs)
    return f"{seconds} s" if seconds < 300 else f"{seconds / 60:.0f} minutes"


def main() -> None:
    """A line a run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="Those that take long too.")
    parser.add_argument("--only", help="Runs whose name holds this.")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="Of what is printed; kept there already is not run again.")
    parser.add_argument("--update", action="store_true", help="Write what was printed into pages.")
    parser.add_argument("--workers", type=int, default=1, help="Runs at once; what time limits decide wants a core each.")
    asked = parser.parse_args()
    if asked.update and asked.workers > 1:
        parser.error("pages are written one run at a time: --update without --workers")
    runs = tomllib.loads(FILE.read_text(encoding="utf-8"))["runs"]
    small = [run for run in runs if run.get("suite") != "full"]
    chosen = [run for run in runs if asked.only in run["name"]] if asked.only else runs if asked.full else small
    if not chosen:
        parser.error(f"no run has {asked.only!r} in its name")
    told = sum(len(figures(claim)) for run in chosen for claim in run["claims"])
    print(f"{told} figures of {len(chosen)} runs, about {spent(chosen)}; all {len(runs)} runs: {spent(runs)}", flush=True)

    def tried(run: dict[str, Any]) -> tuple[list[str], float]:
        began = time.perf_counter()
        return list(faults(run, asked.keep, asked.update)), time.perf_counter() - began

    failed = 0
    with ThreadPoolExecutor(asked.workers) as pool:
        for run, (wrong, seconds) in zip(chosen, pool.map(tried, chosen), strict=True):
            failed += bool(wrong)
            as_kept = "notebook" in run and not shown_in(run["notebook"]).is_relative_to(MADE)
            name = run["name"] + ", as it is kept" * as_kept
            print(f"{'OFF ' if wrong else 'ok  '} {seconds:6.1f} s  {name}", flush=True)
            for fault in wrong:
                print(f"     {fault}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
