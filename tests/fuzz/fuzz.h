/* A fuzz target is one function over bytes from outside: it must not crash, leak, or break what it
 * asserts. Each is built twice: with libFuzzer (option fuzz, clang: `make fuzz T=name S=60`) and
 * with replay.c, which the ordinary test run feeds the corpus, cut and bent in simple ways as well.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
