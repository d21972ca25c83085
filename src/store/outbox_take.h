/* One take, for the files that make it: outbox_take.c (by due time), outbox_turns.c (by turns),
 * outbox_read.c (what was leased). Thread: inside a job. */
#pragma once

#include "model/field.h"
#include "store/internal.h"
#include "store/outbox.h"

struct map;

struct id_list LIST_OF(int64_t);

struct take {
    struct tx *tx;
    struct outbox_turns *turns;
    const struct outbox_wish *wish;
    int64_t now_ms, until_ms;
    struct id_list ids; /* leased */
    unsigned units;
    bool has_held;
    bool is_blocked; /* what comes next is too long for what is left: it begins the next take */
    struct map *of_line, *of_workspace; /* what this take has taken */
};

/* How many deliveries of the line may be taken still. */
unsigned take_room(struct take *take, const char *workspace_id, const char *line);
/* Notes one as taken; take_lease() writes it. */
void take_admit(struct take *take, const char *workspace_id, const char *line, int64_t id,
                unsigned units);
void take_lease(struct take *take, size_t from); /* from that place of `ids` on */

/* outbox_turns.c */
bool turns_are_crowded(const struct outbox_turns *turns); /* more is due than is taken at once */
void take_by_turns(struct take *take, struct outbox_taken *out);
bool turns_must_tidy(struct outbox_turns *turns); /* true once a second */

/* outbox_read.c */
void take_read(struct take *take, struct outbox_taken *out);
