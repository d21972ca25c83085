/* earshot key create | list | revoke */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/ids.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/local_store.h"
#include "cli/print.h"
#include "model/workspace.h"
#include "store/api_key.h"
#include "store/ceiling.h"

enum { NAME_SIZE = 512 };

/* Rows outlive their job's arena as copies. */
struct row {
    char id[ID_SIZE], workspace_id[ID_SIZE], key[KEY_SIZE], name[NAME_SIZE];
    bool is_revoked;
    int64_t created_wall_ms, last_used_wall_ms;
};

static void row_fill(struct row *row, const struct api_key *key)
{
    *row = (struct row){.is_revoked = key->is_revoked,
                        .created_wall_ms = key->created_wall_ms,
                        .last_used_wall_ms = key->last_used_wall_ms};
    snprintf(row->id, sizeof(row->id), "%s", key->id);
    snprintf(row->workspace_id, sizeof(row->workspace_id), "%s", key->workspace_id);
    snprintf(row->key, sizeof(row->key), "%s", key->key ? key->key : "");
    snprintf(row->name, sizeof(row->name), "%s", key->name);
}

struct create_job {
    const char *workspace_id, *name;
    struct ceilings ceilings;
    struct row row;
};

static enum err create_job(struct tx *tx, void *arg)
{
    struct create_job *job = arg;
    struct api_key key = {0};
    enum err err = store_key_create(tx, job->workspace_id, job->name, &key);
    enum ceiling ceiling;
    if (err)
        return err == ERR_NOT_FOUND ? fault_set(&tx->fault, err, "no such workspace") : err;
    err = store_ceilings_check(tx, job->workspace_id, &job->ceilings, 1 << CEILING_KEYS, &ceiling);
    if (err)
        return err == ERR_LIMIT
                   ? fault_set(&tx->fault, err,
                               "the workspace has %" PRId64 " keys, as many as it may "
                               "(KEY_LIMIT_REACHED): revoke one, or raise workspace.max_keys",
                               job->ceilings.most[CEILING_KEYS])
                   : err;
    row_fill(&job->row, &key);
    return OK;
}

static int run_create(const struct invocation *call)
{
    struct create_job job = {.workspace_id = invocation_value(call, "workspace"),
                             .name = invocation_value(call, "name")};
    struct fault fault = {0};
    if (!workspace_name_is_good(job.name)) {
        fault_set(&fault, ERR_INVALID, "--name must be 1 to 100 printable characters");
        return command_fail(&fault);
    }
    ceilings_read(&job.ceilings, call->config);
    if (local_store_run(call->config, STORE_WRITE, create_job, &job, &fault))
        return command_fail(&fault);
    AUTO_BUF line = BUF_INIT(PRINT_MAX_BYTES);
    struct js_out out;
    if (!invocation_has(call, "json")) {
        buf_printf(&line, "Key %s: %s\n(it is shown this once)", job.row.id, job.row.key);
        return print_line(&line);
    }
    js_out_init(&out, &line);
    js_out_object(&out);
    js_out_key(&out, "apiKey");
    js_out_object(&out);
    PRINT_MEMBER(&out, "id", text, job.row.id);
    PRINT_MEMBER(&out, "name", text, job.row.name);
    PRINT_MEMBER(&out, "key", text, job.row.key);
    js_out_object_end(&out);
    js_out_object_end(&out);
    return print_line(&line);
}

struct list_job {
    const char *workspace_id; /* NULL: all */
    struct row *rows;
    size_t count;
};

static enum err list_job(struct tx *tx, void *arg)
{
    struct list_job *job = arg;
    struct api_key_list list = {0};
    enum err err = store_key_list(tx, job->workspace_id, &list);
    if (err)
        return err;
    job->rows = mem_realloc_n(job->rows, list.count, sizeof(*job->rows));
    job->count = list.count;
    for (size_t i = 0; i < list.count; i++)
        row_fill(&job->rows[i], &list.items[i]);
    return OK;
}

static void write_row(struct js_out *out, const struct row *row)
{
    js_out_object(out);
    PRINT_MEMBER(out, "id", text, row->id);
    PRINT_MEMBER(out, "workspaceId", text, row->workspace_id);
    PRINT_MEMBER(out, "name", text, row->name);
    PRINT_MEMBER(out, "revoked", bool, row->is_revoked);
    PRINT_MEMBER(out, "createdAt", time, row->created_wall_ms);
    PRINT_MEMBER(out, "lastUsedAt", time, row->last_used_wall_ms);
    js_out_object_end(out);
}

static int print_rows(const struct list_job *job)
{
    printf("%-26s %-26s %-8s %-25s %s\n", "Key", "Workspace", "State", "Last used", "Name");
    for (size_t i = 0; i < job->count; i++) {
        const struct row *row = &job->rows[i];
        char used[CLOCK_ISO_SIZE] = "never";
        if (row->last_used_wall_ms)
            clock_iso(row->last_used_wall_ms, used);
        AUTO_MEM char *name = print_tamed(row->name);
        printf("%-26s %-26s %-8s %-25s %s\n", row->id, row->workspace_id,
               row->is_revoked ? "revoked" : "good", used, name);
    }
    return EXIT_SUCCESS;
}

static int print_rows_json(const struct list_job *job)
{
    AUTO_BUF line = BUF_INIT(PRINT_MAX_BYTES);
    struct js_out out;
    js_out_init(&out, &line);
    js_out_object(&out);
    js_out_key(&out, "apiKeys");
    js_out_array(&out);
    for (size_t i = 0; i < job->count; i++)
        write_row(&out, &job->rows[i]);
    js_out_array_end(&out);
    js_out_object_end(&out);
    return print_line(&line);
}

static int run_list(const struct invocation *call)
{
    struct list_job job = {.workspace_id = invocation_value(call, "workspace")};
    struct fault fault = {0};
    enum err err = local_store_run(call->config, STORE_READ, list_job, &job, &fault);
    int status = err                            ? command_fail(&fault)
                 : invocation_has(call, "json") ? print_rows_json(&job)
                                                : print_rows(&job);
    mem_free(job.rows);
    return status;
}

static enum err revoke_job(struct tx *tx, void *arg)
{
    enum err err = store_key_revoke(tx, NULL, arg);
    return err == ERR_NOT_FOUND ? fault_set(&tx->fault, err, "no such key, or revoked already")
                                : err;
}

static int run_revoke(const struct invocation *call)
{
    const char *id = invocation_value(call, "key");
    struct fault fault = {0};
    if (local_store_run(call->config, STORE_WRITE, revoke_job, (void *)(uintptr_t)id, &fault))
        return command_fail(&fault);
    AUTO_BUF line = BUF_INIT(PRINT_MAX_BYTES);
    if (invocation_has(call, "json"))
        buf_printf(&line, "{\"ok\":true,\"id\":\"%s\"}", id);
    else
        buf_printf(&line, "Key %s is revoked", id);
    return print_line(&line);
}

static const struct option create_options[] = {
    {"workspace", "ID", "Whose key.", true},
    {"name", "NAME", "Its name.", true},
    {"json", NULL, "Print JSON.", false},
};
const struct command command_key_create = {"key create",   "Makes an API key of a workspace.",
                                           create_options, ARRAY_LEN(create_options),
                                           false,          run_create};

static const struct option list_options[] = {
    {"workspace", "ID", "Of this workspace only.", false},
    {"json", NULL, "Print JSON.", false},
};
const struct command command_key_list = {
    "key list", "Lists API keys.", list_options, ARRAY_LEN(list_options), false, run_list};

static const struct option revoke_options[] = {
    {"key", "ID", "Its id (key_...).", true},
    {"json", NULL, "Print JSON.", false},
};
const struct command command_key_revoke = {"key revoke",   "Takes an API key out of use.",
                                           revoke_options, ARRAY_LEN(revoke_options),
                                           false,          run_revoke};
