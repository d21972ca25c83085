/* What an answer of the API is made of: a status, a body by a field table, or an error of the table
 * of codes. Thread: the request's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "model/field.h"

/* Codes of the contract. */
enum api_error {
    API_OK,
    API_BAD_REQUEST, /* told by the HTTP server */
    API_INVALID_JSON,
    API_VALIDATION_FAILED,
    API_URL_NOT_ALLOWED,
    API_UNSUPPORTED_LANGUAGE,
    API_NAME_REQUIRED,
    API_UNAUTHORIZED,
    API_INSUFFICIENT_BALANCE,
    API_DAILY_LIMIT_REACHED,
    API_FORBIDDEN,
    API_CONFIG_FIELD_NOT_ALLOWED,
    API_EMBED_DISABLED,
    API_ORIGIN_NOT_ALLOWED,
    API_NOT_FOUND,
    API_METHOD_NOT_ALLOWED,
    API_CONFLICT,
    API_CALL_NOT_ACTIVE,
    API_TOOL_NAME_TAKEN,
    API_DOCUMENT_LIMIT_REACHED,
    API_SUBSCRIPTION_LIMIT_REACHED,
    API_AGENT_LIMIT_REACHED,
    API_TOOL_LIMIT_REACHED,
    API_KEY_LIMIT_REACHED,
    API_STORAGE_LIMIT_REACHED,
    API_IDEMPOTENCY_KEY_REUSED,
    API_IDEMPOTENCY_KEY_IN_USE,
    API_SIGNED_IN_ELSEWHERE,
    API_PRECONDITION_FAILED,
    API_BODY_TOO_LARGE,
    API_FILE_TOO_LARGE,
    API_UNSUPPORTED_MEDIA_TYPE,
    API_UNSUPPORTED_FILE_TYPE,
    API_RATE_LIMITED,
    API_CONCURRENT_CALL_LIMIT,
    API_INTERNAL_ERROR,
    API_UNAVAILABLE,
    API_DISPATCH_FAILED,
    API_KNOWLEDGE_BUSY,
    API_ERROR_COUNT
};
struct api_error_row {
    int status;
    const char *code, *sentence;
};
extern const struct api_error_row api_errors[API_ERROR_COUNT];

enum { ANSWER_HEADERS_MAX = 24, ANSWER_BYTES_MAX = 256 * 1024 * 1024 };

struct answer {
    int status; /* 0: none yet */
    enum api_error error;
    const char *content_type;
    struct buf body;
    struct http_header *headers; /* in the request's arena */
    size_t header_count;
};

void answer_init(struct answer *answer, struct arena *arena);
void answer_clear(struct answer *answer);
void answer_reset(struct answer *answer); /* as after answer_init(), without headers */
/* name and value must live as long as the arena. */
void answer_header(struct answer *answer, const char *name, const char *value);
bool answer_has_header(const struct answer *answer, const char *name);
void answer_write(struct answer *answer, int status, const struct field_table *table,
                  const void *object, unsigned views);
/* sentence: NULL for the table's own. faults: NULL, or `details`. */
void answer_error(struct answer *answer, enum api_error error, const char *sentence,
                  const struct faults *faults);

/* { ok: true, id }: what was removed. */
struct removed {
    bool is_ok;
    const char *id;
};
extern const struct field_table removed_table;
