# Every target creates and updates .venv first; nothing is installed outside it.
# Pass options in ARGS:  make run ARGS="--no-web --gateway-port 9000"    make test ARGS="tests/gateway -x"
# Run `make check` before each commit and `make test` before each push.

PY := .venv/bin/python
UV := .venv-lock/bin/python -m uv
COMPILE = $(UV) pip compile --quiet --universal --python-version 3.12 --generate-hashes --no-emit-index-url \
	--no-annotate --custom-compile-command "make lock" $(if $(UPGRADE),--upgrade) pyproject.toml
ARGS ?=
# A worker that has run its tests takes over some of another's; tests/conftest.py sets how many workers there are.
# `-n 0` in ARGS runs all tests in one process, for use with a debugger.
PYTEST := $(PY) -m pytest -n auto --dist worksteal
# Tests start dozens of interpreters. Without compiled files, each would compile everything that it imports.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run test check lint format bench bench-detection docs build setup setup-runtime lock

help: ## show this help
	@sed -n 's/^\([a-z-]*\):.*## /  make \1	/p' Makefile | expand -t 24

run: setup-runtime ## start gateway, proxy and mitmweb on this machine
	@exec $(PY) run_proxy.py serve $(ARGS)

test: setup ## run all tests
	@$(PYTEST) $(ARGS)

check: setup ## check style and types, and run the fast tests (about a minute)
	@$(PY) -m mypy & types=$$!; \
	$(PY) -m ruff check . && $(PY) -m ruff format --check . && $(PYTEST) -m "not slow" --ignore tests/e2e $(ARGS); \
	status=$$?; wait $$types && exit $$status

lint: setup ## check style, prose, imports, types, size, and for common weaknesses
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@.venv/bin/lint-imports --no-logo
	@$(PY) -m bandit --quiet --configfile pyproject.toml --recursive run_proxy.py addons gateway scripts
	@$(PY) -m mypy
	@.venv/bin/hadolint Dockerfile
	@$(PY) -m scripts.prose
	@$(PY) -m scripts.path_figures
	@$(PY) -m scripts.tree_figures

format: setup ## format the code and apply safe lint fixes
	@$(PY) -m ruff check --fix-only .
	@$(PY) -m ruff format .

bench: setup ## measure against bare mitmproxy (benchmarks/)
	@$(PY) benchmarks/proxy.py $(ARGS)

bench-detection: setup ## measure detection alone: ms per KB, adversarial texts, long conversations
	@$(PY) -m benchmarks.detection $(ARGS)

docs: setup ## regenerate the generated pages in docs/
	@$(PY) -m scripts.settings_reference > docs/settings.md.new && mv docs/settings.md.new docs/settings.md
	@$(PY) -m scripts.api_reference > docs/api.md.new && mv docs/api.md.new docs/api.md
	@$(PY) -m scripts.errors_reference > docs/errors.md.new && mv docs/errors.md.new docs/errors.md
	@$(PY) -m scripts.entities_reference > docs/entities.md.new && mv docs/entities.md.new docs/entities.md
	@$(PY) -m scripts.licences > docs/licences.md.new && mv docs/licences.md.new docs/licences.md
	@$(PY) -m scripts.sbom > docs/sbom.new && mv docs/sbom.new requirements/sbom.cdx.json

build: setup ## build wheel and source archive in dist/; the same commit gives the same bytes
	@rm -rf dist
	@SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(PY) -m hatchling build --target wheel --target sdist

setup: ## install the packages for development and tests
	@sh scripts/setup.sh dev

setup-runtime: ## install the run-time packages only
	@sh scripts/setup.sh runtime

lock: setup ## update the lock files in requirements/ from pyproject.toml (UPGRADE=1: upgrade packages)
	@$(PY) -m venv .venv-lock && .venv-lock/bin/python -m pip install --quiet uv
	@$(COMPILE) --output-file requirements/runtime.txt >/dev/null
	@$(COMPILE) --extra attachments --constraint requirements/runtime.txt --output-file requirements/attachments.txt >/dev/null
	@$(COMPILE) --group dev --constraint requirements/runtime.txt --output-file requirements/dev.txt >/dev/null
	@$(COMPILE:pyproject.toml=) --group build --constraint requirements/dev.txt --output-file requirements/build.txt >/dev/null
	@rm -rf .venv-lock
