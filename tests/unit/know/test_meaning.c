/* Vectors beside passages, and what they add to a search: with an engine of ours whose numbers are
 * counts of words (and which knows that a moggy is a cat), that fails as real ones do. The same on
 * both databases. */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/registry.h"
#include "know/know.h"
#include "store/document.h"
#include "store/internal.h"
#include "unit/store/fixture.h"

enum { NUMBERS = 251, WORD_BYTES = 32 }; /* no two words of a test share a number */

/* What the engine does with its next requests; past the last one it answers. */
enum behaviour { ANSWER, REFUSE, GARBAGE, OTHER_SIZE, ONE_LESS };

struct mind { /* state of the engine */
    const enum behaviour *behaviours;
    size_t count;
    _Atomic size_t requests;
    _Atomic bool is_silent; /* for questions: they wait in vain */
    float alike;            /* so much of every text is the same: all cosines are high */
};

struct thinking {
    struct embed base;
    struct mind *mind;
    struct timer answer;
    embed_event_fn *on_event;
    void *arg;
    uint32_t gen;
    size_t count;
    float numbers[EMBED_TEXTS_MAX * NUMBERS];
};

static void count_word(const char *word, float *numbers)
{
    unsigned sum = 0;
    if (strcmp(word, "moggy") == 0)
        word = "cats";
    for (const char *at = word; *at; at++)
        sum = sum * 31 + (unsigned char)*at;
    numbers[sum % NUMBERS] += strlen(word) > 3 ? 1 : 0.1F;
}

static void embed_text(const char *text, float alike, float *numbers)
{
    char word[WORD_BYTES];
    size_t len = 0;
    float squares = 0;
    memset(numbers, 0, NUMBERS * sizeof(*numbers));
    numbers[0] = alike;
    for (const char *at = text;; at++) {
        char letter = (char)(*at | 0x20);
        if (*at && letter >= 'a' && letter <= 'z' && len < sizeof(word) - 1) {
            word[len++] = letter;
            continue;
        }
        word[len] = '\0';
        if (len)
            count_word(word, numbers);
        len = 0;
        if (!*at)
            break;
    }
    for (size_t i = 0; i < NUMBERS; i++)
        squares += numbers[i] * numbers[i];
    for (size_t i = 0; i < NUMBERS; i++)
        numbers[i] /= squares > 0 ? sqrtf(squares) : 1;
}

static void on_answer(void *arg)
{
    struct thinking *session = arg;
    struct mind *mind = session->mind;
    size_t number = atomic_fetch_add(&mind->requests, 1);
    enum behaviour behaviour = number < mind->count ? mind->behaviours[number] : ANSWER;
    struct embed_event event = {.kind = EMBED_ERROR, .gen = session->gen, .message = "no"};
    if (behaviour == REFUSE) {
        event.error = ENGINE_QUOTA;
        event.retry_us = 1000;
    } else if (behaviour == GARBAGE) {
        event.error = ENGINE_PROTOCOL;
        event.retry_us = ENGINE_NO_RETRY;
    } else {
        event.kind = EMBED_VECTORS;
        event.vectors = session->numbers;
        event.count = session->count - (behaviour == ONE_LESS);
        event.size = behaviour == OTHER_SIZE ? NUMBERS / 2 : NUMBERS;
    }
    session->on_event(session->arg, &event);
}

static void session_start(struct embed *base, uint32_t gen, const char *const *texts, size_t count)
{
    struct thinking *session = (struct thinking *)base;
    session->gen = gen;
    session->count = count;
    for (size_t i = 0; i < count; i++)
        embed_text(texts[i], session->mind->alike, session->numbers + i * NUMBERS);
    if (!atomic_load(&session->mind->is_silent))
        timer_set_after(&session->answer, 1000);
}

static void session_cancel(struct embed *base)
{
    timer_stop(&((struct thinking *)base)->answer);
}

static void session_close(struct embed *base)
{
    session_cancel(base);
    mem_free(base);
}

static struct embed *session_open(const struct engine *engine, const struct embed_config *config,
                                  struct loop *loop, embed_event_fn *on_event, void *arg);
static const struct embed_ops session_ops = {session_open, session_start, session_cancel,
                                             session_close};

static struct embed *session_open(const struct engine *engine, const struct embed_config *config,
                                  struct loop *loop, embed_event_fn *on_event, void *arg)
{
    (void)config;
    struct thinking *session = mem_new(struct thinking);
    session->base.ops = &session_ops;
    session->mind = engine->state;
    session->on_event = on_event;
    session->arg = arg;
    timer_init(&session->answer, loop, on_answer, session);
    return &session->base;
}

/* A desk. */

struct desk {
    struct fix *fix;
    struct loop *loop;
    struct know *know;
    struct engine engine;
    struct mind mind;
};

static void desk_open(struct desk *desk, struct fix *fix, const char *engine_id)
{
    struct fault fault = {0};
    desk->fix = fix;
    desk->engine = (struct engine){.info = {.kind = ENGINE_EMBED, .id = engine_id},
                                   .ops = {.embed = &session_ops},
                                   .state = &desk->mind};
    desk->loop = loop_new("know");
    const struct know_config config = {
        .store = fix->store, .loop = desk->loop, .embedder = &desk->engine};
    REQUIRE(know_open(&config, &desk->know, &fault) == OK);
    REQUIRE(loop_start(desk->loop) == OK);
}

static void desk_close(struct desk *desk)
{
    loop_join(desk->loop);
    know_close(desk->know);
    store_close(desk->fix->store);
    loop_free(desk->loop);
    desk->fix->store = NULL;
}

static const char *add_text(struct fix *fix, const char *text)
{
    struct tx *tx = fix_write(fix);
    struct document document = {.user_id = fix->workspace_id,
                                .name = "House rules",
                                .kind = DOCUMENT_TEXT,
                                .bytes = (int64_t)strlen(text)};
    const struct document_source source = {.data = text, .len = strlen(text)};
    CHECK_INT(store_document_insert(tx, &document, &source, 0), OK);
    CHECK_INT(fix_commit(tx), OK);
    return arena_strdup(fix->arena, document.id);
}

static int64_t number(struct fix *fix, const char *sql, const char *text)
{
    struct tx *tx = fix_read(fix);
    int64_t found = QUERY_NUMBER(tx, -1, sql, TEXT(text));
    fix_rollback(tx);
    return found;
}

/* Until every passage of the document has its vector of this model. */
static void await_vectors(struct fix *fix, const char *id, const char *model)
{
    int64_t left;
    struct fix_wait wait = {0};
    do {
        struct tx *tx = fix_read(fix);
        left = QUERY_NUMBER(
            tx, 1,
            "SELECT d.card_count + d.section_count - v.done FROM documents d JOIN vector_states v"
            " ON v.document_id = d.id WHERE d.status = 'ready' AND d.id = ? AND v.model = ?",
            TEXT(id), TEXT(model));
        fix_rollback(tx);
    } while (left && fix_wait(&wait));
    CHECK_INT(left, 0);
}

struct found {
    _Atomic bool has_come;
    enum err err;
    size_t count;
    char best[200];
};

static void note_found(void *arg, enum err err, const struct hit_list *hits)
{
    struct found *found = arg;
    found->err = err;
    found->count = hits->count;
    snprintf(found->best, sizeof(found->best), "%s", hits->count ? hits->items[0].text : "");
    atomic_store(&found->has_come, true);
}

static void ask(struct desk *desk, const char *id, const char *query, struct found *found)
{
    struct text_list list = {&id, 1};
    const struct know_question question = {
        .workspace_id = desk->fix->workspace_id, .document_ids = &list, .query = query};
    *found = (struct found){0};
    REQUIRE(know_ask(desk->know, &question, desk->loop, note_found, found) == OK);
    for (struct fix_wait wait = {0}; !atomic_load(&found->has_come) && fix_wait(&wait);)
        continue;
    CHECK(atomic_load(&found->has_come));
    CHECK_INT(found->err, OK);
}

/* An answer of the engine may come too late for the question it was asked for: then it is kept for
 * the next. */
static void ask_until(struct desk *desk, const char *id, const char *query, const char *answer)
{
    struct found found;
    struct fix_wait wait = {0};
    do
        ask(desk, id, query, &found);
    while (!strstr(found.best, answer) && fix_wait(&wait));
    CHECK(strstr(found.best, answer));
}

static const char rules[] =
    "Visitors\n\nVisitors ring twice.\n\nCats\n\nCats are no more than cats.\n\n"
    "Bicycles\n\nBicycles stand in the cellar.\n\nLaundry\n\nMachines run until nine.\n";

STORE_TEST(meaning_finds_what_words_do_not)
{
    struct desk desk = {0};
    struct found found;
    fix_people(fix);
    desk_open(&desk, fix, "counts");
    const char *id = add_text(fix, rules);
    await_vectors(fix, id, "counts/");
    ask_until(&desk, id, "moggy cats", "Cats"); /* words and meaning */
    ask_until(&desk, id, "moggy", "Cats");      /* meaning alone */
    ask(&desk, id, "helicopter", &found);
    CHECK_INT(found.count, 0);
    size_t requests = atomic_load(&desk.mind.requests);
    ask(&desk, id, "moggy", &found); /* known by now */
    CHECK_INT(atomic_load(&desk.mind.requests), requests);
    atomic_store(&desk.mind.is_silent, true);
    ask(&desk, id, "where do bicycles stand", &found); /* the engine hangs: by its words */
    CHECK(strstr(found.best, "cellar"));
    struct tx *tx = fix_write(fix);
    CHECK_INT(store_document_remove(tx, fix->workspace_id, id), OK);
    CHECK_INT(fix_commit(tx), OK);
    CHECK_INT(number(fix, "SELECT COUNT(*) FROM vectors WHERE document_id = ?", id), 0);
    CHECK_INT(number(fix, "SELECT COUNT(*) FROM vector_states WHERE document_id = ?", id), 0);
    desk_close(&desk);
}

STORE_TEST(a_model_that_finds_all_alike_answers_nothing)
{
    struct desk desk = {.mind = {.alike = 6}};
    struct found found;
    struct fix_wait wait = {0};
    fix_people(fix);
    desk_open(&desk, fix, "alike");
    const char *id = add_text(fix, rules);
    await_vectors(fix, id, "alike/");
    size_t before = atomic_load(&desk.mind.requests);
    do /* it may come too late for the first question */
        ask(&desk, id, "helicopter", &found);
    while (atomic_load(&desk.mind.requests) == before && fix_wait(&wait));
    ask(&desk, id, "helicopter", &found);
    CHECK_INT(found.count, 0);
    ask_until(&desk, id, "where do bicycles stand", "cellar");
    desk_close(&desk);
}

/* 40 sections are two requests. */
static const char *many_sections(struct fix *fix)
{
    struct buf text;
    buf_init(&text, 1 << 16);
    for (int i = 0; i < 40; i++)
        CHECK_INT(
            buf_printf(&text,
                       "Rule %c%c\n\nWhoever breaks rule %d pays %d euros to the treasurer.\n\n",
                       'A' + i % 26, 'a' + i / 26, i, i * 3),
            OK);
    const char *copy = arena_strdup(fix->arena, text.data);
    buf_clear(&text);
    return copy;
}

STORE_TEST(faults_of_the_engine_cost_vectors_and_nothing_else)
{
    static const enum behaviour behaviours[] = {REFUSE, GARBAGE, ONE_LESS, ANSWER, OTHER_SIZE};
    struct desk desk = {.mind = {.behaviours = behaviours, .count = ARRAY_LEN(behaviours)}};
    struct document document;
    fix_people(fix);
    desk_open(&desk, fix, "counts");
    const char *id = add_text(fix, many_sections(fix));
    struct fix_wait wait = {0};
    do {
        struct tx *tx = fix_read(fix);
        CHECK_INT(store_document_get(tx, fix->workspace_id, id, &document), OK);
        fix_rollback(tx);
    } while (document.status == DOCUMENT_PROCESSING && fix_wait(&wait));
    CHECK_INT(document.status, DOCUMENT_READY);
    CHECK(document.section_count > 32);
    await_vectors(fix, id, "counts/");
    CHECK(atomic_load(&desk.mind.requests) >= ARRAY_LEN(behaviours) + 1);
    CHECK_INT(number(fix, "SELECT COUNT(DISTINCT size) FROM vectors WHERE document_id = ?", id), 1);
    CHECK_INT(number(fix, "SELECT COUNT(*) FROM vectors WHERE document_id = ?", id), 2);
    desk_close(&desk);
}

STORE_TEST(another_model_makes_the_vectors_anew)
{
    struct desk desk = {0};
    fix_people(fix);
    desk_open(&desk, fix, "counts");
    const char *id = add_text(fix, rules);
    await_vectors(fix, id, "counts/");
    desk_close(&desk);
    fix->store = fix_open(fix, "", "");
    struct desk other = {0};
    desk_open(&other, fix, "others");
    await_vectors(fix, id, "others/");
    CHECK_INT(number(fix, "SELECT COUNT(*) FROM vectors WHERE document_id = ?", id), 1);
    desk_close(&other);
}
