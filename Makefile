# Everything runs in .venv, which is made on first use and renewed when requirements.lock or pyproject.toml change.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.ready

.PHONY: help setup demo test test-browser lint docs bench readme lock clean
.DEFAULT_GOAL := help

help:  ## list the commands
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-12s %s\n", $$1, $$2}'

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Fullspan needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(STAMP)

setup: $(STAMP)  ## make .venv, with .venv/bin/fullspan in it

demo: $(STAMP)  ## learn the 1984 House votes, print what was found, write it to demo-output/
	@$(BIN)/fullspan demo demo-output

lint: $(STAMP)  ## style, types and import layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint  ## lint, then all tests, in two processes
	$(BIN)/python -m compileall -q src  # some hundred tests start a process, which may not keep what it compiles
	$(BIN)/python -m pytest -n 2 --dist loadfile

test-browser: $(STAMP)  ## the tests in a browser alone: explorer, widget, reports (installs Debian's chromium as root)
	@command -v chromium > /dev/null || { test "$$(id -u)" = 0 && apt-get install --yes chromium; } || { \
	  echo "These tests need Chromium. Install it with: sudo apt-get install chromium"; exit 1; }
	$(BIN)/python -m pytest tests/web/test_browser.py tests/web/test_widget.py tests/report/test_in_browser.py

docs: $(STAMP)  ## build the documentation site into build/site; a broken link, picture or example is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet
	@echo "build/site/index.html; with search: $(BIN)/python -m http.server -b 127.0.0.1 -d build/site"

bench: $(STAMP)  ## run the benchmarks, each a script of its own
	@for script in benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

readme: $(STAMP)  ## run the examples in README.md and docs/ and write their output in place
	$(BIN)/python tests/docs/examples.py

lock:  ## renew requirements.lock (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --no-annotate --upgrade pyproject.toml --group dev -o requirements.lock

clean:  ## remove .venv and what the tools leave behind
	rm -rf .venv build demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
