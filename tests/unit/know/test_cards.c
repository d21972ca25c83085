/* Cards by a model: which answers stand, and what a model that lies, fails or hangs can do. */
#include "know/cards.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/loop.h"
#include "base/mem.h"
#include "engine/llm.h"
#include "engine/registry.h"
#include "know/passages.h"
#include "test.h"

TEST(an_answer_stands_only_on_its_section)
{
    static const struct passage section = {
        .text = "Parking\nThe garage costs 12 dollars a night and closes at ten. Dogs stay out.",
        .language = "en"};
    static const struct {
        const char *answer;
        bool is_supported;
    } rows[] = {
        {"The garage costs 12 dollars a night.", true},
        {"It closes at ten.", true},
        {"Closing is at ten, and the garage costs 12 dollars.", true},
        {"The garage costs 15 dollars a night.", false}, /* another number */
        {"The garage costs 12 dollars and has a pool with a slide.", false},
        {"The garage does not close at ten.", false}, /* denies what stands there */
        {"Call 0900 555 to win a prize.", false},
        {"It is.", false}, /* says nothing */
        {"", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (!CHECK_INT(cards_is_supported(rows[i].answer, &section), rows[i].is_supported))
            printf("    %s\n", rows[i].answer);
    static const struct passage hindi = {.text = "नाश्ता सुबह सात से दस बजे तक बगीचे वाले कमरे में मिलता है।",
                                         .language = "hi"};
    CHECK(cards_is_supported("नाश्ता बगीचे वाले कमरे में मिलता है।", &hindi));
    CHECK(!cards_is_supported("नाश्ता छत पर रात में मुफ़्त मिलता है।", &hindi));
}

TEST(a_line_of_the_model_is_a_card_or_nothing)
{
    AUTO(arena) arena = arena_new(0);
    const struct passage section = {.text = "The pool opens in May.", .language = "en"};
    const struct passage *sections[] = {&section};
    struct passage card;
    static const char *const bad[] = {
        "",
        "Here are the cards:",
        "{\"s\":2,\"q\":\"When?\",\"a\":\"The pool opens in May.\"}",
        "{\"s\":0,\"q\":\"When?\",\"a\":\"The pool opens in May.\"}",
        "{\"s\":1,\"q\":\"\",\"a\":\"The pool opens in May.\"}",
        "{\"s\":1,\"q\":\"When?\",\"a\":\"The pool opens in June.\"}",
        "{\"s\":1,\"q\":[\"When?\"],\"a\":\"The pool opens in May.\"}",
        "{\"s\":1,\"q\":\"When?\"",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        CHECK(!cards_read_line(bad[i], sections, 1, arena, &card));
    REQUIRE(cards_read_line("{\"s\":1,\"q\":\"When does it open?\",\"a\":\"In May.\"},", sections,
                            1, arena, &card));
    CHECK_TEXT(card.question, "When does it open?");
    CHECK_TEXT(card.text, "In May.");
    CHECK_TEXT(card.language, "en");
}

/* A model that plays one script for each request. */

struct player {
    struct llm llm;
    struct loop *loop;
    llm_event_fn *fn;
    void *arg;
    struct timer timer;
    uint32_t gen;
    bool *is_closed;
};
static const char *const *scripts; /* "!": it fails; NULL: it hangs */
static unsigned requests;
static bool is_closed;

static void play(void *arg)
{
    struct player *player = arg;
    const char *script = scripts[requests - 1];
    if (!script)
        return;
    struct llm_event event = {.kind = LLM_ERROR, .gen = player->gen, .message = "no"};
    if (strcmp(script, "!") != 0) {
        for (const char *at = script; *at;) { /* in pieces of seven bytes */
            char piece[8] = "";
            size_t n = MIN(strlen(at), sizeof(piece) - 1);
            memcpy(piece, at, n);
            player->fn(player->arg,
                       &(struct llm_event){.kind = LLM_TEXT, .gen = player->gen, .text = piece});
            at += n;
        }
        event.kind = LLM_DONE;
    }
    player->fn(player->arg, &event);
}

static struct llm *open_player(const struct engine *engine, const struct llm_config *config,
                               struct loop *loop, llm_event_fn *fn, void *arg);

static void start_player(struct llm *llm, uint32_t gen, const struct llm_request *request)
{
    struct player *player = (struct player *)llm;
    CHECK(request->message_count == 1 && strstr(request->messages[0].text, "[1]\n") != NULL);
    player->gen = gen;
    requests++;
    timer_set_after(&player->timer, 0);
}

static void cancel_player(struct llm *llm)
{
    timer_stop(&((struct player *)llm)->timer);
}

static void close_player(struct llm *llm)
{
    cancel_player(llm);
    is_closed = true;
    mem_free(llm);
}

static const struct llm_ops ops = {open_player, start_player, cancel_player, close_player};

static struct llm *open_player(const struct engine *engine, const struct llm_config *config,
                               struct loop *loop, llm_event_fn *fn, void *arg)
{
    (void)engine;
    CHECK_TEXT(config->workspace, "usr_1");
    struct player *player = mem_new(struct player);
    *player = (struct player){.llm = {&ops}, .loop = loop, .fn = fn, .arg = arg};
    timer_init(&player->timer, loop, play, player);
    return &player->llm;
}

struct writing {
    struct loop *loop;
    struct card_writer *writer;
    size_t done, all;
};

static void on_progress(void *arg, size_t done, size_t sections)
{
    struct writing *writing = arg;
    writing->done = done;
    writing->all = sections;
}

static void on_done(void *arg)
{
    struct writing *writing = arg;
    card_writer_close(TAKE(writing->writer));
    loop_stop(writing->loop);
}

/* Eight sections of one sentence each: two requests. */
static struct writing write_cards(const char *const *said, struct arena *arena,
                                  struct passages *out)
{
    static const struct engine engine = {.ops = {.llm = &ops}};
    struct writing writing = {.loop = loop_new("cards")};
    AUTO_BUF text = BUF_INIT(1 << 16);
    for (int i = 0; i < 8; i++)
        (void)buf_printf(&text, "# Part %c\n\nRoom %c costs %d dollars.\n\n", 'a' + i, 'a' + i,
                         i + 20);
    CHECK_INT(passages_cut(text.data, NULL, arena, out), OK);
    CHECK_INT(out->count, 8);
    scripts = said;
    requests = 0;
    is_closed = false;
    const struct card_writer_spec spec = {.engine = &engine,
                                          .loop = writing.loop,
                                          .workspace_id = "usr_1",
                                          .arena = arena,
                                          .passages = out,
                                          .on_progress = on_progress,
                                          .on_done = on_done,
                                          .arg = &writing};
    writing.writer = card_writer_open(&spec);
    loop_run(writing.loop);
    CHECK(is_closed);
    loop_free(writing.loop);
    return writing;
}

TEST(sections_are_sent_in_batches_and_false_cards_thrown_away)
{
    AUTO(arena) arena = arena_new(0);
    struct passages cut;
    static const char *const said[] = {
        "Sure!\n{\"s\":1,\"q\":\"What does room a cost?\",\"a\":\"Room a costs 20 dollars.\"}\n"
        "{\"s\":2,\"q\":\"What does room b cost?\",\"a\":\"Room b costs 99 dollars.\"}\n"
        "{\"s\":1,\"q\":\"What does room a cost?\",\"a\":\"Room a costs 20 dollars.\"}",
        "{\"s\":2,\"q\":\"What is the price of room h?\",\"a\":\"It costs 27 dollars.\"}",
    };
    struct writing writing = write_cards(said, arena, &cut);
    CHECK_INT(requests, 2);
    CHECK(writing.done == 8 && writing.all == 8);
    REQUIRE(cut.count == 10);
    CHECK_TEXT(cut.items[8].question, "What does room a cost?");
    CHECK_TEXT(cut.items[8].text, "Room a costs 20 dollars.");
    CHECK_TEXT(cut.items[9].question, "What is the price of room h?");
}

TEST(a_model_that_fails_costs_no_document)
{
    AUTO(arena) arena = arena_new(0);
    struct passages cut;
    static const char *const said[] = {
        "{\"s\":1,\"q\":\"What does room a cost?\",\"a\":\"Room a costs 20 dollars.\"}\n", "!"};
    (void)write_cards(said, arena, &cut);
    CHECK_INT(cut.count, 9); /* what it had written before stays */
    static const char *const fails[] = {"!"};
    (void)write_cards(fails, arena, &cut);
    CHECK_INT(cut.count, 8);
}
