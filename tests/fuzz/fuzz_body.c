/* Bodies of requests: JSON into every table that a body is read with, merged once more, written in
 * every view, stored and read back. */
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/js.h"
#include "fuzz.h"
#include "model/agent.h"
#include "model/call.h"
#include "model/catalog.h"
#include "model/tool.h"
#include "model/webhook.h"

static const uint8_t master_key[MASTER_KEY_BYTES] = {7};

static void write_views(const struct field_table *table, const void *object)
{
    AUTO_BUF buf = BUF_INIT(16 << 20);
    for (unsigned view = FIELD_VIEW_API; view <= FIELD_VIEW_REVEAL; view <<= 1) {
        struct js_out out;
        buf_reset(&buf);
        js_out_init(&out, &buf);
        field_write(table, object, view, master_key, &out);
        AUTO(js) back = NULL;
        if (!buf.is_full && js_parse(buf.data, buf.len, 200, &back, NULL) != OK)
            abort(); /* what we write is JSON */
    }
}

static void read_body(const struct field_table *table, const struct js *body,
                      const struct catalog *catalog)
{
    AUTO(arena) arena = arena_new(0);
    void *object = arena_alloc(arena, table->size), *back = arena_alloc(arena, table->size);
    struct field_context context;
    field_context_init(&context, arena, catalog);
    field_create(table, object, body, &context, "");
    field_merge(table, object, body, &context, "");
    if (table == &agent_table)
        agent_settle(object, body, &context);
    write_views(table, object);
    const char *stored = field_store_text(table, object, master_key, arena);
    if (field_read(table, back, stored, strlen(stored), master_key, arena) != OK)
        abort(); /* what was stored can be read */
    field_copy(table, back, object, arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const struct field_table *const tables[] = {&agent_table, &tool_table, &call_start_table,
                                                       &webhook_table};
    AUTO(js) body = NULL;
    if (len > 65536 || js_parse((const char *)data, len, 64, &body, NULL) != OK)
        return 0;
    AUTO(arena) arena = arena_new(0);
    struct catalog *catalog = arena_new_of(arena, struct catalog);
    catalog_init(catalog, "en", "", arena);
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        read_body(tables[i], body, catalog);
    return 0;
}
