/* GET /v1/catalog and GET /v1/voices: what the operator has switched on. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/request.h"
#include "api/resources.h"

struct catalog_answer {
    struct catalog catalog;
    struct catalog_defaults defaults;
};
static const struct field catalog_rows[] = {
    ROW_OBJECT(struct catalog_answer, catalog, "catalog", struct catalog, &catalog_table),
    ROW_OBJECT(struct catalog_answer, defaults, "defaults", struct catalog_defaults,
               &catalog_defaults_table),
};
FIELD_TABLE(catalog_answer_table, struct catalog_answer, "CatalogAnswer", catalog_rows);

void catalog_get(struct request *request)
{
    struct catalog_answer answer = {*request->deps->catalog, request->deps->catalog->defaults};
    request_answer(request, &answer, 0);
}

/* Voices. */

struct voices_query {
    const char *provider, *language, *gender, *text, *after;
    int64_t limit;
};

/* The cursor is the place in the list: the catalog does not change while the service runs. */
static bool is_cursor(const char *text)
{
    size_t len = strlen(text);
    return len >= 1 && len <= 9 && strspn(text, "0123456789") == len;
}

static void check_after(struct field_context *context, const struct field *row, void *object,
                        const char *path)
{
    const struct voices_query *query = object;
    (void)row;
    if (!is_cursor(query->after))
        faults_add(&context->faults, path, "is no nextPage of this list");
}

static const struct field voices_query_rows[] = {
    ROW_TEXT(struct voices_query, provider, "provider", .flags = FIELD_OPTIONAL,
             .about = "One of the ttsProviders."),
    ROW_TEXT(struct voices_query, language, "language", .flags = FIELD_OPTIONAL,
             .about = "A language id or iso code that the voice speaks."),
    ROW_TEXT(struct voices_query, gender, "gender", .flags = FIELD_OPTIONAL,
             .names = voice_gender_names, .name_count = VOICE_GENDER_COUNT),
    ROW_TEXT(struct voices_query, text, "q", .flags = FIELD_OPTIONAL,
             .about = "Part of the name, id or description."),
    ROW_INT(struct voices_query, limit, "limit", .min = 1, .max = 100, .standard = 50),
    ROW_TEXT(struct voices_query, after, "after", .flags = FIELD_OPTIONAL, .check = check_after,
             .pattern = "^[0-9]{1,9}$", .about = "The nextPage of the page before.",
             .example = "\"50\""),
};
FIELD_TABLE(voices_query_table, struct voices_query, "VoicesQuery", voices_query_rows);

struct voices_answer {
    struct catalog_voice_list voices;
    const char *next_page;
};
static const struct field voices_rows[] = {
    ROW_OBJECTS(struct voices_answer, voices, "voices", struct catalog_voice_list,
                &catalog_voice_table),
    ROW_TEXT(struct voices_answer, next_page, "nextPage", .flags = FIELD_NULL_EMPTY,
             .about = "Passed back as after; null on the last page."),
};
FIELD_TABLE(voices_answer_table, struct voices_answer, "VoicesAnswer", voices_rows);

static bool has_text(const struct catalog_voice *voice, const char *text)
{
    return strcasestr(voice->name, text) || strcasestr(voice->id, text) ||
           strcasestr(voice->description, text);
}

static bool fits(const struct catalog *catalog, const struct catalog_voice *voice,
                 const struct voices_query *query)
{
    if (query->provider && strcmp(voice->provider, query->provider) != 0)
        return false;
    if (query->gender && strcmp(voice_gender_names[voice->gender], query->gender) != 0)
        return false;
    if (query->language) {
        const struct catalog_language *language = catalog_language(catalog, query->language);
        if (!catalog_speaks(&voice->languages, language ? language->iso : query->language))
            return false;
    }
    return !query->text || has_text(voice, query->text);
}

void voices_list(struct request *request)
{
    const struct catalog *catalog = request->deps->catalog;
    struct voices_query query;
    if (!request_query(request, &query))
        return;
    struct voices_answer answer = {.next_page = ""};
    answer.voices.items = arena_new_n(request->arena, struct catalog_voice, (size_t)query.limit);
    size_t at = query.after ? strtoul(query.after, NULL, 10) : 0;
    for (; at < catalog->voices.count; at++) {
        if (!fits(catalog, &catalog->voices.items[at], &query))
            continue;
        if (answer.voices.count == (size_t)query.limit) {
            answer.next_page = arena_printf(request->arena, "%zu", at);
            break;
        }
        answer.voices.items[answer.voices.count++] = catalog->voices.items[at];
    }
    request_answer(request, &answer, 0);
}
