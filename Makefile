# make demo · make test · make check · make bench · make fuzz    (each sets up what it needs)
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: demo test check bench fuzz pins clean

# Byte code is made here, since where Python is told to write none every command would compile all of it again.
$(STAMP): requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11, 5))' || { echo "tallystick needs Python 3.11.5 or newer; set PYTHON=/path/to/python3.11" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	$(BIN)/python -m compileall -q src
	@touch $@

demo: $(STAMP)
	$(BIN)/tally demo

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry src

test: check
	$(BIN)/python -m pytest -n 2

bench: $(STAMP)
	$(BIN)/python -m benchmarks.speed
	$(BIN)/python -m benchmarks.quality
	$(BIN)/python -m benchmarks.accountability

fuzz: $(STAMP)
	$(BIN)/python -m pytest -n 2 --hypothesis-profile=fuzz tests

pins:
	uv pip compile --quiet --universal --generate-hashes --no-header --no-emit-index-url --python-version 3.11 --group dev pyproject.toml -o requirements/dev.txt

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .import_linter_cache .hypothesis
