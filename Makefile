# The two to know: `make run` and `make test`. Both set up .venv first; nothing is installed outside it.
# Options go through ARGS:  make run ARGS="--no-web --gateway-port 9000"    make test ARGS="tests/gateway -x"
# `make check` is for every commit, `make test` for what is to be pushed.

PY := .venv/bin/python
UV := .venv-lock/bin/python -m uv
COMPILE = $(UV) pip compile --quiet --universal --python-version 3.12 --generate-hashes --no-emit-index-url \
	--no-annotate --custom-compile-command "make lock" $(if $(UPGRADE),--upgrade) pyproject.toml
ARGS ?=
# Whole files go to workers, so that a file's fixtures are built once; tests/conftest.py sets their order and number.
# `-n 0` in ARGS runs all in one process, as a debugger wants it.
PYTEST := $(PY) -m pytest -n auto --dist loadfile --no-loadscope-reorder
# Tests start interpreters by the dozen. Without compiled files each would compile all it imports.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run test check lint format bench bench-detection docs setup setup-runtime lock

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1	/p' Makefile | expand -t 24

run: setup-runtime ## start gateway, proxy and mitmweb on this machine
	@exec $(PY) run_proxy.py serve $(ARGS)

test: setup ## run all tests
	@$(PYTEST) $(ARGS)

check: setup ## in a minute: style, types and the fast tests
	@$(PY) -m mypy & types=$$!; \
	$(PY) -m ruff check . && $(PY) -m ruff format --check . && $(PYTEST) -m "not slow" --ignore tests/e2e $(ARGS); \
	status=$$?; wait $$types && exit $$status

lint: setup ## style and strict types
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@.venv/bin/lint-imports --no-logo
	@$(PY) -m mypy

format: setup ## put the code into the house's format
	@$(PY) -m ruff check --fix-only .
	@$(PY) -m ruff format .

bench: setup ## measure against bare mitmproxy (benchmarks/)
	@$(PY) benchmarks/proxy.py $(ARGS)

bench-detection: setup ## measure detection alone: ms per KB, hostile texts, long conversations
	@$(PY) -m benchmarks.detection $(ARGS)

docs: setup ## write the generated pages of docs/ anew
	@$(PY) -m scripts.settings_reference > docs/settings.md.new && mv docs/settings.md.new docs/settings.md
	@$(PY) -m scripts.api_reference > docs/api.md.new && mv docs/api.md.new docs/api.md
	@$(PY) -m scripts.errors_reference > docs/errors.md.new && mv docs/errors.md.new docs/errors.md
	@$(PY) -m scripts.entities_reference > docs/entities.md.new && mv docs/entities.md.new docs/entities.md
	@$(PY) -m scripts.licences > docs/licences.md.new && mv docs/licences.md.new docs/licences.md

setup: ## install what development and tests need
	@sh scripts/setup.sh dev

setup-runtime: ## install only what production needs
	@sh scripts/setup.sh runtime

lock: setup ## work out requirements/*.txt from pyproject.toml (UPGRADE=1: take newer versions)
	@$(PY) -m venv .venv-lock && .venv-lock/bin/python -m pip install --quiet uv
	@$(COMPILE) --output-file requirements/runtime.txt >/dev/null
	@$(COMPILE) --group dev --constraint requirements/runtime.txt --output-file requirements/dev.txt >/dev/null
	@rm -rf .venv-lock
