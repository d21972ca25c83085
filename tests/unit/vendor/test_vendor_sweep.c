/* The chat adapter against what may go wrong around it: each call of a socket fails in turn, and a
 * request is given up at each step of its answer, from everywhere. */
#include <stdio.h>

#include "base/attr.h"
#include "base/loop.h"
#include "base/mem.h"
#include "fake/chat_server.h"
#include "fake/outside.h"
#include "rig.h"
#include "sweep.h"
#include "test.h"

#define EVENT(t) "data: {\"choices\":[{\"delta\":{\"content\":\"" t "\"}}]}\n\n"
#define STOP     "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

static const struct llm_message hello[] = {{.role = LLM_SYSTEM, .text = "You are kind."},
                                           {.role = LLM_USER, .text = "Hello"}};
static const struct llm_request request = {.messages = hello,
                                           .message_count = ARRAY_LEN(hello),
                                           .language = "en",
                                           .temperature = 0.4,
                                           .max_tokens = 300};

/* Each outside call fails. */

TEST(openai_outlives_any_one_fault_of_its_connection)
{
    static const struct chat_script good = {.pieces = {EVENT("Good "), EVENT("day."), STOP}};
    unsigned runs = 0;
    outside_has_sockets = true;
    SWEEP(run)
    {
        sweep_pause();
        struct llm_rig *rig = llm_rig_chat(NULL, 0);
        chat_server_play(rig->server, &good, 1);
        sweep_resume();
        const char *text = llm_rig_ask(rig, &request);
        sweep_pause();
        CHECK(rig->is_done); /* an end was told, once */
        bool is_answered = rig->error == ENGINE_OK;
        CHECK(is_answered || sweep_failed());
        CHECK(!is_answered || strcmp(text, "Good day.") == 0);
        CHECK(is_answered || rig->error == ENGINE_TRANSIENT || rig->error == ENGINE_TIMEOUT);
        CHECK_TEXT(llm_rig_ask(rig, &request), "Good day."); /* and the next one is answered */
        llm_rig_free(rig);
        sweep_resume();
        runs++;
    }
    outside_has_sockets = false;
    CHECK(runs > 5);
}

TEST(openai_tells_when_nothing_works_any_more)
{
    static const struct chat_script good = {.pieces = {EVENT("Good "), EVENT("day."), STOP}};
    outside_has_sockets = true;
    SWEEP_LASTING(run)
    {
        sweep_pause();
        struct llm_rig *rig = llm_rig_chat(NULL, 0);
        chat_server_play(rig->server, &good, 1);
        sweep_resume();
        llm_rig_ask(rig, &request);
        sweep_pause();
        CHECK(rig->is_done);
        CHECK(rig->error == ENGINE_OK || sweep_failed());
        llm_rig_free(rig);
        sweep_resume();
    }
    outside_has_sockets = false;
}

/* Each step is the last; under ASan this found a fetch that was used after it was freed.
 */

enum { SESSIONS = 2 };
enum ending { CANCEL, ASK_ANEW, CLOSE, ENDINGS };

struct session {
    struct giving_up *test;
    struct llm *llm;
    uint32_t gen;
    bool is_over;
};

/* Two calls ask at once, over one client; at step `at` one is given up, be it inside an event
 * of its own, inside one of the other's, or between. */
struct giving_up {
    struct llm_rig *rig;
    struct session sessions[SESSIONS];
    struct timer tick;
    enum ending ending;
    int step, at, victim;
    bool is_given_up;
};

static void give_up(struct giving_up *test)
{
    struct session *victim = &test->sessions[test->victim];
    test->is_given_up = true;
    switch (test->ending) {
    case CANCEL: /* a barge-in */
        victim->llm->ops->cancel(victim->llm);
        victim->is_over = true;
        break;
    case ASK_ANEW: /* an early reply that is thrown away */
        victim->llm->ops->cancel(victim->llm);
        victim->llm->ops->start(victim->llm, ++victim->gen, &request);
        victim->is_over = false;
        break;
    case CLOSE: /* the call ends */
        victim->llm->ops->close(TAKE(victim->llm));
        victim->is_over = true;
        break;
    case ENDINGS:
        break;
    }
}

static bool is_over(const struct giving_up *test)
{
    return test->sessions[0].is_over && test->sessions[1].is_over;
}

/* Each event, and each turn of the loop. */
static void count_step(struct giving_up *test)
{
    if (++test->step == test->at)
        give_up(test);
    if (is_over(test))
        loop_stop(test->rig->loop);
}

static void on_event(void *arg, const struct llm_event *event)
{
    struct session *session = arg;
    CHECK(session->llm != NULL); /* none comes after close() */
    if (event->gen != session->gen)
        return;
    bool is_end = event->kind == LLM_DONE || event->kind == LLM_ERROR;
    CHECK(!session->is_over);
    session->is_over = session->is_over || is_end;
    count_step(session->test);
}

static void on_tick(void *arg)
{
    struct giving_up *test = arg;
    if (is_over(test))
        return;
    timer_set_after(&test->tick, 0);
    count_step(test);
}

static void run_giving_up(struct giving_up *test)
{
    struct llm_rig *rig = test->rig;
    struct llm_config config = {.model = "m", .workspace = "usr_1"};
    for (int i = 0; i < SESSIONS; i++) {
        struct session *session = &test->sessions[i];
        session->test = test;
        session->llm =
            rig->engine->ops.llm->open(rig->engine, &config, rig->loop, on_event, session);
        session->llm->ops->start(session->llm, ++session->gen, &request);
    }
    timer_init(&test->tick, rig->loop, on_tick, test);
    timer_set_after(&test->tick, 0);
    loop_run_for(rig->loop, 10000000);
    timer_stop(&test->tick);
    CHECK(is_over(test));
    for (int i = 0; i < SESSIONS; i++)
        if (test->sessions[i].llm)
            test->sessions[i].llm->ops->close(TAKE(test->sessions[i].llm));
    loop_run_for(rig->loop, 1000);
}

TEST(openai_may_be_given_up_at_any_step)
{
    static const struct chat_script scripts[] = {
        {.pieces = {EVENT("One "), EVENT("two "), EVENT("three."), STOP}},
        {.head = "HTTP/1.1 503 Busy\r\nretry-after-ms: 0\r\nContent-Length: 0\r\n"
                 "Connection: close\r\n\r\n",
         .closes = true},
        {.pieces = {EVENT("One "), EVENT("two.")}, .closes = true},
        {.pieces = {EVENT("One "), EVENT("two."), STOP}, .split = 7},
        {.pieces = {EVENT("One "), EVENT("two."), STOP}},
    };
    struct llm_rig *rig = llm_rig_chat(NULL, 0);
    for (int i = 0; i < ENDINGS * SESSIONS * ((int)ARRAY_LEN(scripts) - 1); i++) {
        struct giving_up test = {.rig = rig, .ending = i % ENDINGS, .is_given_up = true};
        test.victim = i / ENDINGS % SESSIONS;
        for (int at = 1; test.is_given_up && at < 2000; at++) {
            struct giving_up next = {.rig = rig, .ending = test.ending, .victim = test.victim};
            test = next;
            test.at = at;
            chat_server_play(rig->server, &scripts[i / (ENDINGS * SESSIONS)], 2);
            run_giving_up(&test);
        }
    }
    llm_rig_free(rig);
}
