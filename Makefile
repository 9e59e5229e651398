# Every target first sets up .venv (.ci/set-up.sh; nothing to do when that is done).
BIN := .venv/bin
BENCHMARKS := $(patsubst benchmarks/%.py,%,$(filter-out benchmarks/_%,$(wildcard benchmarks/*.py)))

.PHONY: help set-up study test test-slow lint bench docs clean

help:
	@sed -n 's/^\([a-z-]*\):.*## /make \1\t/p' Makefile

study: set-up ## run the default study and write its report, results/default/report.html
	$(BIN)/overlaybench study compare/default_study.toml --out results/default
	$(BIN)/overlaybench report results/default

test: set-up ## run the tests, but for the slow ones, on two cores
	$(BIN)/python -m pytest -n 2 --dist loadfile

test-slow: set-up ## run the tests that take minutes each
	$(BIN)/python -m pytest -m slow -n 2 --dist loadfile

lint: set-up ## check style, format and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: set-up ## run every benchmark
	@set -e; for name in $(BENCHMARKS); do echo "== $$name"; $(BIN)/python -m benchmarks.$$name; done

docs: set-up ## build the documentation, site/index.html; needs no network
	@echo "docs: running the notebooks and building the pages, some minutes"
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "docs: open site/index.html in a browser"

clean: ## remove the environment and the caches; results/ stays
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis build site *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

set-up:
	@.ci/set-up.sh
