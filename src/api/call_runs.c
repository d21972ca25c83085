/* GET /v1/calls/{id}/tools: the runs of a call's tools, oldest first, in pieces: a call of a day
 * may have thousands. */
#include "api/request.h"
#include "api/resources.h"
#include "model/call.h"
#include "store/call.h"

struct runs_answer {
    struct call_run_list tools;
};
static const struct field runs_rows[] = {
    ROW_OBJECTS(struct runs_answer, tools, "tools", struct call_run_list, &call_run_table),
};
FIELD_TABLE(call_runs_answer_table, struct runs_answer, "ToolRunsAnswer", runs_rows);

struct place {
    struct js_out out;
    int64_t after; /* the last run that was written; -1: that was all */
};

static void more(struct request *request)
{
    struct place *place = request->pieces.place;
    while (place->after >= 0 && !request_piece_is_full(request)) {
        struct call_run_list runs;
        if (store_call_runs(request->job.tx, request->head.params[0], place->after, PIECE_BYTES,
                            &runs, &place->after) != OK) {
            request_break_pieces(request);
            return;
        }
        for (size_t i = 0; i < runs.count; i++)
            field_write(&call_run_table, &runs.items[i], request_answer_views(request), NULL,
                        &place->out);
    }
    if (place->after >= 0)
        return;
    js_out_array_end(&place->out);
    js_out_object_end(&place->out);
    pieces_end(&request->pieces);
}

void calls_runs(struct request *request)
{
    enum call_status status;
    if (!request_found(request, store_call_status(request->job.tx, request_workspace(request), NULL,
                                                  request->head.params[0], &status)))
        return;
    struct place *place = arena_new_of(request->arena, struct place);
    js_out_init(&place->out, &request->answer.body);
    js_out_object(&place->out);
    js_out_key(&place->out, "tools");
    js_out_array(&place->out);
    request_answer_pieces(request, more, place, sizeof(*place));
}
