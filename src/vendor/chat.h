/* A chat engine: one session (chat_llm.c) over any vendor's wire, and the dialect that tells how
 * that vendor's requests are written and its stream is read. A new wire is a dialect and a row.
 * Thread: any, but for the lane inside the account, which is a loop's. */
#pragma once

#include "vendor/account.h"
#include "vendor/chat_request.h"
#include "vendor/chat_stream.h"

struct chat_lessons;
struct engine_info;

enum { CHAT_HEADERS = 2 };

struct chat_dialect {
    const char *path;                    /* after the account's URL */
    const char *key_header, *key_prefix; /* where the key goes */
    const char *fixed[CHAT_HEADERS];     /* a further header: name, value; or NULL */
    enum err (*write)(const struct llm_request *request, const struct chat_settings *settings,
                      struct buf *out);
    chat_read_fn *read;
};

extern const struct chat_dialect openai_dialect, anthropic_dialect;

/* What the sessions of one engine share. */
struct chat_engine {
    struct account account;
    const struct chat_dialect *dialect;
    char *authorization; /* the key with its prefix; NULL: no key */
    char *reasoning;
    struct chat_lessons *lessons; /* one for each model of the catalog */
    size_t model_count;
};

/* NULL: the section lacks what is needed. */
struct chat_engine *chat_engine_new(struct vendor *vendor, const struct config *config,
                                    const struct engine_info *info, const struct account_plan *plan,
                                    const struct chat_dialect *dialect);
void chat_engine_free(void *state);
