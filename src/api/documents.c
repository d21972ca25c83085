/* /v1/knowledge: documents as text, their cards, and the search an agent makes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/page.h"
#include "api/pieces.h"
#include "api/request.h"
#include "api/resources.h"
#include "api/run.h"
#include "base/clock.h"
#include "base/config.h"
#include "extract/kind.h"
#include "know/know.h"
#include "model/document.h"
#include "store/document.h"
#include "store/tx.h"
#include "store/workspace.h"

struct document_body {
    const char *name, *text;
};
static const struct field body_rows[] = {
    ROW_TEXT(struct document_body, name, "name", .flags = FIELD_REQUIRED, .min = 1, .max = 255,
             .example = "\"Opening hours\""),
    ROW_TEXT(struct document_body, text, "text", .flags = FIELD_REQUIRED, .min = DOCUMENT_TEXT_MIN,
             .max = DOCUMENT_TEXT_MAX,
             .example = "\"We are open from Monday to Friday, nine to five.\""),
};
FIELD_TABLE(document_body_table, struct document_body, "DocumentText", body_rows);

struct document_query {
    const char *user_id, *name;
};
static const struct field document_query_rows[] = {
    ROW_TEXT(struct document_query, user_id, "userId", .flags = FIELD_OPTIONAL,
             .about = "A workspace id; another workspace's is refused."),
    ROW_TEXT(struct document_query, name, "name", .flags = FIELD_OPTIONAL, .max = 255,
             .about = "Name of an uploaded file, with its ending; required with one."),
};
FIELD_TABLE(document_query_table, struct document_query, "DocumentQuery", document_query_rows);

struct document_answer {
    struct document document;
};
static const struct field document_rows[] = {
    ROW_OBJECT(struct document_answer, document, "document", struct document, &document_table),
};
FIELD_TABLE(document_answer_table, struct document_answer, "DocumentAnswer", document_rows);

struct documents_query {
    const char *user_id, *ids;
    struct page_query page;
};
static const struct field documents_query_rows[] = {
    ROW_TEXT(struct documents_query, user_id, "userId", .flags = FIELD_OPTIONAL,
             .about = "A workspace id; another workspace's is refused."),
    PAGE_QUERY_ROWS(struct documents_query, page, "kd_"),
    PAGE_IDS_ROW(struct documents_query, ids),
};
FIELD_TABLE(documents_query_table, struct documents_query, "DocumentsQuery", documents_query_rows);

struct documents_answer {
    struct document_list documents;
    struct page_answer page;
};
static const struct field documents_rows[] = {
    ROW_OBJECTS(struct documents_answer, documents, "documents", struct document_list,
                &document_table),
    PAGE_ANSWER_ROWS(struct documents_answer, page),
};
FIELD_TABLE(documents_answer_table, struct documents_answer, "DocumentsAnswer", documents_rows);

struct document_cards_answer {
    struct document document;
    struct card_list cards;
};
static const struct field document_cards_rows[] = {
    ROW_OBJECT(struct document_cards_answer, document, "document", struct document,
               &document_table),
    ROW_OBJECTS(struct document_cards_answer, cards, "cards", struct card_list, &card_table),
};
FIELD_TABLE(document_cards_answer_table, struct document_cards_answer, "DocumentCardsAnswer",
            document_cards_rows);

static enum err read_page(struct request *request, const struct page *page,
                          struct documents_answer *out)
{
    struct tx *tx = request->job.tx;
    struct document_list *list = &out->documents;
    enum err err = OK;
    list->items = arena_new_n(tx->arena, struct document, page->ids.count + 1);
    for (size_t i = 0; i < page->ids.count && !err; i++) {
        err = store_document_get(tx, request_workspace(request), page->ids.items[i],
                                 &list->items[list->count]);
        list->count += err == OK;
        err = err == ERR_NOT_FOUND ? OK : err;
    }
    out->page = page_answer(page);
    return err;
}

void documents_list(struct request *request)
{
    struct documents_query query;
    struct documents_answer answer = {.page.next = ""};
    struct page_filter filter = {0};
    struct page page = {0};
    if (!request_query(request, &query))
        return;
    enum err err = OK;
    if (!query.ids && !page_is_asked(&query.page))
        err = store_document_list(request->job.tx, request_workspace(request), &answer.documents);
    else if (query.ids ? page_of_ids(request, query.ids, NULL, &page)
                       : page_find(request, LISTED_DOCUMENTS, &query.page, &filter, &page))
        err = read_page(request, &page, &answer);
    else
        return;
    if (request_found(request, err))
        request_answer(request, &answer, page.is_part ? FIELD_VIEW_PAGE : 0);
}

static enum api_error insert_error(enum err err)
{
    switch (err) {
    case ERR_CONFLICT:
        return API_DOCUMENT_LIMIT_REACHED;
    case ERR_LIMIT:
        return API_RATE_LIMITED;
    case ERR_BUSY:
        return API_KNOWLEDGE_BUSY;
    default:
        return API_INTERNAL_ERROR;
    }
}

/* Locks the workspace; false: answered. */
static bool has_balance(struct request *request)
{
    struct workspace workspace;
    const char *id = request_workspace(request);
    if (!request_found(request, store_workspace_lock(request->job.tx, id)) ||
        !request_found(request, store_workspace_get(request->job.tx, id, &workspace)))
        return false;
    if (workspace.balance_usd4 <= 0)
        request_error(request, API_INSUFFICIENT_BALANCE);
    return workspace.balance_usd4 > 0;
}

/* Stores a document with its source; false: answered. */
static bool add(struct request *request, struct document *document,
                const struct document_source *source)
{
    document->user_id = request_workspace(request);
    document->bytes = (int64_t)source->len;
    enum err err = store_document_insert(request->job.tx, document, source,
                                         config_int(request->deps->config, SET_DOCUMENTS_PER_HOUR));
    if (!err)
        return true;
    request_error(request, insert_error(err));
    if (err == ERR_LIMIT)
        answer_header(&request->answer, "Retry-After", "60");
    return false;
}

static bool ends_with(const char *name, const char *ending)
{
    size_t len = strlen(name), n = strlen(ending);
    return len >= n && strcasecmp(name + len - n, ending) == 0;
}

/* The content decides, not the name; but a file named .pdf or .docx must be one. false: none of
 * the kinds that are accepted. */
static bool find_kind(const struct request *request, const char *name, enum document_kind *out)
{
    static const enum document_kind kinds[EXTRACT_KIND_COUNT] = {
        [EXTRACT_TEXT] = DOCUMENT_TXT,
        [EXTRACT_PDF] = DOCUMENT_PDF,
        [EXTRACT_DOCX] = DOCUMENT_DOCX,
    };
    enum extract_kind kind;
    if (extract_kind_of(request->head.http->body_fd, &kind) != OK)
        return false;
    *out = kinds[kind];
    return (!ends_with(name, ".pdf") || kind == EXTRACT_PDF) &&
           (!ends_with(name, ".docx") || kind == EXTRACT_DOCX);
}

/* A file: its own faults are told last (contract, Order of checks), and undo the addition. */
static void create_from_file(struct request *request, const char *name)
{
    struct document_answer answer;
    struct document *document = &answer.document;
    const struct http_request *http = request->head.http;
    bool is_whole = http->body_state != HTTP_BODY_TOO_LONG;
    if (!name || *name == '\0') {
        request_error(request, API_NAME_REQUIRED);
        return;
    }
    field_defaults(&document_table, document);
    document->name = name;
    document->is_stored = true;
    bool is_known = is_whole && find_kind(request, name, &document->kind);
    const struct document_source source = {.len = is_known ? http->body_len : 0,
                                           .fd = http->body_fd};
    if (!has_balance(request) || !add(request, document, &source))
        return;
    if (!is_whole)
        request_error(request, API_FILE_TOO_LARGE);
    else if (!is_known)
        request_error(request, API_UNSUPPORTED_FILE_TYPE);
    else
        request_answer(request, &answer, 0);
}

void documents_create(struct request *request)
{
    struct document_query query;
    struct document_body body;
    struct document_answer answer;
    struct field_context context;
    if (!request_query(request, &query))
        return;
    if (request->body.is_upload) {
        create_from_file(request, query.name);
        return;
    }
    request_context(request, &context);
    field_create(&document_body_table, &body, request_json(request), &context, "");
    if (!request_is_valid(request, &context) || !has_balance(request))
        return;
    field_defaults(&document_table, &answer.document);
    answer.document.name = body.name;
    answer.document.kind = DOCUMENT_TEXT;
    const struct document_source source = {.data = body.text, .len = strlen(body.text)};
    if (add(request, &answer.document, &source))
        request_answer(request, &answer, 0);
}

void documents_get(struct request *request)
{
    struct document_cards_answer answer = {0};
    struct passage *passages;
    size_t count;
    if (!request_found(request, store_document_get(request->job.tx, request_workspace(request),
                                                   request->head.params[0], &answer.document)) ||
        !request_found(request, store_document_passages(request->job.tx, request->head.params[0],
                                                        &passages, &count)))
        return;
    answer.cards.items = arena_new_n(request->job.tx->arena, struct card, count);
    for (size_t i = 0; i < count; i++)
        if (passages[i].question)
            answer.cards.items[answer.cards.count++] =
                (struct card){passages[i].question, passages[i].text};
    request_answer(request, &answer, 0);
}

/* The passages that are no cards, a page at a time: a document may have thousands. */

struct passages_query {
    int64_t limit;
    const char *before;
};
static const struct field passages_query_rows[] = {
    ROW_INT(struct passages_query, limit, "limit", .min = 1, .max = 100, .standard = 50,
            .about = "Passages of a page; it has fewer where they are long."),
    ROW_TEXT(struct passages_query, before, "before", .flags = FIELD_OPTIONAL,
             .pattern = "^[0-9]{1,15}$",
             .about = "The nextCursor of the page before, to fetch what comes after it."),
};
FIELD_TABLE(passages_query_table, struct passages_query, "PassagesQuery", passages_query_rows);

struct passages_answer {
    struct section_list passages;
    int64_t total;
    const char *next;
};
static const struct field passages_rows[] = {
    ROW_OBJECTS(struct passages_answer, passages, "passages", struct section_list, &section_table,
                .about = "In the order of the document; none unless it is ready."),
    ROW_INT(struct passages_answer, total, "total",
            .about = "All of the document across pages; its sectionCount."),
    ROW_TEXT(struct passages_answer, next, "nextCursor", .flags = FIELD_NULL_EMPTY,
             .about = "Passed back as before; null on the last page."),
};
FIELD_TABLE(passages_answer_table, struct passages_answer, "PassagesAnswer", passages_rows);

static bool read_position(const char *text, int64_t *out)
{
    enum { DIGITS_MAX = 15 };
    size_t digits = strspn(text, "0123456789");
    *out = strtoll(text, NULL, 10);
    return digits > 0 && digits <= DIGITS_MAX && !text[digits];
}

void documents_passages(struct request *request)
{
    struct tx *tx = request->job.tx;
    const char *id = request->head.params[0];
    struct passages_query query;
    struct passages_answer answer = {.next = ""};
    struct document document;
    if (!request_query(request, &query) ||
        !request_found(request, store_document_get(tx, request_workspace(request), id, &document)))
        return;
    int64_t after = -1, next;
    if (query.before && !read_position(query.before, &after)) {
        request_fault(request, "before", "is no nextCursor of this list");
        return;
    }
    if (document.status == DOCUMENT_READY) { /* while it is read, some are there already */
        if (!request_found(request, store_document_sections(tx, id, after, (unsigned)query.limit,
                                                            &answer.passages, &next)))
            return;
        answer.total = document.section_count;
        if (next >= 0)
            answer.next = arena_printf(tx->arena, "%" PRId64, next);
    }
    request_answer(request, &answer, 0);
}

struct file_place {
    const char *id;
    int64_t position;
};

static void file_more(struct request *request)
{
    struct file_place *place = request->pieces.place;
    const void *piece;
    size_t len;
    while (!request_piece_is_full(request)) {
        enum err err =
            store_document_piece(request->job.tx, place->id, place->position, &piece, &len);
        if (err == ERR_NOT_FOUND) {
            pieces_end(&request->pieces);
            return;
        }
        if (err || buf_append(&request->answer.body, piece, len)) {
            request_break_pieces(request);
            return;
        }
        place->position++;
    }
}

/* The file as it was uploaded: never shown by a browser as anything but a download. */
void documents_file(struct request *request)
{
    struct document document;
    struct answer *answer = &request->answer;
    enum err err = store_document_get(request->job.tx, request_workspace(request),
                                      request->head.params[0], &document);
    if (!err && !document.is_stored)
        err = ERR_NOT_FOUND;
    if (!request_found(request, err))
        return;
    answer->content_type = "application/octet-stream";
    answer_header(answer, "Content-Disposition", "attachment");
    struct file_place *place = arena_new_of(request->arena, struct file_place);
    place->id = request->head.params[0];
    request_answer_pieces(request, file_more, place, sizeof(*place));
}

void documents_retry(struct request *request)
{
    struct document_answer answer;
    enum err err = store_document_retry(request->job.tx, request_workspace(request),
                                        request->head.params[0], &answer.document);
    if (err == ERR_CONFLICT || err == ERR_BUSY)
        request_error(request, err == ERR_BUSY ? API_KNOWLEDGE_BUSY : API_CONFLICT);
    else if (request_found(request, err))
        request_answer(request, &answer, 0);
}

void documents_remove(struct request *request)
{
    const char *id = request->head.params[0];
    if (request_found(request,
                      store_document_remove(request->job.tx, request_workspace(request), id)))
        request_answer(request, &(struct removed){true, id}, 0);
}

/* Search. */

struct search_body {
    struct text_list document_ids;
    const char *query;
};
static const struct field search_rows[] = {
    ROW_TEXTS(struct search_body, document_ids, "documentIds", .flags = FIELD_REQUIRED, .max = 500,
              .entry_max = 64, .example = "[\"kd_01abcdefghijklmnopqr\"]"),
    ROW_TEXT(struct search_body, query, "query", .flags = FIELD_REQUIRED, .min = 1, .max = 300,
             .example = "\"When are you open?\""),
};
FIELD_TABLE(search_body_table, struct search_body, "Search", search_rows);

struct search_answer {
    struct hit_list hits;
    int64_t took_ms;
};
static const struct field search_answer_rows[] = {
    ROW_OBJECTS(struct search_answer, hits, "hits", struct hit_list, &hit_table,
                .about = "Best match first; empty: not in the documents."),
    ROW_INT(struct search_answer, took_ms, "ms"),
};
FIELD_TABLE(search_answer_table, struct search_answer, "SearchAnswer", search_answer_rows);

struct search_call {
    struct search_body body;
    struct know_vector vector;
    int64_t started_us;
};

/* The body lives as long as its job; what is kept for the next one, as long as the request. */
static void keep_body(struct request *request, struct search_call *call)
{
    struct text_list *ids = &call->body.document_ids;
    const char **items = arena_new_n(request->arena, const char *, ids->count + 1);
    for (size_t i = 0; i < ids->count; i++)
        items[i] = arena_strdup(request->arena, ids->items[i]);
    ids->items = items;
    call->body.query = arena_strdup(request->arena, call->body.query);
    request->job.state = call;
}

static void search(struct request *request)
{
    const struct search_call *call = request->job.state;
    const struct search_body *body = &call->body;
    struct search_answer answer = {0};
    const struct know_question asked = {
        .document_ids = &body->document_ids, .query = body->query, .vector = call->vector};
    if (body->document_ids.count &&
        !request_found(request, know_search(request->deps->know, request->job.tx, &asked,
                                            KNOW_HITS_MAX, &answer.hits)))
        return;
    answer.took_ms = (clock_now_us() - call->started_us) / 1000;
    request_answer(request, &answer, 0);
}

static void on_meant(void *arg, const struct know_vector *vector)
{
    struct request *request = arg;
    struct search_call *call = request->job.state;
    if (vector->numbers) {
        float *numbers = arena_new_n(request->arena, float, vector->size);
        memcpy(numbers, vector->numbers, vector->size * sizeof(float));
        call->vector = (struct know_vector){numbers, vector->size};
    }
    run_job(request, STORE_READ, search);
}

/* On the control loop. */
static void ask_meaning(struct request *request)
{
    const struct search_call *call = request->job.state;
    know_mean(request->deps->know, request_workspace(request), call->body.query, on_meant, request);
}

void search_documents(struct request *request)
{
    struct search_call *call = arena_new_of(request->arena, struct search_call);
    *call = (struct search_call){.started_us = clock_now_us()};
    struct field_context context;
    request_context(request, &context);
    field_create(&search_body_table, &call->body, request_json(request), &context, "");
    if (!request_is_valid(request, &context))
        return;
    if (!request_found(request,
                       store_document_keep_known(request->job.tx, request_workspace(request),
                                                 &call->body.document_ids, true)))
        return;
    keep_body(request, call);
    if (call->body.document_ids.count && know_has_meaning(request->deps->know))
        request_after(request, ask_meaning);
    else
        search(request);
}
