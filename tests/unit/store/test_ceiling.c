/* What a workspace may hold: counted from the rows, exact also when two add the last one at once;
 * and the tables of an earlier version, which learn what their rows hold. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "await.h"
#include "store/agent.h"
#include "store/api_key.h"
#include "store/ceiling.h"
#include "store/internal.h"
#include "store/page.h"
#include "store/schema.h"
#include "store/tool.h"
#include "unit/store/fixture.h"

enum { AGENTS = 1 << CEILING_AGENTS, TOOLS = 1 << CEILING_TOOLS, BYTES = 1 << CEILING_BYTES };

static struct tool new_tool(const struct fix *fix, const char *description)
{
    struct tool tool = {0};
    field_defaults(&tool_table, &tool);
    tool.user_id = fix->workspace_id;
    tool.name = "look_up";
    tool.description = description;
    return tool;
}

static enum err check(struct fix *fix, struct tx *tx, struct ceilings ceilings, unsigned grown,
                      enum ceiling *out)
{
    return store_ceilings_check(tx, fix->workspace_id, &ceilings, grown, out);
}

STORE_TEST(a_ceiling_is_the_last_that_fits)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    struct agent agent;
    struct tool tool = new_tool(fix, "Looks things up.");
    REQUIRE(store_agent_get(tx, fix->workspace_id, fix->agent_id, &agent) == OK);
    REQUIRE(store_tool_insert(tx, &tool) == OK);
    int64_t held = agent.bytes + tool.bytes;
    const unsigned all = AGENTS | TOOLS | BYTES;
    enum ceiling over = CEILING_COUNT;
    CHECK_INT(check(fix, tx, (struct ceilings){{1, 1, 0, held}}, all, &over), OK);
    CHECK_INT(check(fix, tx, (struct ceilings){{0, 1, 0, held}}, all, &over), ERR_LIMIT);
    CHECK_INT(over, CEILING_AGENTS);
    CHECK_INT(check(fix, tx, (struct ceilings){{1, 0, 0, held}}, all, &over), ERR_LIMIT);
    CHECK_INT(over, CEILING_TOOLS);
    CHECK_INT(check(fix, tx, (struct ceilings){{1, 1, 0, held - 1}}, all, &over), ERR_LIMIT);
    CHECK_INT(over, CEILING_BYTES);
    CHECK_INT(check(fix, tx, (struct ceilings){{0, 0, 0, held}}, BYTES, &over), OK);
    CHECK_INT(check(fix, tx, (struct ceilings){{0, 0, 0, 0}}, 0, &over), OK);
    struct ceilings none = {{1, 1, 1, 1}};
    CHECK_INT(store_ceilings_check(tx, "usr_nobody", &none, all, &over), ERR_NOT_FOUND);
    REQUIRE(store_tool_remove(tx, fix->workspace_id, tool.id) == OK);
    CHECK_INT(check(fix, tx, (struct ceilings){{1, 0, 0, agent.bytes}}, all, &over), OK);
    CHECK_INT(fix_commit(tx), OK);
}

STORE_TEST(revoked_keys_do_not_count)
{
    fix_people(fix);
    struct tx *tx = fix_write(fix);
    struct api_key one, two;
    struct ceilings ceilings = {.most[CEILING_KEYS] = 1};
    enum ceiling over;
    REQUIRE(store_key_create(tx, fix->workspace_id, "one", &one) == OK);
    CHECK_INT(check(fix, tx, ceilings, 1 << CEILING_KEYS, &over), OK);
    REQUIRE(store_key_create(tx, fix->workspace_id, "two", &two) == OK);
    CHECK_INT(check(fix, tx, ceilings, 1 << CEILING_KEYS, &over), ERR_LIMIT);
    REQUIRE(store_key_revoke(tx, NULL, one.id) == OK);
    CHECK_INT(check(fix, tx, ceilings, 1 << CEILING_KEYS, &over), OK);
    CHECK_INT(fix_commit(tx), OK);
}

struct adding {
    struct fix *fix;
    _Atomic unsigned *left, *added, *refused;
};

static enum err add_tool(struct tx *tx, void *arg)
{
    struct adding *adding = arg;
    struct tool tool = new_tool(adding->fix, "x");
    enum ceiling over;
    enum err err = store_tool_insert(tx, &tool);
    return err ? err
               : check(adding->fix, tx, (struct ceilings){.most[CEILING_TOOLS] = 25}, TOOLS, &over);
}

static void tool_added(void *arg, enum err err)
{
    struct adding *adding = arg;
    atomic_fetch_add(err == OK ? adding->added : adding->refused, err == OK || err == ERR_LIMIT);
    atomic_fetch_sub(adding->left, 1);
}

STORE_TEST(many_at_once_add_exactly_as_many_as_fit)
{
    enum { WRITERS = 100 };
    fix_people(fix);
    AUTO(loop) loop = loop_new("done");
    REQUIRE(loop_start(loop) == OK);
    _Atomic unsigned left = WRITERS, added = 0, refused = 0;
    struct adding adding = {fix, &left, &added, &refused};
    for (int i = 0; i < WRITERS; i++)
        CHECK_INT(store_job(fix->store, STORE_WRITE, add_tool, &adding, loop, tool_added), OK);
    AWAIT(atomic_load(&left) == 0, 60);
    CHECK_INT(added, 25);
    CHECK_INT(refused, WRITERS - 25);
    struct tx *tx = fix_read(fix);
    struct page page;
    const struct page_filter filter = {.workspace_id = fix->workspace_id};
    CHECK_INT(store_page(tx, LISTED_TOOLS, &filter, &page), OK);
    CHECK_INT(page.ids.count, 25);
    fix_rollback(tx);
    loop_join(loop);
}

STORE_TEST(tables_of_version_1_learn_what_their_rows_hold)
{
    static const struct db_value none[] = {{.type = DB_END}};
    struct db *db = NULL;
    struct fault fault = {0};
    struct rows *rows;
    char url[300];
    snprintf(url, sizeof(url), "%s/old.db", fix->dir);
    if (fix->is_pg)
        REQUIRE(postgres_database(fix_server(), "of_version_1", url, sizeof(url)));
    REQUIRE((fix->is_pg ? db_pg_open(url, &db, &fault) : db_sqlite_open(url, 0, &db, &fault)) ==
            OK);
    CHECK_INT(schema_migrate_to(db, 1, &fault), OK);
    CHECK_INT(
        db->ops->script(db,
                        "INSERT INTO agents (id, workspace_id, key_sha, key_sealed,"
                        " public_sha, public_sealed, settings, created_ms, updated_ms)"
                        " VALUES ('ua_1', 'usr_1', 'a', '', 'b', '', '{\"name\":\"\xC3\xA9\"}',"
                        " 1, 2);"
                        "INSERT INTO tools (id, workspace_id, agent_id, name, source_id,"
                        " settings, created_ms, updated_ms)"
                        " VALUES ('tool_1', 'usr_1', 'ua_1', 'x', '', '{}', 3, 4)",
                        &fault),
        OK);
    CHECK_INT(schema_migrate(db, &fault), OK);
    CHECK_TEXT(fault.text, "");
    REQUIRE(db->ops->query(db,
                           "SELECT a.bytes, a.version, a.updated_ms, t.bytes, t.updated_ms, t.name"
                           " FROM agents a JOIN tools t ON t.agent_id = a.id",
                           none, &rows, &fault) == OK);
    REQUIRE(db->ops->next(rows, &fault));
    static const int64_t wanted[] = {13, 1, 2, 2, 4};
    for (unsigned i = 0; i < ARRAY_LEN(wanted); i++)
        CHECK_INT(db->ops->number(rows, i), wanted[i]);
    CHECK_TEXT(db->ops->text(rows, 5, NULL), "x");
    db->ops->rows_close(rows);
    db_close(db);
}
