#include "talk/reply.h"

#include <stdio.h>
#include <string.h>

#include "engine/llm.h"
#include "test.h"

/* Each pair of state and event, as the picture in the header has it; -1: no move. */
TEST(reply_moves_as_the_table_says)
{
    static const int want[REPLY_STATE_COUNT][REPLY_EVENT_COUNT] = {
        /* LOOKS, ASKS, DONE, RUNS, ENDS */
        [REPLY_NONE] = {REPLY_LOOKING, REPLY_ASKED, -1, -1, -1},
        [REPLY_LOOKING] = {-1, REPLY_ASKED, -1, -1, REPLY_NONE},
        [REPLY_ASKED] = {-1, REPLY_ASKED, REPLY_READY, -1, REPLY_NONE},
        [REPLY_READY] = {-1, -1, -1, REPLY_TOOLS, REPLY_NONE},
        [REPLY_TOOLS] = {-1, REPLY_ASKED, -1, -1, REPLY_NONE},
    };
    for (int state = 0; state < REPLY_STATE_COUNT; state++)
        for (int event = 0; event < REPLY_EVENT_COUNT; event++) {
            struct reply reply;
            reply_init(&reply, "en");
            reply.state = (enum reply_state)state;
            bool has_moved = reply_move(&reply, (enum reply_event)event);
            CHECK_INT(has_moved ? (int)reply.state : -1, want[state][event]);
            reply_clear(&reply);
        }
}

/* What it wants, a word each. */
static void take_wants(struct reply *reply, char *out, size_t size)
{
    static const char *const names[] = {
        [REPLY_WANTS_LOOK_UP] = "look-up", [REPLY_WANTS_ASK] = "ask",
        [REPLY_WANTS_UNASK] = "unask",     [REPLY_WANTS_PIECE] = "piece",
        [REPLY_WANTS_LINE_END] = "end",    [REPLY_WANTS_SAY] = "say",
        [REPLY_WANTS_ERROR] = "error",     [REPLY_WANTS_TOOLS] = "tools",
        [REPLY_WANTS_RUN] = "run",         [REPLY_WANTS_LANGUAGE] = "language",
        [REPLY_WANTS_HANG_UP] = "hang-up",
    };
    struct reply_want want;
    size_t len = 0;
    out[0] = 0;
    while (reply_want(reply, &want) && len < size)
        len += (size_t)snprintf(out + len, size - len, "%s%s%s%s ", names[want.wish],
                                want.text ? "(" : "", want.text ? want.text : "",
                                want.text ? ")" : "");
}

#define CHECK_WANTS(reply, expected)                                                               \
    do {                                                                                           \
        char wants_[256];                                                                          \
        take_wants(reply, wants_, sizeof(wants_));                                                 \
        CHECK_TEXT(wants_, expected);                                                              \
    } while (0)

TEST(reply_made_early_says_nothing_until_it_is_committed)
{
    struct reply reply;
    reply_init(&reply, "en");
    reply_start(&reply, "tea please", "", false, true, 0);
    CHECK_WANTS(&reply, "look-up(tea please) ");
    reply_found(&reply, NULL, 0, 1000);
    CHECK_WANTS(&reply, "ask ");
    reply_text(&reply, "Of course. ", 2000);
    reply_done(&reply);
    CHECK_WANTS(&reply, "");
    CHECK(reply_answers(&reply, "tea please", ""));
    CHECK(!reply_answers(&reply, "coffee please", ""));
    CHECK(!reply_answers(&reply, "tea please", "tea")); /* heard less well than it was taken for */
    reply_commit(&reply);
    CHECK_WANTS(&reply, "piece(Of course.) end ");
    CHECK_INT(reply.state, REPLY_NONE);
    reply_clear(&reply);
}

TEST(reply_without_words_is_an_apology)
{
    struct reply reply;
    reply_init(&reply, "en");
    reply_start(&reply, "hello", "", true, false, 0);
    CHECK_WANTS(&reply, "ask ");
    reply_done(&reply);
    CHECK_WANTS(&reply, "end say ");
    reply_clear(&reply);
}

TEST(reply_is_tried_again_before_its_first_word_only)
{
    const struct llm_event failure = {.kind = LLM_ERROR, .error = ENGINE_TRANSIENT};
    struct reply reply;
    reply_init(&reply, "en");
    reply_start(&reply, "hello", "", true, false, 0);
    reply_failed(&reply, &failure, false, 1000);
    CHECK_WANTS(&reply, "ask unask ask ");
    reply_text(&reply, "Good day. How", 2000);
    reply_failed(&reply, &failure, false, 3000);
    CHECK_WANTS(&reply, "piece(Good day.) unask end say "); /* that it ends there is said */
    CHECK_INT(reply.state, REPLY_NONE);
    reply_clear(&reply);
}

TEST(reply_that_is_cancelled_is_not_asked_for_any_more)
{
    struct reply reply;
    reply_init(&reply, "en");
    reply_start(&reply, "hello", "", true, false, 0);
    reply_cancel(&reply);
    CHECK_WANTS(&reply, "ask unask end ");
    CHECK_INT(reply_deadline_us(&reply, 0), INT64_MAX);
    reply_cancel(&reply);
    CHECK_WANTS(&reply, "");
    reply_clear(&reply);
}
