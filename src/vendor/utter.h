/* The wire of a speaker (vendor/speaker.h) over a vendor's WebSocket that several sentences share,
 * and several calls where the dialect says so: each sentence has a context of its own
 * (vendor/trunk.h). The connection is there when the session is opened, so that no sentence waits
 * for it; one that the vendor closes while nothing is said is opened anew. Over a shared one, it is
 * a sentence that waits for its place in the engine's lane. What messages mean is the dialect.
 * Thread: the call's loop. */
#pragma once

#include "base/buf.h"
#include "vendor/account.h"
#include "vendor/socket.h"
#include "vendor/speaker.h"
#include "vendor/trunk.h"

struct config;
struct js;
struct utter;

enum { UTTER_HEADERS = 2 };

struct utter_dialect {
    const char *standard_url;
    const char *key_header, *key_prefix;
    const char *fixed[UTTER_HEADERS]; /* a further header, or NULL */
    /* Path and query after the account's URL. */
    void (*write_target)(const struct speaker *speaker, struct buf *out);
    /* The messages of one sentence; a line feed between two. */
    void (*write_say)(const struct speaker *speaker, const char *context, const char *text,
                      struct buf *out);
    void (*write_stop)(const char *context, struct buf *out);
    const char *quiet_text;
    int64_t quiet_us;
    const char *farewell;
    const struct socket_code *codes;
    size_t calls_max;    /* on one connection; 1: each has its own */
    size_t contexts_max; /* that a connection takes at once; 0: many */
    const char *(*context_of)(const struct js *message); /* NULL: it names none */
    /* Of the context under way, or naming none. */
    void (*read)(struct utter *utter, const struct js *message);
    int rate_hz;
    bool has_opus; /* its sound is Opus where that is asked for */
};

/* The state of an engine. */
struct utter_engine {
    struct account account;
    const struct utter_dialect *dialect;
    struct trunk_kind trunk;
    char *authorization;
    bool wants_opus, is_raw; /* by its setting `format`; a packet a message, in no container */
};

bool utter_configure(void *env, const struct config *config, const struct engine_info *info,
                     const struct utter_dialect *dialect, void **out_state);
void utter_unconfigure(void *state);

/* For a dialect that can ask for Opus: whether this session does. */
bool utter_wants_opus(const struct speaker *speaker);
/* For the dialects: of the sentence under way. */
void utter_sound(struct utter *utter, const char *base64);
void utter_done(struct utter *utter);
void utter_failed(struct utter *utter, enum engine_error error, const char *message);
