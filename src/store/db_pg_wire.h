/* One question to a PostgreSQL server and its answer within a time, for db_pg.c: a server that is
 * frozen, or a network that swallows packets, holds no thread for ever.
 * Thread: one at a time for each connection. */
#pragma once

#include "base/attr.h"
#include "base/err.h"

struct db;
struct pg_conn;
struct pg_result;

/* A connection on which nothing waits by itself. ERR_CLOSED. */
enum err pg_wire_open(const char *url, struct pg_conn **out, struct fault *fault) MUST_USE;

/* is_sent: what PQsend...() returned. The last result, as PQexec() would give it. NULL: the
 * connection is lost, or db_is_over(db) came first: its next answer would be this question's, so it
 * is of no use any more. */
struct pg_result *pg_wire_answer(struct pg_conn *conn, int is_sent, const struct db *db) MUST_USE;
