/* Taking what is due. Two ways to find it:
 *   by due time: while less is due than may be taken, all of it, oldest first. One look at the
 *       index of due times, whatever else waits.
 *   by turns, when more is due: see outbox_turns.c.
 * Thread: inside a job. */
#include "store/outbox_take.h"

#include <string.h>

#include "base/map.h"
#include "store/columns.h"

enum {
    TIDY_ROWS = 512, /* a take */
    ID_CHUNK = 32,   /* ids of one statement */
};

static uintptr_t taken_of(const struct map *map, const char *key)
{
    return (uintptr_t)map_get_str(map, key);
}

static const char *line_key(struct take *take, const char *workspace_id, const char *line)
{
    return arena_printf(take->tx->arena, "%s/%s", workspace_id, line);
}

unsigned take_room(struct take *take, const char *workspace_id, const char *line)
{
    const struct outbox_wish *wish = take->wish;
    unsigned of_workspace = wish->workspace_room(wish->arg, workspace_id);
    unsigned of_line = wish->line_room(wish->arg, workspace_id, line);
    uintptr_t workspace_has = taken_of(take->of_workspace, workspace_id);
    uintptr_t line_has = taken_of(take->of_line, line_key(take, workspace_id, line));
    if (of_workspace <= workspace_has || of_line <= line_has)
        return 0;
    return (unsigned)MIN(of_workspace - workspace_has, of_line - line_has);
}

void take_admit(struct take *take, const char *workspace_id, const char *line, int64_t id,
                unsigned units)
{
    const char *key = line_key(take, workspace_id, line);
    uintptr_t of_line = taken_of(take->of_line, key) + 1;
    uintptr_t of_workspace = taken_of(take->of_workspace, workspace_id) + units;
    map_set_str(take->of_line, key, (void *)of_line);
    map_set_str(take->of_workspace, workspace_id, (void *)of_workspace);
    *GROW(&take->ids, take->tx->arena) = id;
    take->units += units;
}

#define EIGHT_IDS(v, i)                                                                            \
    NUMBER((v)[(i)]), NUMBER((v)[(i) + 1]), NUMBER((v)[(i) + 2]), NUMBER((v)[(i) + 3]),            \
        NUMBER((v)[(i) + 4]), NUMBER((v)[(i) + 5]), NUMBER((v)[(i) + 6]), NUMBER((v)[(i) + 7])

/* No row has the id 0. */
void take_lease(struct take *take, size_t from)
{
    const struct id_list *ids = &take->ids;
    for (size_t i = from; i < ids->count; i += ID_CHUNK) {
        int64_t some[ID_CHUNK] = {0};
        memcpy(some, ids->items + i, MIN(ids->count - i, (size_t)ID_CHUNK) * sizeof(some[0]));
        EXEC(take->tx,
             "UPDATE deliveries SET was_due_ms = due_ms, due_ms = ?, leased_by = ? WHERE id IN"
             " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
             " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
             NUMBER(take->until_ms), TEXT(node_lease(take->tx)), EIGHT_IDS(some, 0),
             EIGHT_IDS(some, 8), EIGHT_IDS(some, 16), EIGHT_IDS(some, 24));
    }
}

/* By due time. */

struct candidate {
    int64_t id, body_bytes;
    const char *workspace_id, *line;
};
struct candidate_list LIST_OF(struct candidate);

static const struct field candidate_rows[] = {
    COLUMN_NUMBER(struct candidate, id, "id"),
    COLUMN_NUMBER(struct candidate, body_bytes, "body_bytes"),
    COLUMN_TEXT(struct candidate, workspace_id, "workspace_id"),
    COLUMN_TEXT(struct candidate, line, "line"),
};
static FIELD_TABLE(candidate_table, struct candidate, "deliveries", candidate_rows);

static enum err find_due(struct take *take, unsigned limit, struct candidate_list *out)
{
    const char *sql = columns_select(take->tx, &candidate_table, NULL,
                                     "FROM deliveries WHERE state = 'waiting' AND leased_by = ''"
                                     " AND due_ms <= ? ORDER BY due_ms, id LIMIT ?"
                                     " FOR UPDATE SKIP LOCKED");
    return columns_list(take->tx, &candidate_table, sql,
                        VALUES(NUMBER(take->now_ms), NUMBER(limit)), out);
}

/* false: more is due than may be taken, and nothing was. */
static bool take_by_due(struct take *take)
{
    unsigned limit = take->wish->units, units = 0;
    struct candidate_list found = {0};
    if (find_due(take, limit, &found))
        return true; /* nothing more: the job has failed */
    for (size_t i = 0; i < found.count; i++)
        units += outbox_units(found.items[i].body_bytes);
    if (found.count >= limit || units > limit)
        return false;
    for (size_t i = 0; i < found.count; i++) {
        const struct candidate *one = &found.items[i];
        if (take_room(take, one->workspace_id, one->line) > 0)
            take_admit(take, one->workspace_id, one->line, one->id, outbox_units(one->body_bytes));
        else
            take->has_held = true;
    }
    take_lease(take, 0);
    return true;
}

/* Leases that have run out. */
static void release(struct take *take)
{
    EXEC(take->tx,
         "UPDATE deliveries SET leased_by = '', due_ms = was_due_ms WHERE id IN"
         " (SELECT id FROM deliveries WHERE state = 'waiting' AND leased_by <> '' AND due_ms <= ?"
         " ORDER BY due_ms, id LIMIT ? FOR UPDATE SKIP LOCKED)",
         NUMBER(take->now_ms), NUMBER(TIDY_ROWS));
}

/* Whatever a clock did while no process looked, nothing waits, and no lease lasts, longer than it
 * ever may. */
static void align(struct take *take)
{
    int64_t longest_ms = take->now_ms + take->wish->longest_ms;
    EXEC(take->tx,
         "UPDATE deliveries SET due_ms = CASE WHEN attempts = 0 THEN CAST(? AS BIGINT)"
         " ELSE CAST(? AS BIGINT) END WHERE id IN"
         " (SELECT id FROM deliveries WHERE state = 'waiting' AND leased_by = '' AND due_ms > ?"
         " ORDER BY due_ms DESC LIMIT ? FOR UPDATE SKIP LOCKED)",
         NUMBER(take->now_ms), NUMBER(longest_ms), NUMBER(longest_ms), NUMBER(TIDY_ROWS));
    EXEC(take->tx,
         "UPDATE deliveries SET due_ms = ? WHERE id IN"
         " (SELECT id FROM deliveries WHERE state = 'waiting' AND leased_by <> '' AND due_ms > ?"
         " ORDER BY due_ms DESC LIMIT ? FOR UPDATE SKIP LOCKED)",
         NUMBER(longest_ms), NUMBER(longest_ms), NUMBER(TIDY_ROWS));
}

/* Once a second. */
static void tidy(struct take *take)
{
    if (!turns_must_tidy(take->turns))
        return;
    align(take);
    release(take);
}

static int64_t next_due_ms(struct take *take)
{
    int64_t due_ms = QUERY_NUMBER(take->tx, -1,
                                  "SELECT due_ms FROM deliveries WHERE state = 'waiting'"
                                  " AND leased_by = '' AND due_ms > ?"
                                  " ORDER BY due_ms, id LIMIT 1",
                                  NUMBER(take->now_ms));
    return due_ms < 0 ? -1 : due_ms - take->now_ms;
}

enum err store_outbox_take(struct tx *tx, struct outbox_turns *turns,
                           const struct outbox_wish *wish, int64_t now_ms, struct outbox_taken *out)
{
    AUTO(map) of_line = map_new();
    AUTO(map) of_workspace = map_new();
    struct take take = {.tx = tx,
                        .turns = turns,
                        .wish = wish,
                        .now_ms = now_ms,
                        .until_ms = now_ms + wish->lease_ms,
                        .of_line = of_line,
                        .of_workspace = of_workspace};
    *out = (struct outbox_taken){.next_due_ms = -1};
    if (!node_may_lease(tx))
        return OK;
    tidy(&take);
    if (turns_are_crowded(turns) || !take_by_due(&take))
        take_by_turns(&take, out);
    if (take.ids.count)
        take_read(&take, out);
    out->has_held = take.has_held;
    out->next_due_ms = next_due_ms(&take);
    return tx_result(tx);
}
