# Everything happens in .venv, which each target makes itself. Needs Python >= 3.10, make and a C++ compiler.
PYTHON ?= python3
SHELL := /bin/bash
BIN := .venv/bin
RUN := PATH="$(CURDIR)/$(BIN):$$PATH"
NATIVE := $(shell find native src -type f -name '*.[ch]pp') CMakeLists.txt pyproject.toml

.PHONY: demo test attack bench lint tidy sanitize threads coverage fuzz peers properties robustness review build english clean

demo: build  ## decode a small lattice and print the proof
	$(BIN)/certus demo

test: build lint  ## lint, types, unit tests, the README's examples
	$(BIN)/python -m pytest -n auto

SECONDS ?= 600
attack: build .venv/dev  ## brute force against every kind of problem and method, for SECONDS
	$(BIN)/python -m tests.attack --seconds $(SECONDS)

bench: build  ## time every chain solver beside the installed rivals
	$(BIN)/certus bench chain

lint: build .venv/dev tidy  ## layout, likely mistakes and types, in Python and in C++
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(filter native/%,$(NATIVE))
	$(BIN)/mypy

# Bindings are left out: nanobind's templates take longer to check than all kernels together.
KERNELS := $(filter-out native/bindings/%,$(filter %.cpp,$(NATIVE)))
CHECKED := $(KERNELS:%.cpp=build/tidy/%.checked)
tidy: build/tidy/compile_commands.json  ## clang-tidy over the kernels that changed since it ran last
	$(MAKE) --no-print-directory -j $$(getconf _NPROCESSORS_ONLN) $(CHECKED)

build/tidy/compile_commands.json: .venv/dev CMakeLists.txt $(KERNELS)
	$(RUN) cmake -S . -B build/tidy -G Ninja -DPython_EXECUTABLE="$(CURDIR)/$(BIN)/python" -DCERTUS_TIDY=ON \
		--log-level=WARNING
	touch $@

build/tidy/%.checked: %.cpp .clang-tidy $(filter native/%.hpp,$(NATIVE))
	$(BIN)/clang-tidy -p build/tidy --quiet $<
	@mkdir -p $(@D)
	@touch $@

build: .venv/built  ## compile the native code; after an edit only what changed

# Tools of tests and checks are installed when these first run, so that the first build does not wait for them.
.venv/tools: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --group build
	touch $@

# .ci/run adds torch, which is large.
DEV_GROUPS := --group dev
.venv/dev: .venv/tools
	$(BIN)/python -m pip install --quiet $(DEV_GROUPS)
	touch $@

INSTALL := -m pip install --verbose --no-build-isolation --editable . --editable ./bench
# One line that counts compiled files; all of pip's output is in build/install.log.
COUNT := awk '/^ *\[[0-9]+\/[0-9]+\]/ { printf "\r%s files compiled", $$1; fflush() } END { print "" }'
.venv/built: .venv/tools $(NATIVE)
	@mkdir -p build
	@echo "Compiling the native code: some minutes the first time, then only what changed"
	@set -o pipefail; $(RUN) $(BIN)/python $(INSTALL) 2>&1 | tee build/install.log | $(COUNT) \
		|| { tail -n 60 build/install.log; exit 1; }
	touch $@

sanitize: .venv/tools  ## the whole suite under AddressSanitizer and UBSan, then `threads`, in builds of their own
	test -x .venv-sanitize/bin/python || $(PYTHON) -m venv .venv-sanitize
	.venv-sanitize/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-sanitize/bin/python -m pip install --quiet --group build --group dev
	PATH="$(CURDIR)/.venv-sanitize/bin:$$PATH" .venv-sanitize/bin/python -m pip install --quiet \
		--no-build-isolation --editable ./bench --editable . -C build-dir=build/sanitize -C cmake.define.CERTUS_SANITIZE=ON
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
		ASAN_OPTIONS=detect_leaks=0 CERTUS_PROBLEMS=$${CERTUS_PROBLEMS:-2000} \
		.venv-sanitize/bin/python -m pytest -n auto -p no:cacheprovider
	$(MAKE) --no-print-directory threads

THREADED := tests/hostile/test_threads.py
# Python itself is not instrumented, so its own locks are unknown: what it does is suppressed in tests/tsan.supp.
threads: .venv/tools  ## the tests of shared objects under ThreadSanitizer, in a build of its own
	test -x .venv-threads/bin/python || $(PYTHON) -m venv .venv-threads
	.venv-threads/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-threads/bin/python -m pip install --quiet --group build --group test
	PATH="$(CURDIR)/.venv-threads/bin:$$PATH" .venv-threads/bin/python -m pip install --quiet --no-build-isolation \
		--editable ./bench --editable . -C build-dir=build/threads -C cmake.define.CERTUS_SANITIZE_THREADS=ON
	LD_PRELOAD="$$($(CXX) -print-file-name=libtsan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
		TSAN_OPTIONS="suppressions=$(CURDIR)/tests/tsan.supp halt_on_error=1 exitcode=66" \
		.venv-threads/bin/python -m pytest -p no:cacheprovider $(THREADED)

coverage: .venv/tools  ## the lines that the tests run, in Python and in C++, in a build of its own
	test -x .venv-coverage/bin/python || $(PYTHON) -m venv .venv-coverage
	.venv-coverage/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-coverage/bin/python -m pip install --quiet --group build --group test --group coverage
	PATH="$(CURDIR)/.venv-coverage/bin:$$PATH" .venv-coverage/bin/python -m pip install --quiet \
		--no-build-isolation --editable ./bench --editable . -C build-dir=build/coverage -C cmake.define.CERTUS_COVERAGE=ON
	find build/coverage -name '*.gcda' -delete
	CERTUS_PROBLEMS=$${CERTUS_PROBLEMS:-2000} .venv-coverage/bin/coverage run -m pytest -p no:cacheprovider
	.venv-coverage/bin/coverage report --skip-covered --sort=cover | tail -n 30
	.venv-coverage/bin/gcovr --root . --filter native/ --object-directory build/coverage --print-summary \
		--txt build/coverage/native.txt --gcov-ignore-parse-errors=negative_hits.warn_once_per_file \
		--gcov-ignore-parse-errors=suspicious_hits.warn_once_per_file

MINUTES ?= 10
fuzz: .venv/tools  ## fuzz the readers, the loaders and the command line; what was found is in build/fuzz
	test -x .venv-fuzz/bin/python || $(PYTHON) -m venv .venv-fuzz
	.venv-fuzz/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-fuzz/bin/python -m pip install --quiet --group build --group fuzz
	PATH="$(CURDIR)/.venv-fuzz/bin:$$PATH" .venv-fuzz/bin/python -m pip install --quiet \
		--no-build-isolation --editable ./bench --editable . -C build-dir=build/fuzz-build
	.venv-fuzz/bin/python -m tests.fuzz --minutes $(MINUTES)

peers: .venv/tools  ## the test suites of other packages, with Certus in their place
	test -x .venv-peers/bin/python || $(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-peers/bin/python -m pip install --quiet --group build --group peers
	PATH="$(CURDIR)/.venv-peers/bin:$$PATH" .venv-peers/bin/python -m pip install --quiet \
		--no-build-isolation --editable . -C build-dir=build/peers-build
	.venv-peers/bin/python -m tests.peers

EXAMPLES ?= 5000
properties: build  ## answers over the whole range of floats against exact sums, for EXAMPLES problems of each kind
	mkdir -p build
	CERTUS_EXAMPLES=$(EXAMPLES) CERTUS_RECORD=$(CURDIR)/build/properties.jsonl \
		$(BIN)/python -m pytest tests/hostile -k test_properties

robustness: .venv/dev  ## write docs/robustness.md anew from what properties, fuzz and peers left in build
	$(BIN)/python -m tests.hostile.page

review: .venv/dev  ## what the reviewers of scientific Python packages ask for
	$(BIN)/python -m pip install --quiet --group review
	$(BIN)/repo-review .
	$(BIN)/cffconvert --validate -i CITATION.cff

EWT := Trained on the English Web Treebank of Universal Dependencies, github.com/UniversalDependencies/UD_English-EWT
# The English tagger and parser that come with the package; need the UD English EWT files in $(CERTUS_DATA)/ud/en_ewt.
english: build  ## train the embedded models anew
	$(BIN)/certus train tagger $(CERTUS_DATA)/ud/en_ewt/train.conllu --dev $(CERTUS_DATA)/ud/en_ewt/dev.conllu \
		--target upos+feats --epochs 8 --min-count 2 --drop 0.08 -o src/certus/models/data/en.certus \
		--licence "CC BY-SA 4.0" --attribution "$(EWT)"
	$(BIN)/certus train parser $(CERTUS_DATA)/ud/en_ewt/train.conllu --dev $(CERTUS_DATA)/ud/en_ewt/dev.conllu \
		--folds 5 --hash-bits 22 --epochs 8 --no-checkpoint -o src/certus/models/data/en-parser.certus \
		--licence "CC BY-SA 4.0" --attribution "$(EWT)"

clean:
	rm -rf .venv .venv-sanitize .venv-threads .venv-coverage .venv-fuzz .venv-peers build
