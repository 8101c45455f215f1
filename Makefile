# Two commands on a fresh machine: `make crawl` does the main job, `make test` runs the tests.
# Each makes the environment it needs (.venv in this folder), from pinned versions; `make install` makes it alone. While
# you work, `make quick` runs the tests that start no server and no process and take less than a fifth of a second of
# processor time each.
PYTHON ?= $(or $(shell command -v python3.11),python3)
BIN := .venv/bin
# Most of a crawl's time is waiting, for a delay or a disk: more processes than cores. What only computes needs two in all.
WORKERS ?= --forked 8
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Tests start a few hundred processes: without bytecode on disk each of them would compile the package again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: crawl install test test-long quick lint docs man dist lock clean

crawl: .venv/installed
	$(BIN)/sharc demo --crawl

install: .venv/installed
	@echo 'Ready: . .venv/bin/activate && sharc start'

test: .venv/installed-dev
	$(BIN)/python -m pytest $(WORKERS) $(ARGS)

test-long: .venv/installed-dev ## soaks, many kills, whole matrices: what the default run has one of each kind of
	$(BIN)/python -m pytest -m long $(WORKERS) $(ARGS)
	$(BIN)/python -m pytest -m hypothesis --hypothesis-profile thorough $(WORKERS) $(ARGS)

quick: WORKERS = --forked 2
quick: .venv/installed-dev
	$(BIN)/python -m pytest --quick $(WORKERS) -rfE $(ARGS)

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: .venv-docs/installed ## the documents as a site in site/
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --strict
	@echo 'Open site/index.html'

man: .venv-docs/installed ## manual pages in man/
	PYTHONPATH=. .venv-docs/bin/python deploy/man_pages.py man

.venv-docs/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install --quiet --editable '.[docs]'
	@touch $@

dist: ## wheel and sdist in dist/, checked
	rm -rf dist
	$(PYTHON) -m venv .venv-dist
	PIP_CONSTRAINT= .venv-dist/bin/python -m pip install --quiet build twine
	.venv-dist/bin/python -m build
	.venv-dist/bin/python -m twine check --strict dist/*

.venv/bin/python:
	@echo 'Making .venv with $(PYTHON)'
	@$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml constraints.txt
	@echo 'Installing sharc-crawler and what it needs into .venv, once: a minute or two, without a word meanwhile'
	@$(BIN)/python -m pip install --quiet --editable .
	@touch $@

.venv/installed-dev: .venv/bin/python pyproject.toml constraints.txt
	@echo 'Installing sharc-crawler and what its tests need into .venv, once: a minute or two, without a word meanwhile'
	@$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@ .venv/installed

lock: ## pin the newest versions that pass the tests
	$(PYTHON) -m venv .venv-lock
	PIP_CONSTRAINT= .venv-lock/bin/python -m pip install --quiet hatchling '.[dev]'
	.venv-lock/bin/python -m pip freeze --exclude sharc-crawler > constraints.txt
	rm -rf .venv-lock

clean:
	rm -rf .venv .venv-docs .venv-dist captures site man dist
