#include "api/pieces.h"

#include <string.h>

#include "base/arena.h"

void pieces_init(struct pieces *pieces, struct arena *arena, more_fn *more, void *place, size_t len)
{
    pieces_clear(pieces);
    *pieces = (struct pieces){
        .more = more, .place = place, .place_len = len, .saved = arena_alloc(arena, len)};
}

void pieces_clear(struct pieces *pieces)
{
    if (pieces->kept != pieces->kept_saved)
        arena_free(pieces->kept_saved);
    arena_free(pieces->kept);
    *pieces = (struct pieces){0};
}

struct arena *pieces_keep(struct pieces *pieces)
{
    if (pieces->kept != pieces->kept_saved)
        arena_free(pieces->kept);
    return pieces->kept = arena_new(0);
}

void pieces_end(struct pieces *pieces)
{
    pieces->is_whole = true;
}

void pieces_break(struct pieces *pieces)
{
    pieces->is_broken = true;
    pieces->is_whole = true;
}

bool pieces_has_more(const struct pieces *pieces)
{
    return pieces->more && !pieces->is_whole;
}

void pieces_settle(struct pieces *pieces)
{
    memcpy(pieces->saved, pieces->place, pieces->place_len);
    if (pieces->kept != pieces->kept_saved)
        arena_free(pieces->kept_saved);
    pieces->kept_saved = pieces->kept;
}

void pieces_restore(struct pieces *pieces)
{
    memcpy(pieces->place, pieces->saved, pieces->place_len);
    if (pieces->kept != pieces->kept_saved)
        arena_free(pieces->kept);
    pieces->kept = pieces->kept_saved;
    pieces->is_whole = pieces->is_broken = false;
}
