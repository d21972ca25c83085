/* earshot show call ID: a call out of the store, running or over, with a waterfall of each answer:
 * where the time went from the end of the caller's words to the agent's first sound. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/local_store.h"
#include "cli/print.h"
#include "model/call.h"
#include "store/call.h"
#include "store/tx.h"

enum { BAR_COLUMNS = 40, CLOCK_AT = 11, CLOCK_LEN = 12, TURNS_BYTES = 256 * 1024 };

struct showing {
    const char *id;
    bool is_json;
    struct buf out;
};

/* For people. */

static void print_clock(int64_t wall_ms, struct buf *out)
{
    char text[CLOCK_ISO_SIZE];
    clock_iso(wall_ms, text);
    buf_printf(out, "%.*s", CLOCK_LEN, text + CLOCK_AT);
}

/* The end of the scale, in ms. */
static double last_ms(const struct turn_timing *timing)
{
    double last = 1;
    for (int i = 0; i < POINT_COUNT; i++)
        if (timing->after_ms[i] > last)
            last = timing->after_ms[i];
    return last;
}

static int column_of(double ms, double scale_ms)
{
    return (int)lround(MAX(ms, 0) / scale_ms * BAR_COLUMNS);
}

static void print_waterfall(const struct turn_timing *timing, struct buf *out)
{
    double scale_ms = last_ms(timing);
    for (int i = 0; i < STEP_COUNT; i++) {
        double from_ms, to_ms;
        if (!timing_step(timing, (enum timing_step)i, &from_ms, &to_ms))
            continue;
        int from = column_of(from_ms, scale_ms), to = column_of(to_ms, scale_ms);
        static const char bar[] = "########################################";
        _Static_assert(sizeof(bar) == BAR_COLUMNS + 1, "a bar as long as the scale");
        int len = MAX(to - from, 1);
        from = MIN(from, BAR_COLUMNS - 1);
        buf_printf(out, "    %-14s %8.1f ms |%*s%.*s%*s| %.1f\n", timing_step_names[i],
                   to_ms - from_ms, from, "", len, bar, MAX(BAR_COLUMNS - from - len, 0), "",
                   to_ms);
    }
    if (!isnan(timing->after_ms[POINT_HOLD]))
        buf_printf(out, "    holding line at %.1f ms\n", timing->after_ms[POINT_HOLD]);
}

static void print_head(const struct call *call, struct buf *out)
{
    char created[CLOCK_ISO_SIZE];
    clock_iso(call->created_wall_ms, created);
    buf_printf(out, "call %s  agent %s  created %s\n%s%s%s, %lld s\n", call->id, call->agent_id,
               created, call_status_names[call->status],
               *end_reason_names[call->end_reason] ? " " : "", end_reason_names[call->end_reason],
               (long long)call->duration_s);
}

static void print_turn(const struct call_turn *turn, struct buf *out)
{
    AUTO_MEM char *tame = print_tamed(turn->text);
    print_clock(turn->at_wall_ms, out);
    buf_printf(out, "  %-6s ", turn->role == TURN_USER ? "caller" : "agent");
    buf_append_str(out, tame);
    buf_append_char(out, '\n');
    if (turn->timing)
        print_waterfall(turn->timing, out);
}

/* What is read. */

static enum err write_turns(struct tx *tx, struct showing *showing, struct js_out *json)
{
    enum err err = OK;
    for (int64_t next = 0; next >= 0 && !err && !showing->out.is_full;) {
        struct call_turn_list turns;
        err = store_call_turns(tx, showing->id, next, TURNS_BYTES, &turns, &next);
        for (size_t i = 0; i < turns.count && !err; i++) {
            if (showing->is_json)
                field_write(&call_turn_table, &turns.items[i], FIELD_VIEW_API, NULL, json);
            else
                print_turn(&turns.items[i], &showing->out);
        }
    }
    return err;
}

static enum err read_call(struct tx *tx, void *arg)
{
    struct showing *showing = arg;
    const char *workspace_id;
    struct call call;
    struct js_out json;
    enum err err = store_call_workspace(tx, showing->id, &workspace_id);
    if (!err)
        err = store_call_row(tx, workspace_id, NULL, showing->id, &call);
    if (err)
        return err == ERR_NOT_FOUND ? fault_set(&tx->fault, err, "no such call") : err;
    js_out_init(&json, &showing->out);
    if (showing->is_json)
        field_write_open(&call_table, &call, FIELD_VIEW_API, "transcript", &json);
    else
        print_head(&call, &showing->out);
    err = write_turns(tx, showing, &json);
    if (err || !showing->is_json)
        return err;
    js_out_array_end(&json);
    js_out_object_end(&json);
    return OK;
}

static int run_show_call(const struct invocation *invocation)
{
    struct fault fault = {0};
    struct showing showing = {.id = invocation->operand,
                              .is_json = invocation_has(invocation, "json"),
                              .out = BUF_INIT(PRINT_MAX_BYTES)};
    enum err err = local_store_run(invocation->config, STORE_READ, read_call, &showing, &fault);
    int status = err               ? command_fail(&fault)
                 : showing.is_json ? print_line(&showing.out)
                                   : print_lines(&showing.out);
    buf_clear(&showing.out);
    return status;
}

static const struct option options[] = {{"json", NULL, "Print JSON, as Get a call has it.", false}};
const struct command command_show_call = {
    "show call ID", "Shows a call: its words, and where the time of each answer went.",
    options,        ARRAY_LEN(options),
    false,          run_show_call};
