/* A voice is heard without a call: one text, spoken by one engine on a media loop, as a WAV file.
 *
 *   previews_ask() --line of the workspace--> [media loop] engine: sound, until it ends, is long
 *     enough, or late --> [control loop] done
 *
 * Each workspace has one at a time, all together have a few, and none while calls fill the node.
 * Thread: control loop. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"

struct engine;
struct loop;
struct previews;

enum {
    PREVIEW_TEXT_MAX = 200, /* code points */
    PREVIEW_RATE_HZ = 24000,
    PREVIEW_SOUND_S = 20,    /* what is longer is cut */
    PREVIEW_DEADLINE_S = 25, /* embedded voices are little faster than they are heard */
};

struct preview_wish { /* texts are copied */
    const struct engine *engine;
    const char *workspace_id, *language; /* an ISO code */
    const char *speaker, *emotion, *text;
    double speed, volume;
};

/* wav: the callee may take what is in it. err: ERR_LIMIT: the workspace has enough that wait;
 * ERR_BUSY: all have; ERR_INVALID: the engine refuses voice or text; ERR_TIMEOUT; ERR_CLOSED: the
 * service ends; ERR_IO: the engine fails. */
typedef void preview_done_fn(void *arg, enum err err, struct buf *wav);

/* media: the loops that carry calls, borrowed. */
struct previews *previews_new(struct loop *control, struct loop *const *media, size_t media_count);
/* With the media loops stopped; nobody is told. */
void previews_free(struct previews *previews);
DEFINE_AUTO(previews)
/* done comes later, or from inside the call when it is refused. */
void previews_ask(struct previews *previews, const struct preview_wish *wish, preview_done_fn *done,
                  void *arg);
/* All that wait or run are told ERR_CLOSED, and so is who asks from now on. */
void previews_drain(struct previews *previews);
