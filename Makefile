# Every command of the project. `make help` lists them; `make` sets up and tests.
# A new machine needs Python 3.11 or later, a Rust toolchain and gcc, nothing else.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
CARGO  ?= cargo
STAMP  := $(VENV)/.built
SOURCES := $(shell find rust/core/src rust/py/src -name '*.rs') Cargo.toml Cargo.lock \
           rust/core/Cargo.toml rust/py/Cargo.toml pyproject.toml

.DEFAULT_GOAL := test
.PHONY: help setup demo test test-rust test-python check format bench bench-quick clean

help: ## List the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(BIN)/python:
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "doxa needs Python 3.11 or later, this is " + sys.version'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(STAMP): $(BIN)/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --editable '.[test,dev]'
	@touch $@

setup: $(STAMP) ## Make the virtual environment and build the extension into it

demo: setup ## Take in 736 real documents, ask, be killed, lose nothing
	$(BIN)/doxa demo

test: test-rust test-python ## Build and run all tests

test-rust: ## Tests of the core
	$(CARGO) test --quiet --package doxa-core

test-python: setup ## Tests of the Python layer, the store, the documents
	$(BIN)/python -m pytest --quiet -n 2 --dist loadscope

check: setup ## Formatting, lints, types, stubs
	$(CARGO) fmt --check
	$(CARGO) clippy --quiet --workspace --all-targets -- -D warnings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest doxa._core

format: setup ## Format everything
	$(CARGO) fmt
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format .

bench: setup ## Measure against the references, 1k to 1M; writes bench/records/
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	$(BIN)/python -m bench

bench-quick: setup ## The same, tiny
	$(BIN)/python -m bench --quick

clean: ## Remove what was built
	rm -rf $(VENV) target .pytest_cache .mypy_cache .ruff_cache
