/* A loop, a registry out of settings, and one session that writes down what it is told. */
#pragma once

#include "base/buf.h"
#include "vendor/vendor.h"

struct http_client;
struct loop;

/* "section.name=value" lines; aborts the test on a bad one. */
struct registry *rig_registry(struct vendor *vendor, const char *const *settings, size_t count);
void loop_run_for(struct loop *loop, int64_t us);
/* So many turns at least, whatever they last: enough for what is under way on the loop itself. */
void loop_turns(struct loop *loop, int turns);

/* Runs the loop until that is so, and looks in each turn; fails when it never is. */
#define LOOP_AWAIT(loop, cond)                                                                     \
    ({                                                                                             \
        for (int turns_ = 0; turns_ < LOOP_TURNS_MAX && !(cond); turns_++)                         \
            loop_turns(loop, 1);                                                                   \
        CHECK(cond);                                                                               \
    })
enum { LOOP_TURNS_MAX = 60000 }; /* a minute */

struct llm_rig {
    struct loop *loop;
    struct guard *guard; /* these four for network engines only */
    struct resolver *resolver;
    struct http_client *http;
    struct chat_server *server;
    struct vendor *vendor;
    struct registry *registry;
    const struct engine *engine;
    struct llm *llm;
    struct buf text;
    char tool[160], arguments[256], extra[128];
    unsigned events, tools;
    bool is_done, is_cut;
    bool is_ahead; /* of the next call */
    enum engine_error error;
    char message[512];
    int64_t retry_us; /* of an error */
    uint32_t gen;
};
struct llm_rig *llm_rig_new(const char *engine);
/* The engine openai (or another chat engine) against a stand-in; further settings may be given. */
struct llm_rig *llm_rig_chat(const char *const *settings, size_t count);
struct llm_rig *llm_rig_chat_of(const char *engine, const char *const *settings, size_t count);
void llm_rig_free(struct llm_rig *rig);
void llm_rig_next_call(struct llm_rig *rig); /* closes the session, opens another of the engine */
/* Asks and waits for the end; the text. */
const char *llm_rig_ask(struct llm_rig *rig, const struct llm_request *request);
