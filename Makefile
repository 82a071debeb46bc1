# One target for each job. `make demo` and `make test` install everything that they need.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest
# Some container images set this variable. Then every test, worker and command compiles all Python files again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all lint fuzz bench clean

help: ## List the targets of this Makefile
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# pip compiles all files that it installs, one after the other. That takes longer than the install
# itself, and most of them are never imported: what is left out is compiled when it is first used.
UNUSED := /tests/|/site-packages/(fontTools|mypyc|onnxruntime|pip|pygments|scipy|setuptools|sklearn)/
INSTALL := $(PIP) install -q --no-compile
COMPILE := $(BIN)/python -W ignore -m compileall -q -j 0 -x '$(UNUSED)' $(VENV)/lib agents >/dev/null || true

# Each level includes those before it: with `make lint test test-all`, the first one installs all.
define install
@$(PYTHON) scripts/check_python.py
@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
@echo "installing $(1) into $(VENV) ..." >&2
endef

$(VENV)/.core: pyproject.toml
	$(call install,Pulsus)
	@$(INSTALL) -e .
	@$(COMPILE)
	@touch $@

$(VENV)/.dev: pyproject.toml
	$(call install,Pulsus and the development tools)
	@$(INSTALL) --upgrade 'pip>=25.1'
	@$(INSTALL) -e . --group dev
	@$(COMPILE)
	@touch $(VENV)/.core $@

$(VENV)/.all: pyproject.toml
	$(call install,Pulsus with all extras and the development tools)
	@$(INSTALL) --upgrade 'pip>=25.1'
	@$(INSTALL) -e '.[all]' --group dev --group web-tests --group fuzz
	@$(COMPILE)
	@touch $(VENV)/.core $(VENV)/.dev $@

setup: $(VENV)/.all ## Create .venv with all extras and the development tools

demo: $(VENV)/.core ## Route a real request, explain the choice, validate the tool in the sandbox, run it
	@$(BIN)/python scripts/demo.py

# `worksteal`: without it one worker gets all of tests/integration, and the others wait for it.
test: $(VENV)/.dev ## Run the fast test suite (under 3 minutes after the install)
	@$(PYTEST) -n 3 --dist worksteal -m "not slow and not seconds and not further_row and not bench"
	@touch $(VENV)/.tested

test-all: $(VENV)/.all ## Run all tests, with the real components, as CI does
	@PYTEST="$(PYTEST)" PYTHON="$(BIN)/python" TESTED="$(VENV)/.tested" sh scripts/test_all.sh

lint: $(VENV)/.all ## Run ruff, mypy and the import layer check
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/mypy tests scripts
	@$(BIN)/lint-imports --no-cache --config layers.toml

fuzz: $(VENV)/.all ## Run each fuzzer for ten minutes; add new inputs by hand (see CONTRIBUTING.md)
	@FUZZ_SECONDS=$${FUZZ_SECONDS:-600} $(PYTEST) -n 2 -m fuzz tests/fuzz

bench: $(VENV)/.all ## Run the benchmarks; copy the results to docs/benchmarks.md by hand
	@$(PIP) install -q --group bench
	@$(PYTEST) -q -m bench tests/benchmarks
	@OMP_NUM_THREADS=1 $(BIN)/python tests/benchmarks/ranking_peers.py
	@OMP_NUM_THREADS=1 $(BIN)/python -m tests.benchmarks.ranking_engines
	@$(BIN)/python -m tests.benchmarks.near_duplicates
	@$(BIN)/python tests/benchmarks/commands_peers.py
	@$(BIN)/python -m tests.benchmarks.placement_peers
	@$(MAKE) fuzz

clean: ## Remove caches; .venv and .pulsus stay
	@rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
