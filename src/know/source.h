/* What a document is made of, on its way from the store to who reads it, piece by piece: a text
 * into memory, a file into one without a name. Thread: its owner's; source_copy() inside a job. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "model/document.h"

struct tx;

struct source {
    enum document_kind kind;
    int fd; /* the file; -1: none */
    struct buf text;
    struct source_place {
        int64_t position; /* the next piece */
        size_t bytes;     /* of those before it */
        bool has_all;
    } place, place_after; /* of the job under way, which may run twice */
};

void source_init(struct source *source);
void source_clear(struct source *source); /* as source_init() left it */
/* dir: where files may be. ERR_IO: there is no room for one. */
enum err source_open(struct source *source, enum document_kind kind, const char *dir) MUST_USE;
/* Some megabytes of it, then another job has its turn. */
enum err source_copy(struct source *source, struct tx *tx, const char *id) MUST_USE;
bool source_has_all(struct source *source); /* after each source_copy() that went well */
const char *source_text(const struct source *source);
