#include "fake/outside.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <sqlite3.h>

#include "sweep.h"

int outside_sqlite_code = SQLITE_FULL;
_Atomic bool outside_has_sockets;

/* The library's function of that name. */
#define REAL(fn)                                                                                   \
    static __typeof__(fn) *real;                                                                   \
    if (!real)                                                                                     \
    find(#fn, &real)

static void find(const char *name, void *out)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    memcpy(out, &found, sizeof(found));
}

/* SQLite. */

/* SQLite calls itself through the same names; only the outermost call is one from outside. */
static _Thread_local bool is_inside;

static bool sqlite_fails(const char *what)
{
    return !is_inside && sweep_fails(what);
}

int sqlite3_open_v2(const char *path, sqlite3 **out, int flags, const char *vfs)
{
    REAL(sqlite3_open_v2);
    int code = real(path, out, flags, vfs);
    return code == SQLITE_OK && sqlite_fails("sqlite open") ? SQLITE_CANTOPEN : code;
}

int sqlite3_prepare_v3(sqlite3 *db, const char *sql, int len, unsigned flags, sqlite3_stmt **out,
                       const char **tail)
{
    REAL(sqlite3_prepare_v3);
    if (sqlite_fails("sqlite prepare"))
        return outside_sqlite_code;
    return real(db, sql, len, flags, out, tail);
}

int sqlite3_step(sqlite3_stmt *stmt)
{
    REAL(sqlite3_step);
    return sqlite_fails("sqlite step") ? outside_sqlite_code : real(stmt);
}

int sqlite3_exec(sqlite3 *db, const char *sql, int (*row)(void *, int, char **, char **), void *arg,
                 char **message)
{
    REAL(sqlite3_exec);
    if (strncmp(sql, "ROLLBACK", 8) != 0 && sqlite_fails("sqlite exec"))
        return outside_sqlite_code;
    bool was_inside = is_inside;
    is_inside = true;
    int code = real(db, sql, row, arg, message);
    is_inside = was_inside;
    return code;
}

/* Sockets. */

static bool socket_fails(const char *what)
{
    return outside_has_sockets && sweep_fails(what);
}

int connect(int fd, const struct sockaddr *address, socklen_t len)
{
    REAL(connect);
    if (!socket_fails("connect"))
        return real(fd, address, len);
    errno = ECONNREFUSED;
    return -1;
}

static ssize_t cut_off(int fd)
{
    shutdown(fd, SHUT_RDWR);
    errno = ECONNRESET;
    return -1;
}

ssize_t send(int fd, const void *data, size_t len, int flags)
{
    REAL(send);
    return socket_fails("send") ? cut_off(fd) : real(fd, data, len, flags);
}

ssize_t recv(int fd, void *data, size_t len, int flags)
{
    REAL(recv);
    return socket_fails("recv") ? cut_off(fd) : real(fd, data, len, flags);
}
