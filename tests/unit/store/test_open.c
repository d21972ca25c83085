/* Opening: keys, names, versions, places. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/internal.h"
#include "store/schema.h"
#include "unit/store/fixture.h"

static enum err try_open(const struct fix *fix, const char *key, const char *url, char *out_text)
{
    struct store_config config = {
        .data_dir = fix->dir, .database_url = url, .master_key = key, .node_name = "node-x"};
    struct store *store = NULL;
    struct fault fault = {0};
    enum err err = store_open(&config, &store, &fault);
    snprintf(out_text, sizeof(fault.text), "%s", fault.text);
    store_close(store);
    return err;
}

STORE_TEST(foreign_master_key_is_refused)
{
    char text[200];
    static const char other[] = "ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    CHECK_INT(try_open(fix, other, fix->url, text), ERR_INVALID);
    CHECK(strstr(text, "master key") != NULL);
    CHECK_INT(try_open(fix, "xyz", fix->url, text), ERR_INVALID);
    CHECK(strstr(text, "64 hex digits") != NULL);
    CHECK_INT(try_open(fix, "", fix->url, text), ERR_INVALID); /* a fresh one, in the file */
}

STORE_TEST(newer_tables_are_left_alone)
{
    struct tx *tx = fix_write(fix);
    EXEC(tx, "UPDATE schema_version SET version = 9999");
    CHECK_INT(fix_commit(tx), OK);
    char text[200];
    CHECK_INT(try_open(fix, "", fix->url, text), ERR_UNSUPPORTED);
    CHECK(strstr(text, "9999") != NULL);
}

/* An operator may grant no more than the tables need: no other objects of the session. */
static const char as_a_plain_role[] =
    "CREATE ROLE plain; GRANT CREATE, USAGE ON SCHEMA public TO plain;"
    "DO $$ BEGIN EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC',"
    " current_database()); END $$;"
    "SET ROLE plain";

STORE_TEST(agents_of_version_16_have_their_names_in_lists)
{
    static const struct db_value none[] = {{.type = DB_END}};
    struct db *db = NULL;
    struct fault fault = {0};
    struct rows *rows;
    char url[300];
    snprintf(url, sizeof(url), "%s/old.db", fix->dir);
    if (fix->is_pg)
        REQUIRE(postgres_database(fix_server(), "of_version_16", url, sizeof(url)));
    REQUIRE((fix->is_pg ? db_pg_open(url, &db, &fault) : db_sqlite_open(url, 0, &db, &fault)) ==
            OK);
    if (fix->is_pg)
        CHECK_INT(db->ops->script(db, as_a_plain_role, &fault), OK);
    CHECK_INT(schema_migrate_to(db, 16, &fault), OK);
    static const char *const agents[][2] = {
        {"{\"name\":\"\xC3\x89 \\\"q\\\"\"}", "\xC3\x89 \"q\""}, {"{}", ""}, {"{spoilt", ""}};
    for (size_t i = 0; i < ARRAY_LEN(agents); i++) {
        AUTO_MEM char *sql = mem_printf(
            "INSERT INTO agents (id, workspace_id, key_sha, key_sealed, public_sha, public_sealed,"
            " settings, created_ms, updated_ms, version, bytes)"
            " VALUES ('ua_%zu', 'usr_1', 'k%zu', '', 'p%zu', '', '%s', 1, 2, 1, 0)",
            i, i, i, agents[i][0]);
        CHECK_INT(db->ops->script(db, sql, &fault), OK);
    }
    CHECK_INT(schema_migrate(db, &fault), OK);
    CHECK_TEXT(fault.text, "");
    REQUIRE(db->ops->query(db, "SELECT name FROM agents ORDER BY id", none, &rows, &fault) == OK);
    for (size_t i = 0; i < ARRAY_LEN(agents); i++) {
        REQUIRE(db->ops->next(rows, &fault));
        CHECK_TEXT(db->ops->text(rows, 0, NULL), agents[i][1]);
    }
    db->ops->rows_close(rows);
    db_close(db);
}

TEST(bad_places_are_refused)
{
    struct fix fix = {.dir = "/proc/nowhere"};
    char text[200];
    CHECK_INT(try_open(&fix, "", "", text), ERR_IO);
    CHECK(strstr(text, "/proc/nowhere") != NULL);
    snprintf(fix.dir, sizeof(fix.dir), "/tmp/earshot-open-XXXXXX");
    CHECK(mkdtemp(fix.dir) != NULL);
    CHECK_INT(try_open(&fix, "", "mysql://x", text), ERR_INVALID);
    CHECK(try_open(&fix, "", "postgres:///x?host=/nowhere", text) != OK);
    AUTO_MEM char *remove = mem_printf("rm -rf %s", fix.dir);
    CHECK_INT(system(remove), 0);
}

STORE_TEST(files_are_nobody_elses_to_read)
{
    struct stat status;
    static const char *const names[] = {"node.id", "earshot.db"};
    for (int i = 0; i < (fix->is_pg ? 1 : 2); i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s/%s", fix->dir, names[i]);
        REQUIRE(stat(path, &status) == 0);
        CHECK_INT(status.st_mode & 0777, 0600);
    }
    CHECK(strncmp(store_node(fix->store), "node_", 5) == 0);
    struct store *again = fix_open(fix, "", "");
    REQUIRE(again != NULL);
    CHECK_TEXT(store_node(again), store_node(fix->store));
    store_close(again);
}

STORE_TEST(store_says_how_large_it_is)
{
    enum { MEGABYTES = 4 };
    long long said = 0;
    struct tx *tx = fix_write(fix);
    AUTO_BUF text = BUF_INIT(1000);
    const char *random = fix->is_pg ? "(SELECT string_agg(md5(i::text), '')::bytea FROM"
                                      " generate_series(1, 131072) AS i)"
                                    : "randomblob(4194304)";
    EXEC(tx, arena_printf(tx->arena,
                          "INSERT INTO document_pieces (document_id, position, content)"
                          " VALUES ('kd', 0, %s)",
                          random));
    CHECK_INT(fix_commit(tx), OK);
    tx = fix_read(fix);
    CHECK_INT(store_describe(tx, &text), OK);
    const char *size = strchr(text.data, ',');
    CHECK(size && sscanf(size, ", %lld MB, version", &said) == 1);
    CHECK(said >= MEGABYTES && said < 100);
    fix_rollback(tx);
}

STORE_TEST(store_says_what_it_is)
{
    struct tx *tx = fix_read(fix);
    AUTO_BUF text = BUF_INIT(1000);
    CHECK_INT(store_describe(tx, &text), OK);
    CHECK(strstr(text.data, fix->is_pg ? "postgresql 15" : "sqlite 3") != NULL);
    fix_rollback(tx);
    CHECK(store_is_up(fix->store));
}
