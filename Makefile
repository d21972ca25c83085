# Earshot. `make` builds, `make run` builds and starts a service with a demo agent, `make test` runs every test.
# Missing Debian packages are installed by the same commands (tools/packages says which and what for).

BUILD ?= build
NINJA  = ninja -C
MESON  = meson setup --prefix=$(PREFIX)
PREFIX ?= /usr/local
SAN    = -Dbuildtype=debug -Db_lundef=false

.PHONY: all run test check asan tsan bench fuzz golden install clean
.DEFAULT_GOAL := all

all:
	@tools/install build voice pages
	@[ -f $(BUILD)/build.ninja ] || $(MESON) $(BUILD) >/dev/null
	@$(NINJA) $(BUILD)

run: all
	@$(BUILD)/earshot serve --demo

test: all
	@tools/install check test
	@tools/run-tests all

check: all
	@tools/install check
	@tools/check

build-asan/build.ninja:
	@$(MESON) build-asan $(SAN) -Db_sanitize=address,undefined >/dev/null
build-tsan/build.ninja:
	@$(MESON) build-tsan $(SAN) -Db_sanitize=thread >/dev/null

asan: all build-asan/build.ninja
	@tools/install test
	@tools/run-tests asan

tsan: all build-tsan/build.ninja
	@tools/run-tests tsan

valgrind: all
	@tools/install bench
	@tools/run-tests valgrind

bench: all
	@tools/install bench
	@bench/run

# make fuzz T=stun S=60: one target for so many seconds; without T all of them in turn.
T ?=
S ?= 30
fuzz:
	@tools/install build fuzz
	@tools/fuzz "$(T)" "$(S)"

# Rewrites golden files (read the change in review).
golden: all
	@tools/golden

install: all
	@DESTDIR=$(DESTDIR) meson install -C $(BUILD) --no-rebuild

clean:
	rm -rf $(BUILD) build-asan build-tsan build-fuzz
