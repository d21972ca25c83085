/* Nodes and commands. A node has a name and, from each start on, a higher epoch; it renews a lease
 * by the database's clock. What it owns carries its name and epoch. A command is a row that the
 * owner of a call carries out and answers. Thread: inside a job. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/ids.h"

struct tx;

enum {
    NODE_LEASE_MS = 10000, /* others end a node's calls when it is over: well within 15 s */
    NODE_RENEW_MS = 2000,  /* one that cannot renew stops its calls at half the lease */
};

/* This process begins: the epoch counts up, the lease starts. Once, before the first call. */
enum err store_node_start(struct tx *tx, const char *public_url) MUST_USE;
/* ERR_DENIED: another process has started under this name, or the lease ran out and others have
 * ended the calls: stop all calls. out_until_ms: the lease's end by tx->now_ms's clock. */
enum err store_node_renew(struct tx *tx, int64_t *out_until_ms) MUST_USE;
/* A clean end: the lease is over now. */
enum err store_node_stop(struct tx *tx) MUST_USE;

/* Who owns a call: "" when it is ended. public_url: of the owner. ERR_NOT_FOUND: no such call. */
enum err store_node_owner(struct tx *tx, const char *call_id, char out_node[ID_SIZE * 2],
                          bool *out_is_here, bool *out_is_alive) MUST_USE;

enum command_kind { COMMAND_END, COMMAND_SAY };
struct command {
    int64_t id;
    enum command_kind kind;
    char call_id[ID_SIZE];
    const char *text; /* of say; "" */
};
/* Asks the call's owner; *out_id is for the wait. ERR_NOT_FOUND: no such call, or ended;
 * ERR_CLOSED: its owner is dead (recovery will end the call). */
enum err store_command_ask(struct tx *tx, enum command_kind kind, const char *call_id,
                           const char *text, int64_t *out_id) MUST_USE;
/* Commands for this node's calls that nobody has taken; taken by this call. */
enum err store_command_take(struct tx *tx, unsigned limit, struct command **out,
                            size_t *out_n) MUST_USE;
enum err store_command_answer(struct tx *tx, int64_t id, enum err result) MUST_USE;
/* ERR_AGAIN: not answered yet. OK: *out_result is what the owner said; the row is gone. */
enum err store_command_result(struct tx *tx, int64_t id, enum err *out_result) MUST_USE;
