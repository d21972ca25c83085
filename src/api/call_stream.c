/* GET /v1/calls/{id}/stream: a call as it goes on, as server-sent events. What is stored of it (its
 * row, turns, runs of tools) is read from where the piece before ended; what the agent does, and
 * what it has looked up, comes from its loop and is not kept. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/request.h"
#include "api/resources.h"
#include "api/run.h"
#include "api/stream.h"
#include "model/call.h"
#include "store/call.h"

enum { RUNS_OPEN_MAX = 32 /* that are known to be running; of more, each piece tells again */ };

struct place {
    int64_t turns; /* were told */
    int64_t runs;  /* up to this one all have ended, and were told */
    int64_t last_run;
    int64_t open[RUNS_OPEN_MAX]; /* told as running; 0: none */
    enum call_status status;     /* as it was told; CALL_STATUS_COUNT: not yet */
    bool has_joined;
};

/* One event by its table; id 0: none. */
static void write_event(struct request *request, const char *name, int64_t id,
                        const struct field_table *table, const void *object)
{
    struct buf *body = &request->answer.body;
    struct js_out out;
    buf_printf(body, "event: %s\n", name);
    if (id)
        buf_printf(body, "id: %" PRId64 "\n", id);
    buf_append_str(body, "data: ");
    js_out_init(&out, body);
    field_write(table, object, request_answer_views(request), NULL, &out);
    buf_append_str(body, "\n\n");
}

static enum err write_turns(struct request *request, struct place *place)
{
    int64_t next = 0;
    while (next >= 0 && !request_piece_is_full(request)) {
        struct call_turn_list turns;
        enum err err = store_call_turns(request->job.tx, request->head.params[0], place->turns,
                                        PIECE_BYTES, &turns, &next);
        if (err)
            return err;
        for (size_t i = 0; i < turns.count; i++)
            write_event(request, "turn", ++place->turns, &call_turn_table, &turns.items[i]);
    }
    return OK;
}

/* Its place among those that were told as running; 0 finds an empty one. NULL: none. */
static int64_t *find_open(struct place *place, int64_t number)
{
    for (size_t i = 0; i < RUNS_OPEN_MAX; i++)
        if (place->open[i] == number)
            return &place->open[i];
    return NULL;
}

static void tell_run(struct request *request, struct place *place, const struct call_run *run)
{
    bool is_running = run->status == CALL_RUN_RUNNING;
    int64_t *open = find_open(place, run->number), *empty = find_open(place, 0);
    if (run->number <= place->last_run && (is_running || !open))
        return;
    write_event(request, "tool", 0, &call_run_table, run);
    if (is_running && !open && empty)
        *empty = run->number;
    else if (!is_running && open)
        *open = 0;
}

static enum err write_runs(struct request *request, struct place *place)
{
    int64_t after = place->runs, last = place->last_run;
    bool are_over = true;
    while (after >= 0 && !request_piece_is_full(request)) {
        struct call_run_list runs;
        enum err err = store_call_runs(request->job.tx, request->head.params[0], after, PIECE_BYTES,
                                       &runs, &after);
        if (err)
            return err;
        for (size_t i = 0; i < runs.count; i++) {
            tell_run(request, place, &runs.items[i]);
            last = MAX(last, runs.items[i].number);
            are_over &= runs.items[i].status != CALL_RUN_RUNNING;
            if (are_over)
                place->runs = runs.items[i].number;
        }
    }
    place->last_run = last;
    return OK;
}

/* The row when its state has changed. */
static void write_call(struct request *request, struct place *place, struct call *call)
{
    bool has_joined = call->user_joined_wall_ms != 0;
    if (call->status == place->status && has_joined == place->has_joined)
        return;
    place->status = call->status;
    place->has_joined = has_joined;
    write_event(request, "call", 0, &call_table, call);
}

static enum err write_news(struct request *request, struct place *place)
{
    struct call call;
    enum err err = store_call_row(request->job.tx, request_workspace(request),
                                  request_own_agent(request), request->head.params[0], &call);
    if (err)
        return err;
    bool is_over = call.status == CALL_ENDED; /* read before what is told last */
    if (!is_over)
        write_call(request, place, &call);
    err = write_turns(request, place);
    if (!err)
        err = write_runs(request, place);
    if (err || !is_over || request_piece_is_full(request))
        return err;
    write_call(request, place, &call);
    buf_append_str(&request->answer.body, "event: end\ndata: {}\n\n");
    pieces_end(&request->pieces);
    return OK;
}

static void more(struct request *request)
{
    if (write_news(request, request->pieces.place) != OK)
        request_break_pieces(request);
}

/* The id of the last turn that the client has seen of this stream before it was lost. */
static int64_t last_seen(const struct request *request)
{
    const char *id = request_header(request, "Last-Event-ID");
    return id && *id && strspn(id, "0123456789") == strlen(id) && strlen(id) < 10
               ? strtoll(id, NULL, 10)
               : 0;
}

static void write_first(struct request *request)
{
    struct place *place = arena_new_of(request->arena, struct place);
    place->turns = last_seen(request);
    place->status = CALL_STATUS_COUNT;
    request_answer_as(request, 200, "text/event-stream");
    answer_header(&request->answer, "X-Accel-Buffering", "no"); /* proxies hand it on at once */
    buf_append_str(&request->answer.body, "retry: 2000\n\n");
    request_answer_pieces(request, more, place, sizeof(*place));
}

static void begin(struct request *request)
{
    if (stream_begin(request))
        run_job(request, STORE_READ, write_first);
    else
        run_finish(request);
}

void calls_stream(struct request *request)
{
    enum call_status status;
    if (request_found(request, store_call_status(request->job.tx, request_workspace(request),
                                                 request_own_agent(request),
                                                 request->head.params[0], &status)))
        request_after(request, begin);
}
