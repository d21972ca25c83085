/* Taking by turns: a walk over the lines that wait, by leaps from one to the next in the index
 * (workspace, line, due), so that what comes after the first row of a line costs nothing. What
 * may be taken is divided by the workspaces that have something due, then by their lines; what one
 * leaves is divided again. A walk is cut off after WALK_LINES, and the next take goes on with it; a
 * workspace with more than ITS_LINES shows others of them each time.
 * Thread: inside a job. */
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "store/columns.h"
#include "store/outbox_take.h"

enum {
    WALK_LINES = 256,   /* a millisecond or so on SQLite's writer */
    ITS_LINES = 32,     /* of one workspace in a walk */
    PASSES = 3,         /* over the lines of a walk, while room is left */
    ROUNDS_CROWDED = 8, /* then it is looked again whether still more is due than is taken */
    TIDY_US = 1000000,
};

struct outbox_turns {
    bool is_crowded;
    unsigned rounds; /* since it is */
    uint64_t takes;
    int64_t tidied_us;
    /* The round under way, from the first workspace to the last. */
    char *workspace, *line; /* it goes on after these; line NULL: with the next workspace */
    bool has_left;          /* something due was left for which there may be room */
    bool is_again;          /* what came since it began may stand before the place */
    unsigned lines;
    struct map *line_places; /* workspace -> char *: where the next walk over its lines begins */
};

struct outbox_turns *outbox_turns_new(void)
{
    struct outbox_turns *turns = mem_new(struct outbox_turns);
    turns->workspace = mem_strdup("");
    turns->line = mem_strdup("");
    turns->line_places = map_new();
    return turns;
}

static int forget_place(void *arg, const void *key, size_t key_len, void *value)
{
    (void)arg, (void)key, (void)key_len;
    mem_free(value);
    return 0;
}

void outbox_turns_free(struct outbox_turns *turns)
{
    if (!turns)
        return;
    map_each(turns->line_places, forget_place, NULL);
    map_free(turns->line_places);
    mem_free(turns->workspace);
    mem_free(turns->line);
    mem_free(turns);
}

bool turns_are_crowded(const struct outbox_turns *turns)
{
    return turns->is_crowded;
}

bool turns_must_tidy(struct outbox_turns *turns)
{
    int64_t now_us = clock_now_us();
    if (turns->tidied_us && now_us - turns->tidied_us < TIDY_US)
        return false;
    turns->tidied_us = now_us;
    return true;
}

/* A line with something due. */
struct due_line {
    const char *workspace_id, *line;
    bool is_over; /* nothing more is due in it, or it has no room */
};
struct due_line_list LIST_OF(struct due_line);

/* The first row of the line after (workspace, line), or of the next workspace; line NULL: of the
 * next workspace. (Comparing pairs would make SQLite read all rows of a line.) */
#define NEXT_LINE(workspace, line)                                                                 \
    "COALESCE((SELECT e.id FROM deliveries e WHERE e.state = 'waiting' AND e.leased_by = ''"       \
    " AND e.workspace_id = " workspace " AND e.line > " line                                       \
    " ORDER BY e.line, e.due_ms, e.id LIMIT 1),"                                                   \
    " (SELECT e.id FROM deliveries e WHERE e.state = 'waiting' AND e.leased_by = ''"               \
    " AND e.workspace_id > " workspace                                                             \
    " ORDER BY e.workspace_id, e.line, e.due_ms, e.id LIMIT 1))"

/* The line after the last one of this workspace; of the next workspace, when it has shown enough.
 */
#define LINE_AFTER                                                                                 \
    NEXT_LINE("d.workspace_id", "CASE WHEN w.workspace_id = d.workspace_id AND w.m >= ? THEN NULL" \
                                " ELSE d.line END")
/* n: lines so far; m: of the workspace of the one before. */
static const char walk_sql[] = "WITH RECURSIVE walk(id, n, m, workspace_id) AS (SELECT " NEXT_LINE(
    "?", "?") ", 1, 0,"
              " (SELECT e.workspace_id FROM deliveries e WHERE e.id = 0)"
              " UNION ALL SELECT " LINE_AFTER ", w.n + 1,"
              " CASE WHEN w.workspace_id = d.workspace_id THEN w.m + 1 ELSE 1 END, d.workspace_id"
              " FROM walk w JOIN deliveries d ON d.id = w.id WHERE w.n < ?)";

struct step {
    const char *workspace_id, *line;
    int64_t due_ms;
};
struct step_list LIST_OF(struct step);

static const struct field step_rows[] = {
    COLUMN_TEXT(struct step, workspace_id, "d.workspace_id"),
    COLUMN_TEXT(struct step, line, "d.line"),
    COLUMN_NUMBER(struct step, due_ms, "d.due_ms"),
};
static FIELD_TABLE(step_table, struct step, "deliveries", step_rows);

/* Lines that wait, from that place on, due or not; at most ITS_LINES of a workspace. None after a
 * fault of the job. */
static struct step_list walk(struct take *take, const char *workspace_id, const char *line,
                             unsigned most)
{
    struct tx *tx = take->tx;
    struct step_list steps = {0};
    const char *found = columns_select(tx, &step_table, NULL,
                                       "FROM walk w JOIN deliveries d ON d.id = w.id ORDER BY w.n");
    enum err err = columns_list(tx, &step_table, arena_printf(tx->arena, "%s %s", walk_sql, found),
                                VALUES(TEXT(workspace_id), TEXT(line), TEXT(workspace_id),
                                       NUMBER(ITS_LINES - 1), NUMBER(most)),
                                &steps);
    return err ? (struct step_list){0} : steps;
}

static size_t same_workspace(const struct step *steps, size_t n)
{
    size_t count = 1;
    while (count < n && strcmp(steps[count].workspace_id, steps[0].workspace_id) == 0)
        count++;
    return count;
}

static void add_due(struct take *take, const struct step *steps, size_t n,
                    struct due_line_list *out)
{
    for (size_t i = 0; i < n; i++) {
        if (steps[i].due_ms > take->now_ms)
            continue;
        if (take_room(take, steps[i].workspace_id, steps[i].line) == 0)
            take->has_held = true;
        else
            *GROW(out, take->tx->arena) =
                (struct due_line){.workspace_id = steps[i].workspace_id, .line = steps[i].line};
    }
}

/* A workspace with more lines than are shown: those after the ones that were shown last. */
static void add_others(struct take *take, const struct step *steps, size_t n,
                       struct due_line_list *out)
{
    struct map *places = take->turns->line_places;
    const char *workspace_id = steps[0].workspace_id;
    AUTO_MEM char *place = map_remove_str(places, workspace_id);
    struct step_list others = {0};
    if (place)
        others = walk(take, workspace_id, place, ITS_LINES);
    if (others.count && strcmp(others.items[0].workspace_id, workspace_id) == 0) {
        steps = others.items;
        n = same_workspace(steps, others.count);
    }
    add_due(take, steps, n, out);
    if (n == ITS_LINES)
        map_set_str(places, workspace_id, mem_strdup(steps[n - 1].line));
}

static struct due_line_list due_lines(struct take *take, const struct step_list *steps)
{
    struct due_line_list lines = {0};
    for (size_t i = 0, n; i < steps->count; i += n) {
        n = same_workspace(steps->items + i, steps->count - i);
        if (n == ITS_LINES)
            add_others(take, steps->items + i, n, &lines);
        else
            add_due(take, steps->items + i, n, &lines);
    }
    return lines;
}

/* At most so many units of a line, or one delivery that is larger. */
static void take_from(struct take *take, struct due_line *line, unsigned most)
{
    size_t from = take->ids.count;
    unsigned rows = 0, units = 0;
    unsigned room = take_room(take, line->workspace_id, line->line);
    unsigned limit = MIN(most, room);
    AUTO(cursor) row =
        QUERY(take->tx,
              "SELECT id, body_bytes FROM deliveries WHERE state = 'waiting' AND leased_by = ''"
              " AND workspace_id = ? AND line = ? AND due_ms <= ?"
              " ORDER BY due_ms, id LIMIT ? FOR UPDATE SKIP LOCKED",
              TEXT(line->workspace_id), TEXT(line->line), NUMBER(take->now_ms), NUMBER(limit));
    for (; units < limit && cursor_next(row); rows++) {
        unsigned more = outbox_units(cursor_number(row, 1));
        take->is_blocked = take->units > 0 && take->units + more > take->wish->units;
        if (take->is_blocked || (rows > 0 && units + more > limit))
            break;
        take_admit(take, line->workspace_id, line->line, cursor_number(row, 0), more);
        units += more;
    }
    bool is_empty = rows < limit && units < limit && !cursor_next(row);
    bool is_full = take_room(take, line->workspace_id, line->line) == 0;
    line->is_over = is_empty || is_full;
    take->has_held |= is_full && !is_empty;
    take_lease(take, from);
}

/* The lines of one workspace. */
struct group {
    struct due_line *lines;
    size_t count, open;
};
struct group_list LIST_OF(struct group);

static struct group_list group_by_workspace(struct take *take, struct due_line_list *lines)
{
    struct group_list groups = {0};
    for (size_t i = 0; i < lines->count; i++) {
        struct due_line *line = &lines->items[i];
        bool is_new = i == 0 || strcmp(line->workspace_id, line[-1].workspace_id) != 0;
        if (is_new)
            GROW(&groups, take->tx->arena)->lines = line;
        struct group *group = &groups.items[groups.count - 1];
        group->count++;
        group->open++;
    }
    return groups;
}

/* Another line goes first each time, for when there is not enough for all of them. */
static void take_from_group(struct take *take, struct group *group, unsigned budget)
{
    unsigned began = take->units;
    size_t first = take->turns->takes % group->count, left = group->open;
    for (size_t i = 0; i < group->count && take->units - began < budget && !take->is_blocked; i++) {
        struct due_line *line = &group->lines[(first + i) % group->count];
        if (line->is_over)
            continue;
        unsigned rest = budget - (take->units - began);
        take_from(take, line, (rest + (unsigned)left - 1) / (unsigned)left);
        left--;
        group->open -= line->is_over;
    }
}

static size_t open_groups(const struct group_list *groups)
{
    size_t count = 0;
    for (size_t i = 0; i < groups->count; i++)
        count += groups->items[i].open > 0;
    return count;
}

/* Returns how many workspaces have had something; the others come with the next take. */
static size_t share(struct take *take, struct group_list *groups)
{
    size_t served = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        size_t left = open_groups(groups);
        for (size_t i = 0; i < groups->count && take->units < take->wish->units; i++) {
            struct group *group = &groups->items[i];
            if (group->open == 0)
                continue;
            unsigned rest = take->wish->units - take->units, before = take->units;
            take_from_group(take, group, (rest + (unsigned)left - 1) / (unsigned)left);
            left--;
            served = MAX(served, take->units > before ? i + 1 : i);
            if (take->is_blocked)
                return served;
        }
    }
    return served;
}

static void set_place(struct outbox_turns *turns, const char *workspace_id, const char *line)
{
    mem_free(turns->workspace);
    mem_free(turns->line);
    turns->workspace = mem_strdup(workspace_id);
    turns->line = mem_strdup(line);
}

static bool is_round_new(const struct outbox_turns *turns)
{
    return *turns->workspace == '\0';
}

static void end_round(struct take *take, struct outbox_taken *out)
{
    struct outbox_turns *turns = take->turns;
    out->round_lines = turns->lines;
    out->has_more = turns->has_left || turns->is_again;
    turns->rounds++;
    if (!turns->has_left && (!take->has_held || turns->rounds >= ROUNDS_CROWDED))
        turns->is_crowded = false;
    set_place(turns, "", "");
}

void take_by_turns(struct take *take, struct outbox_taken *out)
{
    struct outbox_turns *turns = take->turns;
    if (!turns->is_crowded)
        turns->rounds = 0;
    turns->is_crowded = true;
    turns->takes++;
    if (is_round_new(turns)) {
        turns->has_left = turns->is_again = false;
        turns->lines = 0;
    }
    turns->is_again |= take->wish->is_fresh && !is_round_new(turns);
    struct step_list steps = walk(take, turns->workspace, turns->line, WALK_LINES);
    struct due_line_list lines = due_lines(take, &steps);
    struct group_list groups = group_by_workspace(take, &lines);
    size_t served = share(take, &groups);
    turns->lines += (unsigned)steps.count;
    turns->has_left |= open_groups(&groups) > 0;
    out->has_more = true;
    if (served < groups.count && served > 0)
        set_place(turns, groups.items[served - 1].lines->workspace_id, NULL);
    else if (served == groups.count && steps.count >= WALK_LINES)
        set_place(turns, steps.items[steps.count - 1].workspace_id,
                  steps.items[steps.count - 1].line);
    else if (served == groups.count)
        end_round(take, out);
}
