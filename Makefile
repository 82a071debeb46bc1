# One command a job. `make demo` and `make test` are all the set-up a newcomer needs.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest
# Images that set it have every test, worker and command compile all of Python's files again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all lint fuzz bench clean

help: ## List the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/.core: pyproject.toml
	@$(PYTHON) scripts/check_python.py
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing Pulsus into $(VENV) ..." >&2
	@$(PIP) install -q -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.core
	@$(PIP) install -q --upgrade 'pip>=25.1'
	@$(PIP) install -q -e . --group dev
	@touch $@

$(VENV)/.all: $(VENV)/.dev
	@$(PIP) install -q -e '.[all]' --group dev --group fuzz
	@touch $@

setup: $(VENV)/.all ## Create .venv with every extra and the development tools

demo: $(VENV)/.core ## Route a real request, explain it, validate it in the sandbox and run it
	@$(BIN)/python scripts/demo.py

# Workers take tests from each other: as dealt out, one of them has all of tests/integration.
test: $(VENV)/.dev ## The fast suite (under 3 minutes after the install)
	@$(PYTEST) -n 3 --dist worksteal -m "not slow and not seconds and not bench"
	@touch $(VENV)/.tested

test-all: $(VENV)/.all ## Everything, with the real components
	@PYTEST="$(PYTEST)" PYTHON="$(BIN)/python" TESTED="$(VENV)/.tested" sh scripts/test_all.sh

lint: $(VENV)/.all ## ruff, mypy, layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/mypy tests scripts
	@$(BIN)/lint-imports --no-cache

fuzz: $(VENV)/.all ## Each fuzzer for ten minutes; new inputs are kept by hand (CONTRIBUTING.md)
	@FUZZ_SECONDS=$${FUZZ_SECONDS:-600} $(PYTEST) -n 2 -m fuzz tests/fuzz

bench: $(VENV)/.all ## Benchmarks; results go to docs/benchmarks.md by hand
	@$(PIP) install -q --group bench
	@$(PYTEST) -q -m bench tests/benchmarks
	@OMP_NUM_THREADS=1 $(BIN)/python tests/benchmarks/ranking_peers.py
	@$(BIN)/python tests/benchmarks/commands_peers.py
	@$(MAKE) fuzz

clean: ## Remove caches (not .venv, not .pulsus)
	@rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
