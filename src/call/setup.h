/* What a call does before it is set up: runs the before_call tools, all at once, gathers the words
 * of the agent's documents for recognisers that build a language model of them; then it writes the
 * instructions, the greeting and the tools as the conversation and the model need them.
 * Thread: the call's loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/loop.h"
#include "engine/llm.h"
#include "talk/prompt.h"
#include "talk/talk.h"

struct call_plan;
struct call_tools;
struct config;
struct store;

enum {
    SETUP_MAX_US = 30 * 1000 * 1000, /* contract, before_call */
    SETUP_TOOLS_MAX = 100,           /* contract, Bounds: toolIds */
    SETUP_VOCABULARY_MAX_BYTES = 96 * 1024,
};

struct setup;
typedef void setup_fn(void *arg);

struct setup_config {
    struct loop *loop;
    struct store *store;
    struct call_tools
        *tools; /* borrowed; it gets the call's variables, with the agent's defaults */
    const struct config *config;
    const struct call_plan *plan; /* borrowed for the setup's life */
    setup_fn *on_ready;           /* once, never from inside setup_start() */
    void *arg;
};

struct setup *setup_start(const struct setup_config *config);
void setup_free(struct setup *setup); /* also before it is ready */
DEFINE_AUTO(setup)

/* When it is ready. Texts live as long as the setup and the plan. */
enum err setup_talk(struct setup *setup, const char *iso, struct talk_config *out) MUST_USE;
/* The agent's documents, greeting and instructions, with its variables' defaults: the same for each
 * of its calls, so that a language model made of it serves them all. */
const char *setup_vocabulary(struct setup *setup);
/* The call's instructions and greeting, and the documents. */
const char *setup_words(struct setup *setup);
/* After setup_talk(): a sentence that names tools for which there was no room; NULL: none. */
const char *setup_left_out(const struct setup *setup);
/* After setup_talk(): the greeting is too long when it is filled in, and is not said. */
bool setup_left_out_greeting(const struct setup *setup);
