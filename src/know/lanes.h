/* The lines in which documents wait to be read: what is quick never waits behind what is slow, and
 * within a lane workspaces take turns (base/fair.h).
 *
 *   SHORT  texts of a few pages   '- their turn is over and others wait -.
 *   TEXT   longer ones            '--------------------------------------+--> LONG
 *   FILE   PDF, Word              '--------------------------------------'
 *
 * So a reader is free for somebody else within a turn, whatever the documents in it do; and no more
 * than the places of all lanes are read at once. What waits for a model that writes is set aside:
 * it counts for its workspace alone, up to a ceiling of its own. Thread: its loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/fair.h"
#include "model/document.h"

struct lanes;

enum lane { LANE_SHORT, LANE_TEXT, LANE_FILE, LANE_LONG, LANE_COUNT };

/* A member of what waits. */
struct lane_item {
    struct fair_item item;
    enum lane lane; /* set before lanes_push() */
};

enum { LANE_TURN_US = 5000000 /* then one makes way, except in LANE_LONG */ };

struct lanes *lanes_new(void);
void lanes_free(struct lanes *lanes); /* what still waits or runs is forgotten, not freed */

enum lane lane_of(enum document_kind kind, int64_t bytes);
/* ERR_BUSY: too many wait. */
enum err lanes_push(struct lanes *lanes, const char *workspace_id, struct lane_item *item) MUST_USE;
/* The next of any lane, which runs from now on, or NULL. */
struct lane_item *lanes_next(struct lanes *lanes);
/* Does anybody wait for the place of this one, which has had its turn? */
bool lanes_are_awaited(const struct lanes *lanes, const struct lane_item *item);
/* It runs on, but no reader is at work with it. */
void lanes_set_aside(struct lanes *lanes, struct lane_item *item);
/* It has ended, or leaves its lane. */
void lanes_done(struct lanes *lanes, struct lane_item *item, int64_t cost_us);
void lanes_remove(struct lanes *lanes, struct lane_item *item); /* one that waits */
