# Two commands do everything on a machine with Python and make: `make demo` and `make test`.

PYTHON ?= python3
BIN := .venv/bin
TYPESCRIPT := 7.0.2
TSC := build/typescript-$(TYPESCRIPT)/node_modules/.bin/tsc
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: setup pretrained demo browser test test-fast fuzz check page-types format bench tables report explore pictures docs clean

setup: .venv/ready  ## the virtual environment with everything installed

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable '.[dev]'
	touch $@

pretrained: setup  ## a BERT that others have trained, for one of the tests: the files of a package, without what it needs
	$(BIN)/pip show --quiet rxnfp 2>/dev/null || $(BIN)/pip install --quiet --no-deps rxnfp==0.1.0

demo: setup  ## a trained translator answers; count a model by hand, build an encoder, follow a sentence; then train a translator and use it
	$(BIN)/glassformer translate ko-en "나는 학교에 간다" "고양이가 쥐를 잡았다" "쥐가 고양이를 잡았다"
	$(BIN)/glassformer count mini-classifier --layers 1
	$(BIN)/python examples/encoder.py
	$(BIN)/glassformer trace paper-base "나는 학교에 간다"
	$(BIN)/glassformer train ko-en --out runs/demo --resume
	$(BIN)/glassformer translate runs/demo "나는 학교에 간다" "우리 어머니께서는 매일 시장에서 꽃을 사신다" "너는 왜 이 책을 읽었니?"
	$(BIN)/glassformer evaluate runs/demo --split test --beam 1
	$(BIN)/glassformer report --run runs/demo --out runs/demo/report
	@echo "see it think, in the browser · 브라우저에서 들여다보기: $(BIN)/glassformer explore runs/demo"

test-fast: setup  ## about two minutes
	OMP_NUM_THREADS=1 $(BIN)/pytest -m "not slow and not gpu and not fuzz" -n auto --dist worksteal

test: setup pretrained browser  ## all that a CPU can show
	OMP_NUM_THREADS=1 $(BIN)/pytest -m "not gpu and not fuzz" -n auto --dist worksteal

fuzz: setup  ## what is asked by the number: hostile inputs (GLASSFORMER_FUZZ says how many, GLASSFORMER_FUZZ_RECORD where to record), a million sentences, all combinations
	OMP_NUM_THREADS=1 $(BIN)/pytest -m fuzz -n auto

# The only target that touches the system's packages: as root, after saying so; otherwise it says what is missing.
browser:  ## Chromium for the tests of the pages, and a font with Hangul
	@missing=""; \
	command -v chromium >/dev/null || missing="chromium"; \
	[ -n "$$(fc-list :lang=ko 2>/dev/null)" ] || missing="$$missing fonts-nanum"; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "apt-get update && apt-get install -y $$missing"; \
		apt-get update --quiet=2 && DEBIAN_FRONTEND=noninteractive apt-get install --quiet=2 -y $$missing || echo "not installed: $$missing; the tests that need it are skipped"; \
	else \
		echo "missing: $$missing; install with: sudo apt-get install -y $$missing (the tests that need it are skipped)"; \
	fi

check: setup page-types  ## format, lint, types, direction of imports
	$(BIN)/ruff format --check src tests examples
	$(BIN)/ruff check src tests examples
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# TypeScript is fetched once, into build/. Without Node or a registry everything else is still checked.
page-types:  ## the types of the explorer's page, where Node is present
	@if ! command -v node >/dev/null || ! command -v npm >/dev/null; then \
		echo "not checked: the types of the page, for want of Node"; \
	elif [ -x $(TSC) ] || npm install --silent --no-save --fetch-retries=0 --prefix build/typescript-$(TYPESCRIPT) typescript@$(TYPESCRIPT) 2>/dev/null >&2; then \
		$(TSC) -p jsconfig.json; \
	else \
		echo "not checked: the types of the page; npm cannot fetch typescript $(TYPESCRIPT)"; \
	fi

format: setup  ## put everything into the house's form
	$(BIN)/ruff check --fix src tests examples
	$(BIN)/ruff format src tests examples

bench: setup  ## measure on this machine; the recorded results stay as they are
	$(BIN)/glassformer bench published-sizes table3 training-step decoding

report: setup  ## the textbook as web pages and Markdown, in report/
	$(BIN)/glassformer report --out report

explore: setup  ## the web explorer, in the browser
	$(BIN)/glassformer explore

tables: setup  ## render the tables of README and docs, and the notebooks, from the recorded results
	$(BIN)/python -m glassformer.textbook.tables
	$(BIN)/python -m glassformer.textbook.notebooks

pictures: setup browser  ## the pictures of the explorer in README and docs
	PYTHONPATH=tests $(BIN)/python tests/browser/pictures.py

docs: setup  ## the documents as a site, in build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean:
	rm -rf .venv build dist src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
