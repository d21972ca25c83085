/* A reading job cannot write: the control loop hands each new one to a writing job.
 *
 *   job: spoilt_note() --post--> control loop: known already? --no--> job: dead letter
 */
#include "api/spoilt.h"

#include <stdatomic.h>
#include <stdio.h>

#include "api/internal.h"
#include "api/request.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/map.h"
#include "base/mem.h"
#include "store/store.h"
#include "store/tx.h"

enum { KNOWN_MAX = 1000 /* what is more is told again, as the dead letters count up */ };

struct spoilt {
    struct loop *control;
    struct store *store;
    struct map *known; /* "<kind> <id>"; the control loop's */
    _Atomic unsigned under_way;
};

struct note {
    struct spoilt *spoilt;
    enum dead_letter_kind kind;
    char workspace_id[ID_SIZE], id[ID_SIZE], key[ID_SIZE + 8];
};

struct spoilt *spoilt_new(struct loop *control, struct store *store)
{
    struct spoilt *spoilt = mem_new(struct spoilt);
    spoilt->control = control;
    spoilt->store = store;
    spoilt->known = map_new();
    return spoilt;
}

void spoilt_free(struct spoilt *spoilt)
{
    if (!spoilt)
        return;
    map_free(spoilt->known);
    mem_free(spoilt);
}

bool spoilt_is_idle(const struct spoilt *spoilt)
{
    return atomic_load(&spoilt->under_way) == 0;
}

static enum err note_job(struct tx *tx, void *arg)
{
    const struct note *note = arg;
    const struct dead_letter letter = {.kind = note->kind,
                                       .workspace_id = note->workspace_id,
                                       .subject_id = note->id,
                                       .reason = "its settings do not read"};
    store_dead_letter_add(tx, &letter);
    return tx_result(tx);
}

/* Not stored: the next list tells of it again. */
static void on_noted(void *arg, enum err err)
{
    struct note *note = arg;
    if (err) {
        log_warn("api.spoilt", LOG_S("subject", note->id), LOG_S("error", err_name(err)));
        map_remove_str(note->spoilt->known, note->key);
    }
    atomic_fetch_sub(&note->spoilt->under_way, 1);
    mem_free(note);
}

static void on_note(void *arg)
{
    struct note *note = arg;
    struct spoilt *spoilt = note->spoilt;
    struct store_line line = {.key = note->workspace_id, .mode = STORE_WRITE};
    bool is_known = map_get_str(spoilt->known, note->key) != NULL;
    if (!is_known && map_count(spoilt->known) < KNOWN_MAX)
        map_set_str(spoilt->known, note->key, spoilt);
    if (!is_known &&
        store_job_for(spoilt->store, line, note_job, note, spoilt->control, on_noted) == OK)
        return;
    on_noted(note, is_known ? OK : ERR_BUSY);
}

void spoilt_note(struct request *request, enum dead_letter_kind kind, const char *id)
{
    struct spoilt *spoilt = request->api->spoilt;
    struct note *note = mem_new(struct note);
    note->spoilt = spoilt;
    note->kind = kind;
    snprintf(note->workspace_id, sizeof(note->workspace_id), "%s", request_workspace(request));
    snprintf(note->id, sizeof(note->id), "%s", id);
    snprintf(note->key, sizeof(note->key), "%d %s", (int)kind, id);
    atomic_fetch_add(&spoilt->under_way, 1);
    loop_post(spoilt->control, on_note, note);
}

bool spoilt_skip(struct request *request, enum err err, enum dead_letter_kind kind, const char *id)
{
    struct fault why;
    if (!tx_forgive(request->job.tx, err, &why))
        return false;
    spoilt_note(request, kind, id);
    return true;
}
