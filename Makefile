# Earshot. `make` builds, `make run` builds and starts a service with a demo agent, `make test` runs every test.
# Missing Debian packages are installed by the same commands (tools/packages says which and what for).

BUILD ?= build
NINJA  = ninja -C
MESON  = meson setup --prefix=$(PREFIX)
PREFIX ?= /usr/local
SAN    = -Dbuildtype=debug -Db_lundef=false

.PHONY: all everything run test stand-ins test-repeat mutate chaos soak check asan tsan bench fuzz golden install clean
.DEFAULT_GOAL := all

all:
	@tools/install build voice pages
	@[ -f $(BUILD)/build.ninja ] || $(MESON) $(BUILD) >/dev/null
	@$(NINJA) $(BUILD) earshot earshot-voice

# The tests, the benchmarks and the fuzz replays as well.
everything: all
	@$(NINJA) $(BUILD)

run: all
	@$(BUILD)/earshot serve --demo

test: everything
	@tools/install check test
	@tools/run-tests all

# Every vendor's wire on one port of this machine, with settings to try the network engines without an account.
stand-ins:
	@node tests/fake/vendors/server.mjs $(PORT)

# make test-repeat N=20: the whole suite so many times; BUSY=1: with every core otherwise busy.
N ?= 20
test-repeat: everything
	@tools/install check test
	@tools/test-repeat $(N)

# make soak H=8: the chaos test for so many hours, each side with another seed; make chaos S=90 SEED=7: each side once, for so many seconds.
H ?= 8
SEED ?=
CHAOS_SIDES ?= asan:sqlite,tsan:postgresql,asan:postgresql,tsan:sqlite
chaos soak: everything build-asan/build.ninja build-tsan/build.ninja
	@tools/install test
	@$(NINJA) build-asan earshot
	@$(NINJA) build-tsan earshot
	@[ -d tests/node_modules ] || npm --prefix tests ci --silent --no-audit --no-fund
	@$(if $(SEED),SEED=$(SEED)) SIDES=$(CHAOS_SIDES) $(if $(filter soak,$@),HOURS=$(H) SECONDS=600,SECONDS=$(S)) node tests/chaos/run.mjs

check: everything
	@tools/install check
	@tools/check

build-asan/build.ninja:
	@$(MESON) build-asan $(SAN) -Db_sanitize=address,undefined >/dev/null
build-tsan/build.ninja:
	@$(MESON) build-tsan $(SAN) -Db_sanitize=thread >/dev/null

asan: everything build-asan/build.ninja
	@tools/install test
	@tools/run-tests asan

tsan: everything build-tsan/build.ninja
	@tools/run-tests tsan

valgrind: everything
	@tools/install bench
	@tools/run-tests valgrind

# Breaks the code in N places, one at a time, and prints what no test notices (docs/mutation.md).
mutate: N = 150
mutate: everything
	@tools/install test
	@[ -d tests/node_modules ] || npm --prefix tests ci --silent --no-audit --no-fund
	@tools/mutate -n $(N) -s $(or $(SEED),1)

bench: everything
	@tools/install bench
	@bench/run

# make fuzz T=stun S=60: one target for so many seconds; without T all of them in turn.
T ?=
S ?= 30
fuzz:
	@tools/install build fuzz
	@tools/fuzz "$(T)" "$(S)"

# Rewrites golden files (read the change in review).
golden: everything
	@tools/golden

install: all
	@DESTDIR=$(DESTDIR) meson install -C $(BUILD) --no-rebuild

clean:
	rm -rf $(BUILD) build-asan build-tsan build-fuzz build-mutants
