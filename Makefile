PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
SLOW := slow
unexport PYTHONDONTWRITEBYTECODE  # tests start hundreds of processes: compiled once

.PHONY: demo test timing mutants slow plugin rl browser bench reproduce site lint types notebooks clean

demo: $(VENV)/.run  ## the main job: the paper's own cluster to proven optimality, checked and drawn
	$(BIN)/optsched solve instances/armida-snapshot.json -o armida.result.json
	$(BIN)/optsched check instances/armida-snapshot.json armida.result.json
	$(BIN)/optsched plot armida.result.json -o armida.png

test: $(VENV)/.dev  ## the fast tests, a few minutes
	$(BIN)/python -m pytest -n 2 -m "not slow and not timing and not rl and not browser"

timing: $(VENV)/.dev  ## what asserts wall time: on a quiet machine
	$(BIN)/python -m pytest -m timing

mutants: $(VENV)/.dev  ## small faults, one at a time: the fast tests must notice each
	$(BIN)/python tests/mutants/run.py

slow: $(VENV)/.dev  ## 2,000 random instances a family against enumeration, and the scale checks
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "$(SLOW)"

plugin: $(VENV)/.dev  ## a distribution of somebody else's, installed into an environment of its own
	$(PYTHON) -m venv $(VENV)-plugin
	$(VENV)-plugin/bin/pip install --quiet --disable-pip-version-check . ./tests/plugin
	OPTSCHED_PLUGIN_PYTHON=$(CURDIR)/$(VENV)-plugin/bin/python $(BIN)/python -m pytest tests/test_plugin.py

rl: $(VENV)/.rl  ## training, in short
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m rl

browser: $(VENV)/.dev  ## the page of `optsched report` in a headless Chromium
	$(BIN)/python -m pytest -m browser tests/browser

bench: $(VENV)/.dev  ## the small suite of the benchmark library against the best known
	$(BIN)/optsched bench --suite small

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev  ## of the package, and what a type checker knows of solve and replay
	$(BIN)/mypy
	$(BIN)/mypy --warn-unused-ignores tests/api/typed.py

notebooks: $(VENV)/.notebooks  ## run them; what they show goes to out/notebooks
	$(BIN)/python notebooks/run.py --workers 2

reproduce: $(VENV)/.dev $(if $(FULL),notebooks)  ## published figures made anew, those that take two minutes in all, two at once; FULL=1: all, notebooks too, seven hours on one core
	$(BIN)/python benchmarks/reproduce.py $(if $(FULL),--full,--workers 2)

site: $(VENV)/.docs  ## the documentation, warnings are errors; into out/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: $(VENV)/bin/python pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@ $(VENV)/.run

$(VENV)/.notebooks $(VENV)/.docs: $(VENV)/.%: $(VENV)/.dev
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[$*]'
	touch $@

$(VENV)/.rl: $(VENV)/.dev
	$(BIN)/pip install --quiet --disable-pip-version-check torch==2.13.0
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev,rl]'
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-plugin armida.result.json armida.png .pytest_cache .mypy_cache .ruff_cache .hypothesis
