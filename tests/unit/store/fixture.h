/* What every store test needs: an open store, on SQLite and on PostgreSQL in turn; a loop on which
 * answers come; jobs in one line. */
#pragma once

#include "base/loop.h"
#include "model/agent.h"
#include "model/call.h"
#include "model/document.h"
#include "model/event.h"
#include "model/tool.h"
#include "model/webhook.h"
#include "model/workspace.h"
#include "store/store.h"
#include "test.h"
#include "unit/store/postgres.h"

struct db;
struct fix {
    bool is_pg;
    char dir[64], url[256];
    struct store *store;
    struct arena *arena;
    const char *workspace_id, *agent_id; /* made by fix_people() */
    int64_t ahead_ms;                    /* added to the clock of the transactions */
};

void fix_begin(struct fix *fix, bool is_pg);
void fix_end(struct fix *fix);
/* Another process's or node's view of the same database: its own data directory when it has a
 * name. Close with store_close(). */
struct store *fix_open(struct fix *fix, const char *node, const char *dir_suffix);
/* A database beside it with the tables of an older version; db_close() it. NULL: told. */
struct db *fix_old(struct fix *fix, const char *name, int version);
void fix_people(struct fix *fix); /* a workspace with 10 USD and an agent with a webhookUrl */
/* The same within a transaction: others than before. */
void fix_people_in(struct fix *fix, struct tx *tx);
struct postgres *fix_server(void);

/* STORE_TEST(name) { ... fix ... } runs twice. */
#define STORE_TEST(name)                                                                           \
    static void body_##name(struct fix *fix);                                                      \
    TEST(name##_on_sqlite)                                                                         \
    {                                                                                              \
        struct fix fix = {0};                                                                      \
        fix_begin(&fix, false);                                                                    \
        body_##name(&fix);                                                                         \
        fix_end(&fix);                                                                             \
    }                                                                                              \
    TEST(name##_on_postgres)                                                                       \
    {                                                                                              \
        struct fix fix = {0};                                                                      \
        fix_begin(&fix, true);                                                                     \
        body_##name(&fix);                                                                         \
        fix_end(&fix);                                                                             \
    }                                                                                              \
    static void body_##name(struct fix *fix)

/* One transaction in the test's own thread:
 * struct tx *tx = fix_write(fix); ... CHECK_INT(fix_commit(tx), OK); */
struct tx *fix_write(struct fix *fix);
struct tx *fix_read(struct fix *fix); /* ended by fix_rollback() */
enum err fix_commit(struct tx *tx);   /* watches are told, as of a job's */
void fix_rollback(struct tx *tx);

/* Awaits what another thread or process does: while (!it_is_so() && fix_wait(&wait)) continue;
 * False when so much time has gone by that it will never be so, however loaded the machine. */
struct fix_wait {
    int64_t until_us; /* 0: not begun */
};
bool fix_wait(struct fix_wait *wait);
