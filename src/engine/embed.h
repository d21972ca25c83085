/* Texts to vectors, for a search by meaning. Vectors have unit length, so that their dot product is
 * their cosine; those of different models, or of different lengths, must never be compared: keep
 * the model's name with them. Thread: a loop that was given to vendor_add_loop(). See engine.h. */
#pragma once

#include <stddef.h>

#include "engine/engine.h"

struct embed; /* one session; an adapter's own struct begins with it */

enum {
    EMBED_TEXTS_MAX = 32,             /* of one request: its answer is parsed in one go, 3 ms */
    EMBED_TEXT_MAX_BYTES = 16 * 1024, /* longer ones are cut; models read some 8,000 tokens */
    EMBED_SIZE_MAX = 4096,            /* numbers of a vector */
};

enum embed_event_kind { EMBED_VECTORS, EMBED_ERROR };

struct embed_event {
    enum embed_event_kind kind;
    uint32_t gen;
    const float *vectors; /* count times size numbers, in the order of the texts; borrowed */
    size_t count, size;
    enum engine_error error;
    int64_t retry_us; /* EMBED_ERROR: engine.h */
    const char *message;
};
typedef void embed_event_fn(void *arg, const struct embed_event *event);

struct embed_config {
    const char *model;     /* "": the engine's default */
    const char *workspace; /* whose texts they are; NULL: the service's own */
};

struct embed_ops {
    /* config is borrowed for the call. */
    struct embed *(*open)(const struct engine *engine, const struct embed_config *config,
                          struct loop *loop, embed_event_fn *on_event, void *arg);
    /* One request at a time: start() cancels the one before. count: 1 to EMBED_TEXTS_MAX; texts
     * are borrowed for the call. */
    void (*start)(struct embed *embed, uint32_t gen, const char *const *texts, size_t count);
    void (*cancel)(struct embed *embed);
    void (*close)(struct embed *embed);
};

struct embed {
    const struct embed_ops *ops;
};
