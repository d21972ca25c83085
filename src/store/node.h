/* Nodes and commands. A node has a name and, from each start on, a higher epoch, and renews a
 * lease. What it owns carries its name and epoch. A command is a row that the owner of a call
 * carries out and answers. Thread: inside a job. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/ids.h"

struct tx;

/* A living node renews its row every second. Another one is dead when its row has stayed as it was
 * for NODE_LEASE_MS by the clock of whoever looks: so a step of the database's clock, or of any
 * node's, kills nobody. Then it is fenced (its epoch counts up, so that nothing it writes counts),
 * and its calls are ended; should it live, it learns so at its next renewal. */
enum {
    NODE_LEASE_MS = 10000,
    NODE_RENEW_MS = 1000,
};

enum { NODES_SEEN_MAX = 64, NODE_URL_SIZE = 256 };

/* This process begins: the epoch counts up, the lease starts. Once, before the first call. On
 * SQLite, which has one process, all other names are fenced. */
enum err store_node_start(struct tx *tx, const char *public_url) MUST_USE;
/* ERR_DENIED: another process has started under this name, or this one was taken for dead and
 * others are ending its calls: stop all calls. */
enum err store_node_renew(struct tx *tx) MUST_USE;
/* A clean end: what is left of this process is for others to settle. */
enum err store_node_stop(struct tx *tx) MUST_USE;

/* The row of another node, that lives or has died without a word. */
struct node_sight {
    char id[ID_SIZE * 2];
    int64_t epoch, lease_until_ms; /* its renewals change the latter */
    char public_url[NODE_URL_SIZE];
};
enum err store_node_others(struct tx *tx, struct node_sight out[NODES_SEEN_MAX],
                           size_t *out_n) MUST_USE;
/* It is dead, unless it has renewed since it was seen like this: then nothing happens. */
void store_node_fence(struct tx *tx, const struct node_sight *seen);

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
enum {
    COMMANDS_OF_CALL = 16,      /* that wait; as many lines as a call lets wait */
    COMMANDS_OF_WORKSPACE = 64, /* so that one tenant's storm is short */
};
/* Asks the call's owner; *out_id is for the wait. To end a call is asked once, however many ask for
 * it, and has no ceiling. ERR_NOT_FOUND: no such call, or ended; ERR_CLOSED: its owner is dead
 * (recovery will end the call); ERR_LIMIT: too many lines wait to be said. */
enum err store_command_ask(struct tx *tx, enum command_kind kind, const char *call_id,
                           const char *text, int64_t *out_id) MUST_USE;
/* Commands for this node's calls that nobody has taken; taken by this call: of each workspace the
 * first, then of each the second, ...; given in the order in which they were asked. */
enum err store_command_take(struct tx *tx, unsigned limit, struct command **out,
                            size_t *out_n) MUST_USE;
enum err store_command_answer(struct tx *tx, int64_t id, enum err result) MUST_USE;
struct command_answer {
    int64_t id;
    enum err result; /* what the owner said */
};
struct command_answer_list LIST_OF(struct command_answer);
/* The answers to commands from from_id on, whoever asked. They stay for 20 s after the question. */
enum err store_command_answers(struct tx *tx, int64_t from_id,
                               struct command_answer_list *out) MUST_USE;
