/* The running service's side of `earshot show`: a Unix socket in the data directory (mode 0600).
 * Who connects is answered with one JSON tree and cut. Thread: its loop. */
#pragma once

#include "base/attr.h"
#include "base/err.h"

struct js;
struct loop;
struct show_client;
struct show_socket;

/* Asks for the tree; show_answer() must come, now or later. */
typedef void show_fn(void *arg, struct show_client *client);

/* Takes the place of a socket that a dead process left. ERR_BUSY: a process listens there. */
enum err show_socket_open(struct loop *loop, const char *data_dir, show_fn *fn, void *arg,
                          struct show_socket **out, struct fault *fault) MUST_USE;
/* Clients that wait for their tree still get it. NULL is fine. */
void show_socket_close(struct show_socket *socket);

void show_answer(struct show_client *take_client, struct js *take_tree);
