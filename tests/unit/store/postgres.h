/* A PostgreSQL server of the test's own (Debian's postgresql-15), in its own directory on a Unix
 * socket, run as user postgres when we are root. It dies with the process that started it.
 * Thread: the test's. */
#pragma once

#include <stdbool.h>

struct postgres;

struct postgres *postgres_start(void);         /* NULL: said why on stderr */
void postgres_stop(struct postgres *postgres); /* and removes its directory */
/* Makes an empty database and writes its URL. */
bool postgres_database(struct postgres *postgres, const char *name, char *out_url, unsigned size);
/* The same as a copy of another that nobody is connected to. */
bool postgres_copy(struct postgres *postgres, const char *of, const char *name, char *out_url,
                   unsigned size);
/* For tests of a server that goes away: SIGQUIT, as a crash, and up again. */
void postgres_crash(struct postgres *postgres);
bool postgres_again(struct postgres *postgres);
/* All its processes stand still (SIGSTOP), or go on: a server that answers nothing and does not
 * say so. */
void postgres_freeze(struct postgres *postgres, bool is_frozen);
