# Everything here needs only Python 3.11 or newer, make, and a PyPI mirror.
#   make demo   the main job on real input: starts MCP servers, searches their tools, calls one
#   make test   formatting, lint, types, import rules and tests; make coverage says which lines they run
#   make fuzz   random and coverage-guided inputs, about five minutes; FUZZ_EXAMPLES and FUZZ_SECONDS for more
#   make docs   the documentation as a site, in build/docs
#   make audit  known vulnerabilities of everything that is installed here; asks PyPI's advisory service
#   make eval   every ranker on every dataset; writes eval/reports and the figures in docs/evaluation.md

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core
DEV := $(VENV)/.dev
DOCS := $(VENV)/.docs
AUDIT := $(VENV)/.audit
FUZZ := $(VENV)/.fuzz
PIP := $(BIN)/python -m pip --disable-pip-version-check
# The public retrieval data: TOOLSEARCH_DATA is where it lies unpacked, DATA_ARCHIVES where the archives are.
DATA_ARCHIVES ?= ../shared/data
TOOLSEARCH_DATA ?= .data/eval
export TOOLSEARCH_DATA
# What `make eval` compares, and where it keeps what it finds.
ARMS ?= full,keyword,anthropic-bm25,anthropic-regex,bm25,flat-bm25,semantic,rrf,hybrid
RUN ?= .data/run
# How much `make fuzz` tries: inputs of each property, and seconds of the coverage-guided runs together.
FUZZ_EXAMPLES ?= 50
FUZZ_SECONDS ?= 150

.PHONY: demo test coverage fuzz docs audit check-data bench eval baseline format clean

demo: $(CORE)
	@$(BIN)/python demo/install_servers.py
	@$(BIN)/toolsearch demo

test: $(DEV)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy tests/test_public_types.py
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -m "not data and not slow"

coverage: $(DEV)
	$(BIN)/python -m pytest -q -m "not data and not slow" --cov --cov-report=term:skip-covered

# --strict: a package that the service does not answer for fails the check instead of passing it.
audit: $(AUDIT)
	$(BIN)/pip-audit --strict --no-deps --disable-pip --progress-spinner off --requirement constraints.txt

fuzz: $(FUZZ)
	@status=0; FUZZ_EXAMPLES=$(FUZZ_EXAMPLES) $(BIN)/python -m pytest -q tests/fuzz tests/stateful || status=1; \
		$(BIN)/python tests/fuzz/coverage_guided.py --seconds $(FUZZ_SECONDS) || status=1; exit $$status

check-data: $(DEV) | data
	$(BIN)/python -m pytest -m "data or slow" -rs

# An arm that cannot run on some dataset (exit code 1) is a row that says why.
eval: $(DEV) | data
	$(BIN)/toolsearch eval run --data own --data $(TOOLSEARCH_DATA) --queries 0 --rankers $(ARMS) \
		--sizes --conversations --out $(RUN) || test $$? -eq 1
	$(BIN)/toolsearch eval report $(RUN)/results.json --into docs/evaluation.md --summary eval/reports/results.json \
		--markdown eval/reports/results.md --title "Every task, arm and slice"

# Warnings are errors: what a page or a docstring refers to must exist. Nothing is fetched.
docs: $(DOCS)
	@$(BIN)/python -m sphinx -q -W --keep-going -j auto -b html -d build/.docs docs build/docs
	@echo "Open build/docs/index.html"

baseline: $(DEV)
	$(BIN)/toolsearch eval baseline

bench: $(CORE)
	$(BIN)/toolsearch bench

format: $(DEV)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) .venvs dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .coverage

.PHONY: data
data:
	@if [ ! -d $(TOOLSEARCH_DATA) ] && [ -f $(DATA_ARCHIVES)/eval.tar.gz ]; then \
		mkdir -p $(TOOLSEARCH_DATA) && tar xzf $(DATA_ARCHIVES)/eval.tar.gz -C $(dir $(TOOLSEARCH_DATA)); fi

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "semantic_toolsearch needs Python 3.11 or newer; run: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	@echo "Making a virtual environment in $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --quiet --constraint constraints.txt pip

$(CORE): pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing semantic_toolsearch and what it needs ..."
	@$(PIP) install --quiet --constraint constraints.txt --editable '.[mcp]'
	@touch $@

$(DOCS): pyproject.toml constraints.txt | $(CORE)
	@echo "Installing what building the documentation needs ..."
	@$(PIP) install --quiet --constraint constraints.txt --editable '.[mcp]' --group docs
	@touch $@

$(DEV): pyproject.toml constraints.txt | $(CORE)
	@echo "Installing what the tests need ..."
	@$(PIP) install --quiet --constraint constraints.txt --editable '.[mcp,openai,eval,hub]' --group test --group lint --group docs
	@$(PIP) install --quiet --constraint constraints.txt --no-deps bfcl-eval  # its data is read, its code never runs
	@touch $@

# Where atheris has no wheel, pip leaves it out by the markers of its group, and only the properties are tried.
$(FUZZ): pyproject.toml constraints.txt | $(DEV)
	@echo "Installing the coverage-guided fuzzer ..."
	@$(PIP) install --quiet --constraint constraints.txt --only-binary atheris --group fuzz || \
		echo "atheris cannot be installed here"
	@touch $@

$(AUDIT): pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing pip-audit ..."
	@$(PIP) install --quiet --constraint constraints.txt --group audit
	@touch $@
