/* See db_pg_wire.h. The connection is a non-blocking one, so that neither sending nor closing waits
 * for a peer that reads nothing. Thread: one at a time for each connection. */
#include "store/db_pg_wire.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include <postgresql/libpq-fe.h>

#include "base/clock.h"
#include "store/db.h"

enum {
    LOOK_MS = 100, /* how late the end of the time may be noticed */
};

static void ignore_notice(void *arg, const PGresult *result)
{
    (void)arg, (void)result;
}

enum err pg_wire_open(const char *url, struct pg_conn **out, struct fault *fault)
{
    /* Later keywords win over the URL's; the URL's own are expanded from dbname. */
    const char *const names[] = {
        "fallback_application_name", "connect_timeout",  "keepalives_idle", "keepalives_interval",
        "keepalives_count",          "tcp_user_timeout", "dbname",          NULL};
    const char *const values[] = {"earshot", "2", "5", "2", "3", "10000", url, NULL};
    PGconn *conn = PQconnectdbParams(names, values, 1);
    if (PQstatus(conn) != CONNECTION_OK || PQsetnonblocking(conn, 1)) {
        const char *message = PQerrorMessage(conn);
        fault_set(fault, ERR_CLOSED, "PostgreSQL: %.*s", (int)strcspn(message, "\n"), message);
        PQfinish(conn);
        return ERR_CLOSED;
    }
    PQsetNoticeReceiver(conn, ignore_notice, NULL);
    *out = conn;
    return OK;
}

/* Sends what is left and reads what has come. false: the connection is lost, or the time is over.
 */
static bool wait_for_more(PGconn *conn, const struct db *db)
{
    int unsent = PQflush(conn);
    if (unsent < 0 || db_is_over(db))
        return false;
    struct pollfd wire = {.fd = PQsocket(conn), .events = (short)(POLLIN | (unsent ? POLLOUT : 0))};
    int ready = poll(&wire, 1, LOOK_MS);
    if (ready < 0)
        return errno == EINTR;
    return ready == 0 || !(wire.revents & ~POLLOUT) || PQconsumeInput(conn);
}

void db_pg_pause(unsigned ms)
{
    poll(NULL, 0, (int)ms);
}

struct pg_result *pg_wire_answer(struct pg_conn *conn, int is_sent, const struct db *db)
{
    PGresult *last = NULL;
    bool is_lost = !is_sent;
    while (!is_lost) {
        if (PQflush(conn) || PQisBusy(conn)) {
            is_lost = !wait_for_more(conn, db);
            continue;
        }
        PGresult *result = PQgetResult(conn);
        if (!result)
            return last;
        PQclear(last);
        last = result;
        is_lost = PQstatus(conn) != CONNECTION_OK;
    }
    PQclear(last);
    return NULL;
}
