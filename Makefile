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

setup: $(VENV)/.all ## Install everything into .venv: all extras and the development tools
	@echo "next: . $(BIN)/activate"

demo: $(VENV)/.core ## Install Pulsus into .venv, validate two tools, then route, explain and run one request
	@$(BIN)/python scripts/demo.py

# `worksteal`: without it one worker gets all of tests/integration, and the others wait for it.
test: $(VENV)/.dev ## Run the fast test suite (two to three minutes; longer beside other work)
	@$(PYTEST) -n 3 --dist worksteal -m "not slow and not seconds and not further_row and not bench"
	@touch $(VENV)/.tested

test-all: $(VENV)/.all ## Run all tests, with the real components, as CI does (much longer)
	@PYTEST="$(PYTEST)" PYTHON="$(BIN)/python" TESTED="$(VENV)/.tested" sh scripts/test_all.sh

lint: $(VENV)/.all ## Check style, types and import layers (ruff, mypy, import-linter)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/mypy tests scripts
	@$(BIN)/lint-imports --no-cache --config layers.toml

fuzz: $(VENV)/.all ## Search for inputs that break a parser, ten minutes for each fuzzer (CONTRIBUTING.md)
	@FUZZ_SECONDS=$${FUZZ_SECONDS:-600} $(PYTEST) -n 2 -m fuzz tests/fuzz

bench: $(VENV)/.all ## Run the benchmarks and print the figures (takes long; past figures: docs/benchmarks.md)
	@$(PIP) install -q --group bench
	@$(PYTEST) -q -m bench tests/benchmarks
	@OMP_NUM_THREADS=1 $(BIN)/python tests/benchmarks/ranking_peers.py
	@OMP_NUM_THREADS=1 $(BIN)/python -m tests.benchmarks.ranking_engines
	@$(BIN)/python -m tests.benchmarks.near_duplicates
	@$(BIN)/python tests/benchmarks/commands_peers.py
	@$(BIN)/python -m tests.benchmarks.placement_peers
	@$(MAKE) fuzz

clean: ## Remove build/, dist/ and the caches of ruff, mypy, pytest and hypothesis; .venv, .pulsus and logs stay
	@rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
