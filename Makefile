# Everything happens in .venv, which each target makes itself. Needs Python >= 3.10, make and a C++ compiler.
PYTHON ?= python3
BIN := .venv/bin
RUN := PATH="$(CURDIR)/$(BIN):$$PATH"
NATIVE := $(shell find native src -type f -name '*.[ch]pp') CMakeLists.txt pyproject.toml

.PHONY: demo test bench lint sanitize build english clean

demo: build  ## decode a small lattice and print the proof
	$(BIN)/certus demo

test: build lint  ## lint, types, unit tests, the README's examples
	$(BIN)/python -m pytest

bench: build  ## time every chain solver beside the installed rivals
	$(BIN)/certus bench chain

lint: build
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

build: .venv/built  ## compile the native code; after an edit only what changed

.venv/tools: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --group build --group dev
	touch $@

.venv/built: .venv/tools $(NATIVE)
	$(RUN) $(BIN)/python -m pip install --quiet --no-build-isolation --editable . --editable ./bench
	touch $@

sanitize: .venv/tools  ## the whole suite under AddressSanitizer and UBSan, in a build of its own
	test -x .venv-sanitize/bin/python || $(PYTHON) -m venv .venv-sanitize
	.venv-sanitize/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-sanitize/bin/python -m pip install --quiet --group build --group dev
	PATH="$(CURDIR)/.venv-sanitize/bin:$$PATH" .venv-sanitize/bin/python -m pip install --quiet \
		--no-build-isolation --editable ./bench --editable . -C build-dir=build/sanitize -C cmake.define.CERTUS_SANITIZE=ON
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
		ASAN_OPTIONS=detect_leaks=0 CERTUS_PROBLEMS=$${CERTUS_PROBLEMS:-2000} \
		.venv-sanitize/bin/python -m pytest -p no:cacheprovider

EWT := Trained on the English Web Treebank of Universal Dependencies, github.com/UniversalDependencies/UD_English-EWT
# The English tagger that comes with the package; needs the UD English EWT files in $(CERTUS_DATA)/ud/en_ewt.
english: build  ## train the embedded model anew
	$(BIN)/certus train tagger $(CERTUS_DATA)/ud/en_ewt/train.conllu --dev $(CERTUS_DATA)/ud/en_ewt/dev.conllu \
		--target upos+feats --epochs 8 --min-count 2 --drop 0.08 -o src/certus/models/data/en.certus \
		--licence "CC BY-SA 4.0" --attribution "$(EWT)"

clean:
	rm -rf .venv .venv-sanitize build
