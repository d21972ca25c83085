/* The operator's account with one vendor: what every network engine reads from its section
 * [engine.<id>]. An adapter's own state begins with it. Immutable after account_read().
 * Thread: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "vendor/lane.h"

struct buf;
struct config;
struct engine_info;
struct vendor;

enum { ACCOUNT_SECRETS = 3 };

struct account {
    struct vendor *vendor;
    const char *engine;             /* its id; lives as long as the registry */
    char *url;                      /* without a slash at its end */
    char *key;                      /* NULL: none */
    char *secrets[ACCOUNT_SECRETS]; /* that a server may quote: key, user and query of the URL */
    struct lane_limits limits;      /* of the node */
};

/* Whether a section must hold a key, or a URL alone will do (a server of the operator's own). */
enum account_needs { ACCOUNT_NEEDS_KEY, ACCOUNT_NEEDS_KEY_OR_URL, ACCOUNT_NEEDS_URL };

struct account_plan {
    const char *url; /* the vendor's own; NULL with ACCOUNT_NEEDS_URL */
    enum account_needs needs;
};

/* False: the section lacks what is needed, and nothing was made. */
bool account_read(struct account *account, struct vendor *vendor, const struct config *config,
                  const struct engine_info *info, const struct account_plan *plan);
void account_clear(struct account *account);

/* A copy of a text setting, "" when it is not set; mem_free. */
char *account_option(const struct config *config, const struct engine_info *info, const char *name);

/* Writes asterisks over every secret of the account that the text holds, as it stands or in
 * percent-encoding: what a vendor says is written to logs. */
void account_mask(const struct account *account, struct buf *text);
