# SPDX-License-Identifier: Apache-2.0
# The words that people use; CMake and Ninja do the work.
SHELL := /bin/bash
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
DUCKDB := $(CURDIR)/build/duckdb
CONFIGURE = cmake -G Ninja -S . -DFIRN_DUCKDB=$(DUCKDB)

.PHONY: all setup setup-spark setup-bench release dev clang demo test test-long bench fuzz lint fmt tsan install clean

all: release

setup:
	@tools/setup

# Spark, Iceberg's jars and firn's extension (clients/spark): for Glue jobs, and for the tests with Spark, which `make test-long` runs where this was done.
setup-spark:
	@tools/setup-spark

# The peers of `make bench` that no distribution ships.
setup-bench:
	@tools/setup-bench

release:
	@tools/setup --check
	@[ -f build/release/build.ninja ] || $(CONFIGURE) -B build/release -DCMAKE_BUILD_TYPE=RelWithDebInfo >/dev/null
	@ninja -C build/release -j $(JOBS) firn
	@ln -sf release/firn build/firn

dev:
	@[ -f build/dev/build.ninja ] || $(CONFIGURE) -B build/dev -DCMAKE_BUILD_TYPE=Debug -DFIRN_SANITIZE=ON >/dev/null
	@ninja -C build/dev -j $(JOBS)

clang:
	@[ -f build/clang/build.ninja ] || CC=clang CXX=clang++ $(CONFIGURE) -B build/clang -DCMAKE_BUILD_TYPE=Debug >/dev/null
	@ninja -C build/clang -j $(JOBS)

tsan:
	@[ -f build/tsan/build.ninja ] || $(CONFIGURE) -B build/tsan -DCMAKE_BUILD_TYPE=Debug -DFIRN_TSAN=ON >/dev/null
	@ninja -C build/tsan -j $(JOBS)

demo:
	@tools/setup --python
	@$(MAKE) --no-print-directory release
	@build/venv/bin/python tests/demo/demo.py build/firn

test:
	@tools/setup --python
	@tools/run-tests short

test-long:
	@tools/setup --python
	@tools/run-tests long

bench:
	@tools/setup --python
	@$(MAKE) --no-print-directory release
	@build/venv/bin/python bench/run.py build/firn

# make fuzz T=json SECONDS=60: one fuzzer; without T every one of them.
SECONDS ?= 30
fuzz:
	@tools/setup --python
	@[ -f build/fuzz/build.ninja ] || CC=clang CXX=clang++ $(CONFIGURE) -B build/fuzz -DCMAKE_BUILD_TYPE=Debug -DFIRN_FUZZ=ON >/dev/null
	@tools/run-fuzzers build/fuzz $(SECONDS) $(T)

lint:
	@tools/check-rooms

fmt:
	@clang-format -i $$(git ls-files '*.c' '*.h')

install: release
	install -D -m 755 build/release/firn $(DESTDIR)$(PREFIX)/bin/firn
	install -D -m 644 docs/firn.1 $(DESTDIR)$(PREFIX)/share/man/man1/firn.1
	install -D -m 644 tools/completion.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/firn
	install -d $(DESTDIR)$(PREFIX)/share/firn/awsglue
	install -m 644 clients/awsglue/*.py $(DESTDIR)$(PREFIX)/share/firn/awsglue/
	install -D -m 644 tools/firn.service $(DESTDIR)$(PREFIX)/lib/systemd/system/firn.service

clean:
	rm -rf build/release build/dev build/clang build/fuzz build/tsan build/firn
