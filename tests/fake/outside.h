/* The libraries' outside calls as the fault sweep sees them (tests/sweep.h). A test program that
 * names fake_outside_dep has SQLite's and the sockets' calls of its whole process go through here,
 * those of libpq and libcurl as well: each asks sweep_fails() first, and one that is to fail does
 * nothing and says so in the library's own way.
 *
 *     SQLite    open, prepare, step, exec (but ROLLBACK)   SQLITE_FULL, or what outside_sqlite_code
 * says sockets   connect                                    ECONNREFUSED send, recv ECONNRESET, and
 * the connection is shut down
 *
 * So PostgreSQL is lost before a statement arrives (send) and after it was done (recv). Sockets
 * count only where outside_has_sockets is set: a test's own far end uses them too. */
#pragma once

#include <stdbool.h>

extern int outside_sqlite_code;
extern _Atomic bool outside_has_sockets;
