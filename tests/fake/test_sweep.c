#include "sweep.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/mem.h"
#include "fake/outside.h"
#include "test.h"

/* A case with three outside calls; true: done. */
static bool three_calls(void)
{
    return !sweep_fails("first") && !sweep_fails("second") && !sweep_fails("third");
}

TEST(sweep_fails_each_call_once_and_ends_with_none_failing)
{
    static const char *const failed[] = {"first", "second", "third", NULL};
    unsigned runs = 0;
    SWEEP(run)
    {
        REQUIRE(runs < ARRAY_LEN(failed));
        CHECK_INT(three_calls(), failed[runs] == NULL);
        CHECK_TEXT(sweep_failed(), failed[runs]);
        CHECK_INT(run.nth, ++runs);
    }
    CHECK_INT(runs, 4);
    CHECK(!sweep_fails("after it"));
    CHECK_TEXT(sweep_where(), "");
}

TEST(a_case_that_tries_again_outlives_one_fault_but_no_lasting_one)
{
    int done = 0, given_up = 0;
    SWEEP(run)
    done += three_calls() || three_calls();
    CHECK_INT(done, 4);
    SWEEP_LASTING(run) given_up += !three_calls() && !three_calls();
    CHECK_INT(given_up, 3);
}

TEST(set_up_of_a_run_does_not_count)
{
    unsigned runs = 0;
    SWEEP(run)
    {
        sweep_pause();
        CHECK(three_calls());
        sweep_resume();
        (void)sweep_fails("the only one");
        runs++;
    }
    CHECK_INT(runs, 2);
}

static int count_rows(void)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    int rows = -1;
    if (sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
        sqlite3_exec(db, "CREATE TABLE t(a); INSERT INTO t VALUES(1)", NULL, NULL, NULL) ==
            SQLITE_OK &&
        sqlite3_prepare_v3(db, "SELECT COUNT(*) FROM t", -1, 0, &stmt, NULL) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW)
        rows = sqlite3_column_int(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return rows;
}

TEST(sqlite_calls_are_swept)
{
    unsigned runs = 0;
    SWEEP(run)
    {
        int rows = count_rows();
        CHECK_INT(rows, sweep_failed() ? -1 : 1);
        runs++;
    }
    CHECK_INT(runs, 5);
}

TEST(sockets_are_swept_where_asked_for)
{
    outside_has_sockets = true;
    SWEEP(run)
    {
        int pair[2];
        char got;
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
        bool is_through =
            send(pair[0], "x", 1, MSG_NOSIGNAL) == 1 && recv(pair[1], &got, 1, 0) == 1;
        CHECK_INT(is_through, !sweep_failed());
        close(pair[0]);
        close(pair[1]);
    }
    outside_has_sockets = false;
}
