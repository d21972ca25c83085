/* What the model reads. The system instruction is written once for a call: the agent's own words
 * with {{variables}} filled, what before_call tools answered, and the writing rules for speech and
 * language; `prompt.system` of a call replaces all of it, as written. A request is that, the
 * history, the passages found, and what the caller says now. Thread: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/buf.h"
#include "engine/llm.h"
#include "text/template.h"

struct arena;
struct history;

enum {
    PROMPT_SYSTEM_MAX_BYTES = 1024 * 1024,  /* 25,000 characters, their variables, tool answers */
    PROMPT_PASSAGES_MAX_BYTES = 256 * 1024, /* those that do not fit are left out */
};

struct prompt_fact { /* the answer of a before_call tool */
    const char *name;
    const char *answer; /* NULL: it failed */
};

struct prompt_config {
    const char *instructions; /* the agent's, or `prompt.system` */
    bool is_verbatim;         /* `prompt.system`: nothing is filled in or added */
    template_fn *value_of;
    void *value_arg;
    const struct prompt_fact *facts;
    size_t fact_count;
    const char *language_label; /* "Hindi", as the catalog calls it */
    const char *iso;
    bool is_language_sent; /* the call names another language than the agent's */
    bool has_documents;
};
enum err prompt_system(const struct prompt_config *config, struct buf *out) MUST_USE;

struct prompt_turn {
    const char *system;
    const struct history *history;
    const char *caller;      /* what the caller says now; NULL: it is in the history already */
    const char *instruction; /* one more line for this answer only, or NULL */
    bool has_documents;
    const struct llm_passage *passages;
    size_t passage_count;
    size_t passage_tokens; /* those beyond are left out */
};
/* What passages, the caller and the instruction take of what the model can hold. */
size_t prompt_turn_tokens(const struct prompt_turn *turn);
/* Fills the messages of a request; memory of the arena, texts borrowed. */
void prompt_messages(const struct prompt_turn *turn, struct arena *arena, struct llm_request *out);

/* The built-in tools as the model sees them. */
extern const struct llm_tool prompt_end_call, prompt_change_language;
