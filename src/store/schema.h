/* The tables and their versions: forward only, each version in one transaction.
 * Thread: inside store_open(). */
#pragma once

#include "base/attr.h"
#include "base/err.h"

struct db;

int schema_version(void); /* that this program knows */
/* Brings the database to schema_version(). Several processes may do so at once. ERR_UNSUPPORTED:
 * the database is of a newer version. */
enum err schema_migrate(struct db *db, struct fault *fault) MUST_USE;
/* The same up to one version, for tests of the next. */
enum err schema_migrate_to(struct db *db, int version, struct fault *fault) MUST_USE;
