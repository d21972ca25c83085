/* earshot workspace create | list | credit */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/local_store.h"
#include "cli/print.h"
#include "model/catalog.h"
#include "model/workspace.h"
#include "store/workspace.h"

static const char STANDARD_PLAN[] = "standard"; /* when the command names none */
enum { CALLS_MAX = 1000000 };

/* Rows outlive their job's arena as copies. */
struct row {
    char id[ID_SIZE], *name, *plan;
    int64_t balance_usd4, max_calls;
};

struct rows {
    struct row *items;
    size_t count;
};

static void rows_add(struct rows *rows, const struct workspace *workspace)
{
    rows->items = mem_realloc_n(rows->items, rows->count + 1, sizeof(*rows->items));
    struct row *row = &rows->items[rows->count++];
    *row = (struct row){.name = mem_strdup(workspace->name),
                        .plan = mem_strdup(workspace->plan),
                        .balance_usd4 = workspace->balance_usd4,
                        .max_calls = workspace->max_concurrent_calls};
    snprintf(row->id, sizeof(row->id), "%s", workspace->id);
}

static void rows_clear(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        mem_free(rows->items[i].name);
        mem_free(rows->items[i].plan);
    }
    mem_free(rows->items);
    *rows = (struct rows){0};
}

struct create_job {
    struct workspace workspace;
    char id[ID_SIZE];
};

static enum err create_job(struct tx *tx, void *arg)
{
    struct create_job *job = arg;
    struct workspace workspace = job->workspace;
    enum err err = store_workspace_insert(tx, &workspace);
    if (!err)
        snprintf(job->id, sizeof(job->id), "%s", workspace.id);
    return err;
}

/* The plan's own number of calls stands when the command names none. */
static enum err read_plan(const struct invocation *call, struct workspace *out, struct fault *fault)
{
    const char *plan_id = invocation_value(call, "plan");
    AUTO(arena) arena = arena_new(0);
    struct catalog catalog;
    catalog_init(&catalog, "en", "", arena);
    const struct catalog_plan *plan = catalog_plan(&catalog, plan_id ? plan_id : STANDARD_PLAN);
    if (!plan)
        return fault_set(fault, ERR_INVALID, "there is no plan '%.40s'", plan_id);
    out->plan = plan->id;
    out->max_concurrent_calls = plan->max_concurrent_calls;
    return OK;
}

static enum err read_create(const struct invocation *call, struct workspace *out,
                            struct fault *fault)
{
    const char *balance = invocation_value(call, "balance");
    const char *calls = invocation_value(call, "max-concurrent-calls");
    out->name = invocation_value(call, "name");
    out->currency = "USD";
    if (!workspace_name_is_good(out->name))
        return fault_set(fault, ERR_INVALID, "--name must be 1 to 100 printable characters");
    enum err err = read_plan(call, out, fault);
    if (!err && balance)
        err = parse_usd4(balance, &out->balance_usd4, fault);
    if (!err && out->balance_usd4 < 0)
        return fault_set(fault, ERR_INVALID, "--balance must be 0 or more");
    if (err || !calls)
        return err;
    char *end;
    out->max_concurrent_calls = strtoll(calls, &end, 10);
    if (*end || out->max_concurrent_calls < 0 || out->max_concurrent_calls > CALLS_MAX)
        return fault_set(fault, ERR_INVALID, "--max-concurrent-calls must be 0 to %d", CALLS_MAX);
    return OK;
}

static int run_create(const struct invocation *call)
{
    struct create_job job = {0};
    struct fault fault = {0};
    enum err err = read_create(call, &job.workspace, &fault);
    if (!err)
        err = local_store_run(call->config, STORE_WRITE, create_job, &job, &fault);
    if (err)
        return command_fail(&fault);
    AUTO_BUF line = BUF_INIT(PRINT_MAX_BYTES);
    if (invocation_has(call, "json"))
        buf_printf(&line, "{\"workspace\":{\"id\":\"%s\"}}", job.id);
    else
        buf_printf(&line, "Workspace %s (%s)", job.id, job.workspace.name);
    return print_line(&line);
}

static enum err list_job(struct tx *tx, void *arg)
{
    struct rows *rows = arg;
    struct workspace_list list = {0};
    rows_clear(rows);
    enum err err = store_workspace_list(tx, &list);
    for (size_t i = 0; i < list.count && !err; i++)
        rows_add(rows, &list.items[i]);
    return err;
}

static void write_row(struct js_out *out, const struct row *row)
{
    js_out_object(out);
    PRINT_MEMBER(out, "id", text, row->id);
    PRINT_MEMBER(out, "name", text, row->name);
    PRINT_MEMBER(out, "plan", text, row->plan);
    PRINT_MEMBER(out, "balance", usd4, row->balance_usd4);
    PRINT_MEMBER(out, "maxConcurrentCalls", int, row->max_calls);
    js_out_object_end(out);
}

static int print_rows_json(const struct rows *rows)
{
    AUTO_BUF line = BUF_INIT(PRINT_MAX_BYTES);
    struct js_out out;
    js_out_init(&out, &line);
    js_out_object(&out);
    js_out_key(&out, "workspaces");
    js_out_array(&out);
    for (size_t i = 0; i < rows->count; i++)
        write_row(&out, &rows->items[i]);
    js_out_array_end(&out);
    js_out_object_end(&out);
    return print_line(&line);
}

static int print_rows(const struct rows *rows)
{
    printf("%-26s %12s %6s  %-10s %s\n", "Workspace", "Balance", "Calls", "Plan", "Name");
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->items[i];
        AUTO_MEM char *name = print_tamed(row->name);
        printf("%-26s %12.4f %6" PRId64 "  %-10s %s\n", row->id, (double)row->balance_usd4 / 1e4,
               row->max_calls, row->plan, name);
    }
    return EXIT_SUCCESS;
}

static int run_list(const struct invocation *call)
{
    struct rows rows = {0};
    struct fault fault = {0};
    enum err err = local_store_run(call->config, STORE_READ, list_job, &rows, &fault);
    int status = err                            ? command_fail(&fault)
                 : invocation_has(call, "json") ? print_rows_json(&rows)
                                                : print_rows(&rows);
    rows_clear(&rows);
    return status;
}

struct credit_job {
    const char *id;
    int64_t usd4, balance_usd4;
};

static enum err credit_job(struct tx *tx, void *arg)
{
    struct credit_job *job = arg;
    struct workspace workspace = {0};
    enum err err = store_workspace_credit(tx, job->id, job->usd4, &workspace);
    job->balance_usd4 = workspace.balance_usd4;
    return err == ERR_NOT_FOUND ? fault_set(&tx->fault, err, "no such workspace") : err;
}

static int run_credit(const struct invocation *call)
{
    struct credit_job job = {.id = invocation_value(call, "workspace")};
    struct fault fault = {0};
    enum err err = parse_usd4(invocation_value(call, "amount"), &job.usd4, &fault);
    if (!err)
        err = local_store_run(call->config, STORE_WRITE, credit_job, &job, &fault);
    if (err)
        return command_fail(&fault);
    AUTO_BUF line = BUF_INIT(PRINT_MAX_BYTES);
    struct js_out out;
    js_out_init(&out, &line);
    if (!invocation_has(call, "json")) {
        buf_printf(&line, "Balance of %s: ", job.id);
        js_out_usd4(&out, job.balance_usd4);
        buf_append_str(&line, " USD");
        return print_line(&line);
    }
    js_out_object(&out);
    js_out_key(&out, "workspace");
    js_out_object(&out);
    PRINT_MEMBER(&out, "id", text, job.id);
    PRINT_MEMBER(&out, "balance", usd4, job.balance_usd4);
    js_out_object_end(&out);
    js_out_object_end(&out);
    return print_line(&line);
}

static const struct option create_options[] = {
    {"name", "NAME", "Its name.", true},
    {"balance", "USD", "What it may spend; 0 when not given.", false},
    {"max-concurrent-calls", "N", "Calls at the same time; else the plan's number.", false},
    {"plan", "ID", "Its plan; standard when not given.", false},
    {"json", NULL, "Print JSON.", false},
};
const struct command command_workspace_create = {
    "workspace create", "Makes a workspace.", create_options, ARRAY_LEN(create_options), false,
    run_create};

static const struct option list_options[] = {{"json", NULL, "Print JSON.", false}};
const struct command command_workspace_list = {
    "workspace list", "Lists the workspaces.", list_options, ARRAY_LEN(list_options), false,
    run_list};

static const struct option credit_options[] = {
    {"workspace", "ID", "Which one.", true},
    {"amount", "USD", "What is added; negative takes away.", true},
    {"json", NULL, "Print JSON.", false},
};
const struct command command_workspace_credit = {"workspace credit",
                                                 "Adds to a workspace's balance.",
                                                 credit_options,
                                                 ARRAY_LEN(credit_options),
                                                 false,
                                                 run_credit};
