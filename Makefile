# Every target makes .venv first when it is missing or older than pyproject.toml; each installs what it needs.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
FRESH := .venv/.filled

SCALE := scale-million scale-subspace scale-ten-million scale-rows scale-rows-subspace scale-width scale-store \
	scale-checkpoints scale-kills report-million

DOCUMENTED := .venv/.documented
TESTED := .venv/.tested
COMPILED := .venv/.compiled

.PHONY: help demo test test-all test-long test-min test-new lint format docs browser bench bench-cluster bench-scale reproduce torture clean

help:
	@echo "make demo   a small end-to-end run on a generated table"
	@echo "make test   the test suite, in a few minutes"
	@echo "make test-all  the same, and what is long: whole matrices of cases, calibration, other random tables on every commit"
	@echo "make test-min, test-new  the tests with the lowest and with the newest versions of every library"
	@echo "make lint   ruff and mypy, as CI runs them"
	@echo "make format ruff's formatter and its safe fixes"
	@echo "make docs   the documentation, into site/; warnings are errors"
	@echo "make browser  what the tests of the report in a browser need beside chromium"
	@echo "make bench  the benchmarks; appends to benchmarks/results/"
	@echo "make bench-scale  the long ones: tables of a gigabyte and more"
	@echo "make bench-cluster  Dask workers beside threads, and a store on an object store"
	@echo "make reproduce  every table and figure of the papers (hours; a stopped run goes on)"
	@echo "make torture  faults, kills, hostile input and long runs at full size (hours)"
	@echo "make clean  remove .venv, caches and the demo's files"

$(INSTALLED): pyproject.toml
	@echo "==> making .venv with $(PYTHON) and installing Fernwood into it (first time: half a minute or more)"
	@$(PYTHON) -c 'import sys; sys.exit("Fernwood needs Python 3.11 or newer, this is " + sys.version.split()[0] + ": make PYTHON=python3.12 ...") if sys.version_info < (3, 11) else None'
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

# The demo compiles what it uses, and nothing else.
demo: $(INSTALLED)
	@$(BIN)/fernwood demo --out demo

$(FRESH): $(INSTALLED)
	@echo "==> installing what tests and tools need"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,plot]'
	@touch $@

$(COMPILED): $(INSTALLED)
	@echo "==> compiling all of the numerical code (first time: about a minute)"
	@$(BIN)/python -m fernwood.kernels
	@touch $@

# What optional formats and clusters need, and what stands in for an object store: lint does without.
$(TESTED): $(FRESH)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@

# Compiling takes no network, and installing no processor to speak of.
test:
	@$(MAKE) --no-print-directory -j 2 $(TESTED) $(COMPILED)
	@echo "==> running the tests"
	@$(BIN)/python -m pytest -n 2 --dist worksteal

# Tables follow from FERNWOOD_SEED, by default the beginning of the commit's hash; a failure prints how to see it again.
test-long: $(TESTED) $(COMPILED)
	@echo "==> running the long tests"
	@$(BIN)/python -m pytest -n 2 --dist worksteal -m long tests

test-all: test test-long

# Environments of their own, and caches of their own for what is compiled. anndata holds pandas back, so the newest
# versions are tested without it; `make test` has it.
MIN := .venv-min
NEW := .venv-new
ROOMS := tests/cli tests/store tests/sources tests/contracts tests/search tests/selectors tests/models tests/relevance \
	tests/report tests/run tests/theory tests/work
TESTS ?= $(ROOMS)

$(MIN)/.filled: pyproject.toml torture/versions.py $(FRESH)
	@echo "==> making $(MIN) with the lowest versions that pyproject.toml allows"
	@$(PYTHON) -m venv --clear $(MIN)
	@$(BIN)/python -m torture.versions > $(MIN)/pins.txt
	@$(MIN)/bin/python -m pip install --quiet --disable-pip-version-check --constraint $(MIN)/pins.txt --editable '.[test]'
	@touch $@

$(NEW)/.filled: pyproject.toml
	@echo "==> making $(NEW) with the newest versions that there are"
	@$(PYTHON) -m venv --clear $(NEW)
	@$(NEW)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,plot,hdf5,zarr,dask,remote]' \
		bed-reader s3fs 'moto[s3]' flask flask-cors
	@touch $@

# Old libraries use what newer ones below them call deprecated: theirs to mend, and mended since.
test-min: WARNINGS := -W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning -W ignore::FutureWarning \
	-W 'ignore:The codec' -W 'ignore:The data type'
test-min: $(MIN)/.filled
test-new: $(NEW)/.filled
test-min test-new: test-%:
	@$(<D)/bin/python -m pip check
	@NUMBA_CACHE_DIR=$(CURDIR)/$(<D)/compiled $(<D)/bin/python -m fernwood.kernels
	@NUMBA_CACHE_DIR=$(CURDIR)/$(<D)/compiled $(<D)/bin/python -m pytest -n 2 --dist worksteal $(WARNINGS) $(TESTS)

lint: $(FRESH)
	@echo "==> ruff format, ruff check, mypy"
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy

format: $(FRESH)
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

$(DOCUMENTED): $(FRESH)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

docs: $(DOCUMENTED)
	@echo "==> building the documentation; open site/index.html"
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

browser: $(FRESH)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[browser]'
	@npm install --silent --no-save --no-audit --no-fund --prefix .browser axe-core

bench: $(FRESH) $(COMPILED)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@echo "==> running all benchmarks (long; benchmarks/run.py CASE runs one)"
	@$(BIN)/python benchmarks/run.py

bench-cluster: $(TESTED) $(COMPILED)
	@echo "==> running the benchmarks of clusters and object stores (minutes)"
	@$(BIN)/python benchmarks/run.py cluster-dask cluster-object-store cluster-units --results benchmarks/results/cluster.jsonl

bench-scale: $(FRESH) $(COMPILED)
	@echo "==> running the benchmarks of scale (minutes, and gigabytes in benchmarks/scratch)"
	@$(BIN)/python benchmarks/run.py $(SCALE) --results benchmarks/results/scale.jsonl

reproduce: $(FRESH) $(COMPILED)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@echo "==> reproducing the papers into experiments/results/ and docs/reproduction.md"
	@$(BIN)/python -m experiments all

torture: $(TESTED) $(COMPILED)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[torture]'
	@echo "==> trying to break Fernwood; figures go to torture/results/ and docs/trust.md"
	@$(BIN)/python -m torture all

clean:
	rm -rf .venv $(MIN) $(NEW) .browser demo site benchmarks/scratch experiments/scratch torture/scratch .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
