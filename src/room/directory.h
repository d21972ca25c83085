/* Where each room lives: room name to media loop, or over. Answers the HTTP side of joining on the
 * control loop (paths /rtc, /rtc/v1 and their /validate): checks token and room, refuses with
 * status, text and CORS headers, or hands the connection to the room's loop before the 101
 * (architecture, Joining).
 *
 * A room that is over is remembered for ROOM_TOMBSTONE_US and refused with 403: the only status at
 * which clients give up at once instead of starting a new room (LiveKit, Resume exchange).
 * Thread: control loop, except where it says `any`. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/loop.h"
#include "room/token.h"

struct http_exchange;
struct http_request;
struct room_directory;
struct rooms;

/* Longer than any client's retry window of some 45 s. */
enum { ROOM_TOMBSTONE_US = 120 * 1000 * 1000 };

/* signer: borrowed texts, live as long as the directory. */
struct room_directory *room_directory_new(struct loop *control, const struct token_signer *signer);
void room_directory_free(struct room_directory *directory);
DEFINE_AUTO(room_directory)

/* fn is told of each token that fails; false: its sender has failed too often and is answered 429.
 * NULL (at first): nobody counts. */
typedef bool room_failure_fn(void *arg, const struct http_request *request);
void room_directory_on_failure(struct room_directory *directory, room_failure_fn *fn, void *arg);

/* From now on joins of `room` go to `rooms`. Post what opens the host to that loop before or right
 * after, from the same thread: messages keep their order. ERR_CONFLICT: the name is in use. */
enum err room_directory_add(struct room_directory *directory, const char *room,
                            struct rooms *rooms) MUST_USE;
/* The room is over; unknown names become tombstones as well. any: posts itself. */
void room_directory_over(struct room_directory *directory, const char *room);
unsigned room_directory_count(const struct room_directory *directory); /* rooms that are open */

/* True when the path is one of the rooms' (then the exchange is answered or handed over). A path
 * prefix of livekitUrl must have been cut; a leading double slash counts as one. */
bool room_admit(struct room_directory *directory, struct http_exchange *exchange);
