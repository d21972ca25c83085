/* Answers and the table of error codes. */
#include "api/answer.h"

#include <assert.h>

#include "base/js.h"
#include "net/http_head.h"
#include "net/http_server.h"

const struct api_error_row api_errors[API_ERROR_COUNT] = {
    [API_OK] = {200, "", ""},
    [API_BAD_REQUEST] = {400, "BAD_REQUEST", "The request is no HTTP that can be read."},
    [API_INVALID_JSON] = {400, "INVALID_JSON", "The body is not valid JSON."},
    [API_VALIDATION_FAILED] = {400, "VALIDATION_FAILED", "The request is not valid; see details."},
    [API_URL_NOT_ALLOWED] = {400, "URL_NOT_ALLOWED", "The URL is not a public http(s) address."},
    [API_UNSUPPORTED_LANGUAGE] = {400, "UNSUPPORTED_LANGUAGE",
                                  "The agent cannot speak this language."},
    [API_NAME_REQUIRED] = {400, "NAME_REQUIRED", "A file needs its name in the query: ?name="},
    [API_UNAUTHORIZED] = {401, "UNAUTHORIZED", "The API key is missing or not valid."},
    [API_INSUFFICIENT_BALANCE] = {402, "INSUFFICIENT_BALANCE", "The balance is used up."},
    [API_DAILY_LIMIT_REACHED] = {402, "DAILY_LIMIT_REACHED",
                                 "The day's spending limit of this agent is reached."},
    [API_FORBIDDEN] = {403, "FORBIDDEN", "This key may not do that."},
    [API_CONFIG_FIELD_NOT_ALLOWED] = {403, "CONFIG_FIELD_NOT_ALLOWED",
                                      "config holds a field that may not be set for a call."},
    [API_EMBED_DISABLED] = {403, "EMBED_DISABLED", "The agent's call button is switched off."},
    [API_ORIGIN_NOT_ALLOWED] = {403, "ORIGIN_NOT_ALLOWED",
                                "This site may not start calls with the agent."},
    [API_NOT_FOUND] = {404, "NOT_FOUND", "There is no such thing here."},
    [API_METHOD_NOT_ALLOWED] = {405, "METHOD_NOT_ALLOWED", "This path does not take this method."},
    [API_CONFLICT] = {409, "CONFLICT", "The present state does not allow it."},
    [API_CALL_NOT_ACTIVE] = {409, "CALL_NOT_ACTIVE", "The call is not active."},
    [API_TOOL_NAME_TAKEN] = {409, "TOOL_NAME_TAKEN", "The agent has a tool of that name."},
    [API_DOCUMENT_LIMIT_REACHED] = {409, "DOCUMENT_LIMIT_REACHED",
                                    "The workspace holds 500 documents already."},
    [API_SUBSCRIPTION_LIMIT_REACHED] = {409, "SUBSCRIPTION_LIMIT_REACHED",
                                        "The workspace holds 50 subscriptions already."},
    [API_AGENT_LIMIT_REACHED] = {409, "AGENT_LIMIT_REACHED",
                                 "The workspace has as many agents as it may."},
    [API_TOOL_LIMIT_REACHED] = {409, "TOOL_LIMIT_REACHED",
                                "The workspace has as many tools as it may."},
    [API_KEY_LIMIT_REACHED] = {409, "KEY_LIMIT_REACHED",
                               "The workspace has as many keys as it may."},
    [API_STORAGE_LIMIT_REACHED] = {409, "STORAGE_LIMIT_REACHED",
                                   "The workspace's agents and tools hold as much as they may."},
    [API_IDEMPOTENCY_KEY_REUSED] = {409, "IDEMPOTENCY_KEY_REUSED",
                                    "The Idempotency-Key was used with another body."},
    [API_IDEMPOTENCY_KEY_IN_USE] = {409, "IDEMPOTENCY_KEY_IN_USE",
                                    "A request with this Idempotency-Key is still under way."},
    [API_SIGNED_IN_ELSEWHERE] = {409, "SIGNED_IN_ELSEWHERE",
                                 "Another member is signed in here by now."},
    [API_PRECONDITION_FAILED] = {412, "PRECONDITION_FAILED",
                                 "It was changed since it was read: read it again."},
    [API_BODY_TOO_LARGE] = {413, "BODY_TOO_LARGE", "The body is too large."},
    [API_FILE_TOO_LARGE] = {413, "FILE_TOO_LARGE", "The file is larger than 25 MB."},
    [API_UNSUPPORTED_MEDIA_TYPE] = {415, "UNSUPPORTED_MEDIA_TYPE",
                                    "The body must be application/json."},
    [API_UNSUPPORTED_FILE_TYPE] = {415, "UNSUPPORTED_FILE_TYPE",
                                   "The file is no PDF, Word .docx or text file."},
    [API_RATE_LIMITED] = {429, "RATE_LIMITED", "Too many requests; retry later."},
    [API_CONCURRENT_CALL_LIMIT] = {429, "CONCURRENT_CALL_LIMIT",
                                   "The workspace has as many calls as it may."},
    [API_INTERNAL_ERROR] = {500, "INTERNAL_ERROR", "Something went wrong on our side."},
    [API_UNAVAILABLE] = {503, "UNAVAILABLE", "The service cannot answer now; retry soon."},
    [API_DISPATCH_FAILED] = {503, "DISPATCH_FAILED", "The agent could not be sent to the call."},
    [API_KNOWLEDGE_BUSY] = {503, "KNOWLEDGE_BUSY",
                            "Many documents wait to be read; retry in a few minutes."},
};

static const char json_type[] = "application/json";

void answer_init(struct answer *answer, struct arena *arena)
{
    *answer = (struct answer){
        .content_type = json_type,
        .headers = arena_new_n(arena, struct http_header, ANSWER_HEADERS_MAX),
    };
    buf_init(&answer->body, ANSWER_BYTES_MAX);
}

void answer_clear(struct answer *answer)
{
    buf_clear(&answer->body);
}

void answer_reset(struct answer *answer)
{
    answer->status = 0;
    answer->error = API_OK;
    answer->content_type = json_type;
    answer->header_count = 0;
    buf_reset(&answer->body);
}

void answer_header(struct answer *answer, const char *name, const char *value)
{
    assert(answer->header_count < ANSWER_HEADERS_MAX);
    answer->headers[answer->header_count++] = (struct http_header){name, value};
}

bool answer_has_header(const struct answer *answer, const char *name)
{
    return http_header_find(answer->headers, answer->header_count, name) != NULL;
}

void answer_write(struct answer *answer, int status, const struct field_table *table,
                  const void *object, unsigned views)
{
    struct js_out out;
    answer->status = status;
    answer->error = API_OK;
    buf_reset(&answer->body);
    js_out_init(&out, &answer->body);
    field_write(table, object, FIELD_VIEW_API | views, NULL, &out);
    if (answer->body.is_full)
        answer_error(answer, API_INTERNAL_ERROR, NULL, NULL);
}

void answer_error(struct answer *answer, enum api_error error, const char *sentence,
                  const struct faults *faults)
{
    const struct api_error_row *row = &api_errors[error];
    struct js_out out;
    answer->status = row->status;
    answer->error = error;
    buf_reset(&answer->body);
    js_out_init(&out, &answer->body);
    js_out_object(&out);
    js_out_key(&out, "error");
    js_out_text(&out, sentence ? sentence : row->sentence);
    js_out_key(&out, "code");
    js_out_text(&out, row->code);
    js_out_key(&out, "status");
    js_out_int(&out, row->status);
    if (faults && faults->count) {
        js_out_key(&out, "details");
        js_out_array(&out);
        for (size_t i = 0; i < faults->count; i++) {
            js_out_object(&out);
            js_out_key(&out, "field");
            js_out_text(&out, faults->items[i].field);
            js_out_key(&out, "message");
            js_out_text(&out, faults->items[i].message);
            js_out_object_end(&out);
        }
        js_out_array_end(&out);
    }
    js_out_object_end(&out);
}

static const struct field removed_rows[] = {
    ROW_BOOL(struct removed, is_ok, "ok"),
    ROW_TEXT(struct removed, id, "id", .flags = FIELD_OMIT_EMPTY),
};
FIELD_TABLE(removed_table, struct removed, "Removed", removed_rows);
