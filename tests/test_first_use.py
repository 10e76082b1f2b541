"""What went wrong when somebody first used it, in 27 rows: each is shown mended by the tests named here."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import optsched
from optsched.cli import _live, cli
from tests.cli.test_cli import run
from tests.test_docs import tables

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
HERE = "tests/test_first_use.py"
UNASKED = {"slow", "timing", "rl", "campaign"}  # what `make test` leaves out
GAP = {"wide-nodes": "1%", "masac": "20%", "vcc": "25%"}

ROWS: dict[int, tuple[str, ...]] = {
    1: (f"{HERE}::test_the_default_proves_a_bound", "tests/test_portfolio.py::test_parts_each_from_the_best_so_far"),
    2: (f"{HERE}::test_the_default_proves_a_bound",),
    3: (
        "tests/rolling/test_failures.py::test_a_failing_policy_raises",
        "tests/analysis/test_gaps.py::test_a_policy_that_fails_never_scores",
    ),
    4: ("tests/cli/test_manners.py::test_nothing_known_is_said",),
    5: (f"{HERE}::test_the_shown_commands_give_the_shown_figures",),
    6: ("tests/cli/test_replay.py::test_no_width_cuts_a_name_or_a_figure",),
    7: ("tests/cli/test_replay.py::test_nothing_that_is_read_is_written_over",),
    8: (
        f"{HERE}::test_a_replay_is_held_against_the_best_cheap_bound",
        "tests/cli/test_replay.py::test_the_bound_of_a_result_and_a_number",
    ),
    9: (
        "tests/cli/test_benchmarks.py::test_the_build_benchmark_compares_the_same_model",
        "tests/cli/test_benchmarks.py::test_the_peer_is_pinned_and_the_environment_has_an_extra_of_its_own",
    ),
    10: (
        "tests/cli/test_import_csv.py::test_allocation_keeps_deadlines_and_priorities",
        "tests/cli/test_import_csv.py::test_deferrable_windows",
        "tests/cli/test_import_csv.py::test_geo_at_sites_of_ones_own",
        "tests/cli/test_import_csv.py::test_vcc",
        "tests/cli/test_import_csv.py::test_day_ahead",
    ),
    11: (
        "tests/test_docs_python.py::test_python_in_pages_runs",
        "tests/api/test_results.py::test_check_and_evaluate_take_what_json_gives",
        "tests/cli/test_manners.py::test_a_method_of_ones_own",
        "tests/cli/test_replay.py::test_a_policy_of_ones_own_that_fails",
    ),
    12: ("tests/cli/test_manners.py::test_a_bare_verb_prints_its_help",),
    13: (
        "tests/cli/test_check.py::test_a_bare_schedule_has_a_gap_to_a_given_bound",
        "tests/cli/test_plot.py::test_a_schedule_by_hand_is_judged_and_drawn",
    ),
    14: ("tests/cli/test_benchmarks.py::test_the_peer_is_pinned_and_the_environment_has_an_extra_of_its_own",),
    15: ("tests/cli/test_manners.py::test_outputs_are_tried_first",),
    16: (
        "tests/cli/test_manners.py::test_every_verb_has_json",
        "tests/cli/test_replay.py::test_json_of_one_and_of_several",
        "tests/cli/test_replay.py::test_a_comparison_is_saved",
    ),
    17: ("tests/cli/test_cli.py::test_one_bad_file_is_reported_and_the_others_are_solved",),
    18: (
        "tests/cli/test_interrupts.py::test_a_replay_stops_between_two_decisions",
        "tests/cli/test_interrupts.py::test_a_schedule_that_is_there_is_written",
    ),
    19: (
        "tests/cli/test_live.py::test_without_a_terminal_a_line_every_so_often",
        "tests/cli/test_live.py::test_solve_has_a_heartbeat",
        f"{HERE}::test_a_replay_has_a_heartbeat",
        "tests/cli/test_live.py::test_verbose_is_silent_about_the_line_that_it_would_break",
    ),
    20: (
        "tests/cli/test_prices.py::test_refusals_are_one_line",
        "tests/cli/test_prices.py::test_a_data_centre_has_prices",
        "tests/decomposition/test_vcc.py::test_prices_by_hand",
    ),
    21: ("tests/cli/test_import_csv.py::test_a_window_does_not_begin_at_an_outlier",),
    22: ("tests/cli/test_replay.py::test_a_family_without_a_replay",),
    23: ("tests/cli/test_manners.py::test_help_loads_nothing_that_takes_time",),
    24: (
        "tests/cli/test_manners.py::test_standard_input_is_a_dash",
        "tests/cli/test_manners.py::test_examples_come_along",
        "tests/cli/test_manners.py::test_the_wheel_takes_the_examples",
    ),
    25: (
        "tests/cli/test_benchmarks.py::test_what_they_write_is_ignored_by_git",
        f"{HERE}::test_what_the_readme_writes_is_ignored_by_git",
    ),
    26: (f"{HERE}::test_the_readme_begins_with_what_to_type", "tests/test_docs.py::test_links_lead_somewhere"),
    27: (f"{HERE}::test_no_fast_test_asserts_wall_time",),
}
BESIDES = {
    "a rule that has ended": f"{HERE}::test_a_rule_that_has_ended_says_so",
    "gaps": "tests/cli/test_manners.py::test_gaps",
    "did you mean": "tests/cli/test_manners.py::test_what_was_meant",
    "options of a heuristic": "tests/cli/test_manners.py::test_methods_tell_their_options",
    "agents elsewhere": "tests/rolling/test_vcc.py::test_an_agent_says_where_it_has_not_learned",
    "spikes of prices": "tests/analysis/test_price_pictures.py::test_many_slots_are_gathered",
    "lateness": "tests/analysis/test_pictures.py::test_lateness_is_hatched_and_no_fill",
    "hours, dates, titles": "tests/analysis/test_pictures.py::test_title_axes_and_legend",
    "the cap": "tests/analysis/test_pictures.py::test_the_cap_stays_within_the_frame",
    "notebook": f"{HERE}::test_notebooks_use_public_names",
    "Python": f"{HERE}::test_what_it_runs_on_is_declared",
}


# the table ----------------------------------------------------------------------------------------------------------------


@cache
def found_in(file: Path) -> dict[str, tuple[ast.FunctionDef, set[str]]]:
    """The tests of a file, with the marks that `pytest -m` knows."""
    tree = ast.parse(file.read_text())
    marked = [node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"]
    of_all = {word for value in marked for word in re.findall(r"mark\.(\w+)", ast.unparse(value))}
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {
        node.name: (node, of_all | {word for d in node.decorator_list for word in re.findall(r"mark\.(\w+)", ast.unparse(d))})
        for node in functions
        if node.name.startswith("test_")
    }


def test_every_row_has_a_test_that_make_test_runs() -> None:
    assert sorted(ROWS) == list(range(1, 28))
    for name in [*(name for names in ROWS.values() for name in names), *BESIDES.values()]:
        file, _, test = name.partition("::")
        assert test in found_in(ROOT / file), name
        assert not UNASKED & found_in(ROOT / file)[test][1], name


# rows that no other test shows --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scenario", "words"), [("wide-nodes", ["--nodes", 20]), ("masac", ["--jobs", 150]), ("vcc", ["--days", 3, "--jobs", 200])]
)
def test_the_default_proves_a_bound(tmp_path: Path, scenario: str, words: list[object]) -> None:
    """Rows 1 and 2: by nothing but `solve`, on what exact methods do not finish; all jobs of the wide nodes run."""
    assert run("generate", scenario, *words, "-o", tmp_path / "x.json").returncode == 0
    done = run("solve", tmp_path / "x.json", "--time-limit", "5m", "--gap", GAP[scenario], "--json", timeout=400)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["message"].startswith("auto chose the decomposition")
    assert found["gap"] is not None
    assert found["gap"] <= float(GAP[scenario].rstrip("%")) / 100
    if scenario == "wide-nodes":
        assert len(found["schedule"]["assignments"]) == 100


def test_the_shown_commands_give_the_shown_figures() -> None:
    """Row 5: those of README that take no time, and that every other figure has a command whose script is there."""
    text = README.read_text()
    shown = text.partition("then it shows\n\n")[2].partition("\n\n")[0].splitlines()
    done = run("solve", "instances/armida-snapshot.json", cwd=ROOT)
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert len(shown) > 5
    assert [line for line in shown if " ".join(line.split()) not in lines] == []
    ((_, measured),) = ((head, rows) for head, rows in tables(text) if head[-1] == "command")
    for what, figure, command in measured:
        assert re.search(r"\d", figure), what
        (typed,) = re.findall(r"`([^`]+)`", command)
        words = typed.split()
        assert words[0] == "optsched" or (ROOT / words[1]).is_file(), typed
        if words[:2] == ["optsched", "replay"]:
            replayed = run(*words[1:], "--json", cwd=ROOT)
            found = [json.loads(line) for line in replayed.stdout.splitlines()]
            assert [f"{row['objective']:.3f}" for row in found] == re.findall(r"\d+\.\d+", figure), typed
            assert f"less than {found[0]['bound']:.3f}" in what
            break
    else:
        pytest.fail("no figure of a command that takes no time")


def test_a_replay_is_held_against_the_best_cheap_bound(tmp_path: Path) -> None:
    """Row 8: unasked, and of a single policy too."""
    assert run("generate", "vcc", "--days", 1, "--jobs", 60, "-o", tmp_path / "x.json").returncode == 0
    done = run("replay", tmp_path / "x.json", "--policy", "uncapped")
    assert "bound (decomposition)" in done.stdout, done.stdout + done.stderr


SLOW = """
import time
class Slow:
    def reset(self, seed): pass
    def decide(self, snapshot):
        time.sleep(0.05)
        return {"starts": []}
"""


def test_a_replay_has_a_heartbeat(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, examples: Path) -> None:
    """Row 19: without a terminal, with how far it is."""
    (tmp_path / "slowly.py").write_text(SLOW)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(_live, "EVERY_S", 0.02)
    words = ["replay", str(examples / "deferrable-small.json"), "--policy", "slowly:Slow", "--no-bound"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    assert re.search(r"^slowly:Slow: \d+ s, [\d,]+ s of the replay, \d+ known, \d+ unfinished$", done.stderr, re.MULTILINE)


def test_what_the_readme_writes_is_ignored_by_git() -> None:
    """Row 25: its commands leave the clone as it was."""
    written = set(
        re.findall(r"^(?:    |\| ).*?optsched .*?(?:-o|--log|--checkpoint) ([\w./-]+)", README.read_text(), re.MULTILINE)
    )
    assert len(written) > 5
    for name in sorted(written):
        assert subprocess.run(["git", "check-ignore", "-q", name], cwd=ROOT, check=False).returncode == 0, name


def test_the_readme_begins_with_what_to_type() -> None:
    """Row 26: links to every paper, two tables at most, and a command or a snippet in every task, before any figures."""
    text = README.read_text()
    sections = dict(re.findall(r"^## (.+)\n((?:(?!^## ).*\n)*)", text, re.MULTILINE))
    (families, rows), *others = tables(text)
    assert families[0] == "family"
    assert len(others) <= 1
    assert {row[0].split("`")[1] for row in rows} == {"allocation", "deferrable", "geo", "vcc", "day_ahead"}
    assert all(re.search(r"\]\(https?://", row[-1]) for row in rows)
    for task in (
        "Solve",
        "Certify somebody's schedule",
        "Replay",
        "Import your own CSV",
        "Build an instance in Python",
        "Extend",
    ):
        assert re.search(r"^    optsched |^```python", sections[task], re.MULTILINE), task
        assert text.index(f"## {task}") < text.index("## Measured")
    assert len(re.findall(r"\]\(https://doi\.org/10\.", (ROOT / "docs" / "bibliography.md").read_text())) > 10


def reads_a_clock(test: ast.FunctionDef) -> bool:
    """Whether an assertion compares with what a clock says."""
    compared = [node.test for node in ast.walk(test) if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare)]
    return any(
        re.search(r"\b(time\.(perf_counter|monotonic|time)\(|timings_s\.total\b)", ast.unparse(test)) for test in compared
    )


def test_no_fast_test_asserts_wall_time() -> None:
    """Row 27: a busy machine fails none of `make test`."""
    timed = {
        f"{file.name}::{name}": marks
        for file in (ROOT / "tests").rglob("test_*.py")
        for name, (test, marks) in found_in(file).items()
        if reads_a_clock(test)
    }
    assert len(timed) >= 8  # it finds those that do
    assert [name for name, marks in timed.items() if not UNASKED & marks] == []
    chosen = re.search(r'^test:.*\n\t.*-m "(.*)"', (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert chosen is not None
    assert chosen[1] == "not slow and not timing and not rl and not browser"


# besides ------------------------------------------------------------------------------------------------------------------


def test_a_rule_that_has_ended_says_so(examples: Path) -> None:
    """And not that it was stopped by a limit."""
    assert ": completed, objective" in run("solve", examples / "deferrable-small.json", "--method", "fifo", "-q").stdout


def sources() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for cell in json.loads(path.read_text())["cells"]:
            if cell["cell_type"] == "code":
                yield path.name, "".join(cell["source"])


def test_notebooks_use_public_names() -> None:
    """What a reader copies from them is what the documents describe."""
    public = {*optsched.__all__, "__version__"}
    seen: set[str] = set()
    for name, text in sources():
        for node in ast.walk(ast.parse(text)):
            modules: list[Any] = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            if isinstance(node, ast.ImportFrom):
                modules = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            for module in modules:
                package, _, rest = module.partition(".")
                assert package != "optsched" or not rest or rest.split(".")[0] in public - {"methods"}, (name, module)
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "optsched":
                assert node.attr in public, (name, node.attr)
                seen.add(node.attr)
    assert "compare" in seen


def test_what_it_runs_on_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = [
        word.split(" :: ")[-1] for word in project["classifiers"] if word.startswith("Programming Language :: Python ::")
    ]
    assert declared == ["3.11", "3.12", "3.13"]
    assert project["requires-python"] == ">=3.11"
