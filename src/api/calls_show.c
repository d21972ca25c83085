/* Answers with calls, piece by piece:
 *
 *   [ head ( call's fields, "transcript":[ turn, turn, ... ]} )* end
 *
 * A piece may end between any two turns: only the number of the next one is kept. */
#include "api/calls_show.h"

#include "api/request.h"
#include "model/call.h"
#include "store/call.h"
#include "store/tx.h"

struct place {
    struct js_out out;
    struct text_list ids; /* calls to come */
    size_t at;
    const char *agent_id; /* the only agent whose calls are seen; NULL: any */
    bool is_list;
    bool is_open;      /* the call before `at` is begun and not yet ended */
    int64_t next_turn; /* of it; -1: none is missing */
    int64_t total;
    const char *next; /* cursor; NULL: none */
};

/* One call up to its transcript. */
static enum err open_call(struct request *request, struct place *place)
{
    struct call call;
    const char *id = place->ids.items[place->at++];
    enum err err =
        store_call_row(request->job.tx, request_workspace(request), place->agent_id, id, &call);
    if (err)
        return err;
    if (!place->is_list)
        js_out_key(&place->out, "call");
    field_write_open(&call_table, &call, request_answer_views(request), "transcript", &place->out);
    place->is_open = true;
    place->next_turn = 0;
    return OK;
}

/* Turns until the piece is long enough. */
static enum err write_turns(struct request *request, struct place *place)
{
    struct call_turn_list turns;
    const char *id = place->ids.items[place->at - 1];
    enum err err = store_call_turns(request->job.tx, id, place->next_turn, PIECE_BYTES, &turns,
                                    &place->next_turn);
    for (size_t i = 0; i < turns.count && !err; i++)
        field_write(&call_turn_table, &turns.items[i], request_answer_views(request), NULL,
                    &place->out);
    return err;
}

static enum err step(struct request *request, struct place *place)
{
    if (!place->is_open)
        return open_call(request, place);
    if (place->next_turn >= 0)
        return write_turns(request, place);
    js_out_array_end(&place->out);
    js_out_object_end(&place->out);
    place->is_open = false;
    return OK;
}

static void write_end(struct place *place)
{
    if (place->is_list) {
        js_out_array_end(&place->out);
        js_out_key(&place->out, "total");
        js_out_int(&place->out, place->total);
        js_out_key(&place->out, "nextCursor");
        js_out_text(&place->out, place->next);
    }
    js_out_object_end(&place->out);
}

static void more(struct request *request)
{
    struct place *place = request->pieces.place;
    while (place->is_open || place->at < place->ids.count) {
        if (request_piece_is_full(request))
            return;
        enum err err = step(request, place);
        if (err && !(err == ERR_NOT_FOUND && place->is_list)) { /* gone since the list was begun */
            request_break_pieces(request);
            return;
        }
    }
    write_end(place);
    pieces_end(&request->pieces);
}

static struct place *make_place(struct request *request)
{
    struct place *place = arena_new_of(request->arena, struct place);
    js_out_init(&place->out, &request->answer.body);
    js_out_object(&place->out);
    place->agent_id = request_own_agent(request);
    return place;
}

void calls_write_page(struct request *request, const struct call_page *page)
{
    struct arena *arena = request->arena;
    struct place *place = make_place(request);
    place->is_list = true;
    place->total = page->total;
    place->next = arena_strdup(arena, page->next);
    for (size_t i = 0; i < page->ids.count; i++)
        *GROW(&place->ids, arena) = arena_strdup(arena, page->ids.items[i]);
    js_out_key(&place->out, "calls");
    js_out_array(&place->out);
    request_answer_pieces(request, more, place, sizeof(*place));
}

void calls_write_one(struct request *request)
{
    enum call_status status;
    if (!request_found(request, store_call_status(request->job.tx, request_workspace(request),
                                                  request_own_agent(request),
                                                  request->head.params[0], &status)))
        return;
    struct place *place = make_place(request);
    *GROW(&place->ids, request->arena) = request->head.params[0];
    request_answer_pieces(request, more, place, sizeof(*place));
}
