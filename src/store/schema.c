/* The tables. Times are wall milliseconds (0: not yet), money is 0.0001 USD, enums are their names
 * of the contract. A resource's settings are one JSON text (the store view of its field
 * table); what is looked up, counted or locked is a column. A change of the tables is a new entry
 * at the end of `versions`; entries that have been released are never edited.
 * {id} {serial} {blob}: see db.h. Thread: inside store_open(). */
#include "store/schema.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "store/db.h"

static const char *const version_1[] = {
    "CREATE TABLE meta (name {id} PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE commits (slot {id} PRIMARY KEY, mark BIGINT NOT NULL, made_ms BIGINT NOT NULL)",
    "CREATE TABLE counters (name {id} PRIMARY KEY, value BIGINT NOT NULL)",
    "INSERT INTO counters (name, value) VALUES ('revision', 0)",

    "CREATE TABLE workspaces (id {id} PRIMARY KEY, name TEXT NOT NULL, plan TEXT NOT NULL,"
    " balance_usd4 BIGINT NOT NULL, burn_usd4 BIGINT NOT NULL, as_of_ms BIGINT NOT NULL,"
    " owed BIGINT NOT NULL, max_concurrent_calls BIGINT NOT NULL, created_ms BIGINT NOT NULL)",

    "CREATE TABLE api_keys (id {id} PRIMARY KEY, workspace_id {id} NOT NULL, name TEXT NOT NULL,"
    " key_sha {id} NOT NULL UNIQUE, created_ms BIGINT NOT NULL, last_used_ms BIGINT NOT NULL,"
    " revoked_ms BIGINT NOT NULL)",
    "CREATE INDEX api_keys_workspace ON api_keys (workspace_id)",

    "CREATE TABLE agents (id {id} PRIMARY KEY, workspace_id {id} NOT NULL,"
    " key_sha {id} NOT NULL UNIQUE, key_sealed TEXT NOT NULL, public_sha {id} NOT NULL UNIQUE,"
    " public_sealed TEXT NOT NULL, settings TEXT NOT NULL, created_ms BIGINT NOT NULL,"
    " updated_ms BIGINT NOT NULL)",
    "CREATE INDEX agents_workspace ON agents (workspace_id, updated_ms)",
    "CREATE TABLE agent_stats (agent_id {id} PRIMARY KEY, calls BIGINT NOT NULL,"
    " seconds BIGINT NOT NULL, cost_usd4 BIGINT NOT NULL)",

    "CREATE TABLE tools (id {id} PRIMARY KEY, workspace_id {id} NOT NULL, agent_id {id} NOT NULL,"
    " name TEXT NOT NULL, source_id {id} NOT NULL, settings TEXT NOT NULL,"
    " created_ms BIGINT NOT NULL, updated_ms BIGINT NOT NULL)",
    "CREATE INDEX tools_workspace ON tools (workspace_id, created_ms)",
    "CREATE UNIQUE INDEX tools_name ON tools (agent_id, name) WHERE agent_id <> ''",

    "CREATE TABLE documents (id {id} PRIMARY KEY, workspace_id {id} NOT NULL, name TEXT NOT NULL,"
    " kind TEXT NOT NULL, bytes BIGINT NOT NULL, status TEXT NOT NULL, error TEXT NOT NULL,"
    " topics TEXT NOT NULL, chars BIGINT NOT NULL, card_count BIGINT NOT NULL,"
    " section_count BIGINT NOT NULL, is_stored BIGINT NOT NULL, leased_until_ms BIGINT NOT NULL,"
    " leased_by {id} NOT NULL, created_ms BIGINT NOT NULL, updated_ms BIGINT NOT NULL)",
    "CREATE INDEX documents_workspace ON documents (workspace_id, created_ms)",
    "CREATE INDEX documents_waiting ON documents (updated_ms) WHERE status = 'processing'",
    "CREATE TABLE document_sources (document_id {id} PRIMARY KEY, content {blob} NOT NULL)",
    "CREATE TABLE document_additions (workspace_id {id} NOT NULL, at_ms BIGINT NOT NULL)",
    "CREATE INDEX document_additions_at ON document_additions (workspace_id, at_ms)",
    "CREATE TABLE document_changes (document_id {id} PRIMARY KEY, revision BIGINT NOT NULL)",
    "CREATE INDEX document_changes_revision ON document_changes (revision)",
    "CREATE TABLE passages (document_id {id} NOT NULL, position BIGINT NOT NULL,"
    " text TEXT NOT NULL, question TEXT, language TEXT NOT NULL,"
    " PRIMARY KEY (document_id, position))",

    "CREATE TABLE webhooks (id {id} PRIMARY KEY, workspace_id {id} NOT NULL,"
    " is_enabled BIGINT NOT NULL, settings TEXT NOT NULL, created_ms BIGINT NOT NULL,"
    " updated_ms BIGINT NOT NULL)",
    "CREATE INDEX webhooks_workspace ON webhooks (workspace_id, created_ms)",

    "CREATE TABLE calls (id {id} PRIMARY KEY, workspace_id {id} NOT NULL, agent_id {id} NOT NULL,"
    " room_name TEXT NOT NULL, source TEXT NOT NULL, status TEXT NOT NULL,"
    " created_ms BIGINT NOT NULL, agent_joined_ms BIGINT NOT NULL, user_joined_ms BIGINT NOT NULL,"
    " ended_ms BIGINT NOT NULL, end_reason TEXT NOT NULL, duration_s BIGINT NOT NULL,"
    " rate_usd4 BIGINT NOT NULL, cost_usd4 BIGINT NOT NULL, identity TEXT NOT NULL,"
    " metadata TEXT NOT NULL, metadata_sent TEXT NOT NULL, quality TEXT NOT NULL,"
    " webhook_url TEXT NOT NULL, join_until_ms BIGINT NOT NULL, owner {id} NOT NULL,"
    " owner_epoch BIGINT NOT NULL, durable_ms BIGINT NOT NULL,"
    " last_event_ms BIGINT NOT NULL, turns BIGINT NOT NULL)",
    "CREATE INDEX calls_workspace ON calls (workspace_id, created_ms, id)",
    "CREATE INDEX calls_agent ON calls (agent_id, created_ms, id)",
    "CREATE INDEX calls_running ON calls (workspace_id) WHERE status <> 'ended'",
    "CREATE INDEX calls_active ON calls (agent_id) WHERE status = 'active'",
    "CREATE INDEX calls_owner ON calls (owner, owner_epoch) WHERE status <> 'ended'",
    "CREATE TABLE call_turns (call_id {id} NOT NULL, position BIGINT NOT NULL, role TEXT NOT NULL,"
    " text TEXT NOT NULL, at_ms BIGINT NOT NULL, PRIMARY KEY (call_id, position))",
    "CREATE TABLE call_webhooks (call_id {id} NOT NULL, position BIGINT NOT NULL,"
    " settings TEXT NOT NULL, delivered BIGINT NOT NULL, failed BIGINT NOT NULL,"
    " PRIMARY KEY (call_id, position))",
    "CREATE TABLE embed_spend (agent_id {id} NOT NULL, day BIGINT NOT NULL, usd4 BIGINT NOT NULL,"
    " PRIMARY KEY (agent_id, day))",

    "CREATE TABLE events (id {id} PRIMARY KEY, workspace_id {id} NOT NULL, call_id {id} NOT NULL,"
    " type TEXT NOT NULL, created_ms BIGINT NOT NULL, body TEXT NOT NULL)",
    "CREATE INDEX events_created ON events (created_ms)",
    "CREATE TABLE deliveries (id {serial}, event_id {id} NOT NULL, workspace_id {id} NOT NULL,"
    " webhook_id {id} NOT NULL, call_id {id} NOT NULL, position BIGINT NOT NULL,"
    " url TEXT NOT NULL, secret TEXT NOT NULL, state TEXT NOT NULL, attempts BIGINT NOT NULL,"
    " due_ms BIGINT NOT NULL, was_due_ms BIGINT NOT NULL, leased_by {id} NOT NULL,"
    " status BIGINT NOT NULL,"
    " error TEXT NOT NULL, latency_ms BIGINT NOT NULL, created_ms BIGINT NOT NULL,"
    " attempted_ms BIGINT NOT NULL)",
    "CREATE INDEX deliveries_due ON deliveries (due_ms, id) WHERE state = 'waiting'",
    "CREATE INDEX deliveries_webhook ON deliveries (webhook_id, id)",
    "CREATE INDEX deliveries_event ON deliveries (event_id)",

    "CREATE TABLE idempotency (id {id} PRIMARY KEY, body_sha TEXT NOT NULL,"
    " status BIGINT NOT NULL, answer TEXT NOT NULL, created_ms BIGINT NOT NULL)",
    "CREATE INDEX idempotency_created ON idempotency (created_ms)",

    "CREATE TABLE nodes (id {id} PRIMARY KEY, epoch BIGINT NOT NULL, public_url TEXT NOT NULL,"
    " lease_until_ms BIGINT NOT NULL, started_ms BIGINT NOT NULL)",
    "CREATE TABLE commands (id {serial}, node {id} NOT NULL, kind TEXT NOT NULL,"
    " call_id {id} NOT NULL, text TEXT NOT NULL, state TEXT NOT NULL, result BIGINT NOT NULL,"
    " created_ms BIGINT NOT NULL)",
    "CREATE INDEX commands_asked ON commands (node) WHERE state = 'asked'",
    NULL,
};

static const char *const version_2[] = {
    ("CREATE TABLE dead_letters (id {serial}, kind {id} NOT NULL, workspace_id {id} NOT NULL,"
     " subject_id {id} NOT NULL, reason TEXT NOT NULL, excerpt TEXT NOT NULL,"
     " count BIGINT NOT NULL, first_ms BIGINT NOT NULL, last_ms BIGINT NOT NULL)"),
    "CREATE UNIQUE INDEX dead_letters_subject ON dead_letters (workspace_id, kind, subject_id)",
    "CREATE INDEX dead_letters_last ON dead_letters (last_ms)",
    "ALTER TABLE calls ADD COLUMN records BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE commands ADD COLUMN workspace_id {id} NOT NULL DEFAULT ''",
    "ALTER TABLE calls ADD COLUMN seen_ms BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE calls ADD COLUMN seen_at_ms BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE workspaces DROP COLUMN burn_usd4",
    "ALTER TABLE workspaces DROP COLUMN as_of_ms",
    "ALTER TABLE workspaces DROP COLUMN owed",
    NULL,
};

/* How much agents and tools hold, and how often they were changed, stands beside them, so that
 * limits, lists and calls need not read them; what is large stands last in its row, so that SQLite
 * reads the rest of it without passing over it. */
static const char *const version_3[] = {
    "DROP INDEX agents_workspace",
    "ALTER TABLE agents RENAME TO agents_of_1",
    "CREATE TABLE agents (id {id} PRIMARY KEY, workspace_id {id} NOT NULL,"
    " key_sha {id} NOT NULL UNIQUE, key_sealed TEXT NOT NULL, public_sha {id} NOT NULL UNIQUE,"
    " public_sealed TEXT NOT NULL, created_ms BIGINT NOT NULL, updated_ms BIGINT NOT NULL,"
    " version BIGINT NOT NULL, bytes BIGINT NOT NULL, settings TEXT NOT NULL)",
    "INSERT INTO agents (id, workspace_id, key_sha, key_sealed, public_sha, public_sealed,"
    " created_ms, updated_ms, version, bytes, settings) SELECT id, workspace_id, key_sha,"
    " key_sealed, public_sha, public_sealed, created_ms, updated_ms, 1, {bytes of settings},"
    " settings FROM agents_of_1",
    "DROP TABLE agents_of_1",
    "CREATE INDEX agents_workspace ON agents (workspace_id, updated_ms DESC, id, bytes)",

    "DROP INDEX tools_workspace",
    "DROP INDEX tools_name",
    "ALTER TABLE tools RENAME TO tools_of_1",
    "CREATE TABLE tools (id {id} PRIMARY KEY, workspace_id {id} NOT NULL, agent_id {id} NOT NULL,"
    " name {id} NOT NULL, source_id {id} NOT NULL, created_ms BIGINT NOT NULL,"
    " updated_ms BIGINT NOT NULL, version BIGINT NOT NULL, bytes BIGINT NOT NULL,"
    " settings TEXT NOT NULL)",
    "INSERT INTO tools (id, workspace_id, agent_id, name, source_id, created_ms, updated_ms,"
    " version, bytes, settings) SELECT id, workspace_id, agent_id, name, source_id, created_ms,"
    " updated_ms, 1, {bytes of settings}, settings FROM tools_of_1",
    "DROP TABLE tools_of_1",
    "CREATE INDEX tools_workspace ON tools (workspace_id, created_ms DESC, id DESC)",
    "CREATE UNIQUE INDEX tools_name ON tools (agent_id, name) WHERE agent_id <> ''",
    "CREATE INDEX tools_heads ON tools (workspace_id, agent_id, name, id, source_id, created_ms,"
    " version, bytes)",
    NULL,
};

static const char *const version_4[] = {
    "CREATE TABLE rates (node {id} NOT NULL, at_ms BIGINT NOT NULL, told TEXT NOT NULL,"
    " PRIMARY KEY (node, at_ms))",
    "CREATE INDEX rates_at ON rates (at_ms)",
    "ALTER TABLE idempotency ADD COLUMN scope {id} NOT NULL DEFAULT ''",
    "ALTER TABLE idempotency ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0",
    "CREATE INDEX idempotency_scope ON idempotency (scope, created_ms, bytes)",
    "ALTER TABLE calls ADD COLUMN visitor {id} NOT NULL DEFAULT ''",
    "CREATE INDEX calls_visitor ON calls (agent_id, visitor)"
    " WHERE visitor <> '' AND user_joined_ms = 0 AND status <> 'ended'",
    NULL,
};

/* Deliveries stand in lines, which take turns. */
static const char *const version_5[] = {
    "ALTER TABLE deliveries ADD COLUMN line {id} NOT NULL DEFAULT ''",
    "ALTER TABLE deliveries ADD COLUMN body_bytes BIGINT NOT NULL DEFAULT 0",
    "UPDATE deliveries SET line = CASE WHEN webhook_id <> '' THEN webhook_id ELSE url END"
    " WHERE state = 'waiting'",
    "DROP INDEX deliveries_due",
    "CREATE INDEX deliveries_due ON deliveries (due_ms, id)"
    " WHERE state = 'waiting' AND leased_by = ''",
    "CREATE INDEX deliveries_line ON deliveries (workspace_id, line, due_ms, id)"
    " WHERE state = 'waiting' AND leased_by = ''",
    "CREATE INDEX deliveries_leased ON deliveries (due_ms, id)"
    " WHERE state = 'waiting' AND leased_by <> ''",
    "ALTER TABLE webhooks ADD COLUMN dropped_to BIGINT NOT NULL DEFAULT 0",
    "INSERT INTO counters (name, value) VALUES ('outbox_ahead_ms', 0)",
    NULL,
};

/* Files are kept in pieces, so that none is ever whole in memory; reading shows how far it is. */
static const char *const version_6[] = {
    "CREATE TABLE document_pieces (document_id {id} NOT NULL, position BIGINT NOT NULL,"
    " content {blob} NOT NULL, PRIMARY KEY (document_id, position))",
    "INSERT INTO document_pieces (document_id, position, content)"
    " SELECT document_id, 0, content FROM document_sources",
    "DROP TABLE document_sources",
    "ALTER TABLE documents ADD COLUMN pages_done BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE documents ADD COLUMN pages BIGINT NOT NULL DEFAULT 0",
    NULL,
};

/* People and their sessions: links and sessions are found by the SHA-256 of their secret. */
static const char *const version_7[] = {
    "CREATE TABLE members (id {id} PRIMARY KEY, workspace_id {id} NOT NULL, name TEXT NOT NULL,"
    " email {id} NOT NULL, role TEXT NOT NULL, password TEXT NOT NULL, seen_ms BIGINT NOT NULL,"
    " created_ms BIGINT NOT NULL, updated_ms BIGINT NOT NULL)",
    "CREATE INDEX members_workspace ON members (workspace_id, created_ms, id)",
    "CREATE UNIQUE INDEX members_email ON members (email, workspace_id) WHERE email <> ''",
    "CREATE TABLE links (link_sha {id} PRIMARY KEY, member_id {id} NOT NULL,"
    " until_ms BIGINT NOT NULL)",
    "CREATE INDEX links_member ON links (member_id)",
    "CREATE TABLE sessions (id {id} PRIMARY KEY, key_sha {id} NOT NULL UNIQUE,"
    " workspace_id {id} NOT NULL, member_id {id} NOT NULL, browser TEXT NOT NULL,"
    " address TEXT NOT NULL, created_ms BIGINT NOT NULL, used_ms BIGINT NOT NULL)",
    "CREATE INDEX sessions_member ON sessions (member_id, used_ms)",
    "CREATE INDEX sessions_used ON sessions (used_ms)",
    NULL,
};

static const char *const version_8[] = {
    "ALTER TABLE documents ADD COLUMN sections_done BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE documents ADD COLUMN sections BIGINT NOT NULL DEFAULT 0",
    NULL,
};

/* Ended calls by day, so that usage is read without them; reply times only from now on. */
static const char *const version_9[] = {
    "CREATE TABLE usage_days (workspace_id {id} NOT NULL, day BIGINT NOT NULL,"
    " agent_id {id} NOT NULL, end_reason {id} NOT NULL, calls BIGINT NOT NULL,"
    " seconds BIGINT NOT NULL, cost_usd4 BIGINT NOT NULL, replies BIGINT NOT NULL,"
    " reply_p50_ms BIGINT NOT NULL, reply_p95_ms BIGINT NOT NULL,"
    " PRIMARY KEY (workspace_id, day, agent_id, end_reason))",
    "INSERT INTO usage_days (workspace_id, day, agent_id, end_reason, calls, seconds, cost_usd4,"
    " replies, reply_p50_ms, reply_p95_ms) SELECT workspace_id, ended_ms / 86400000, agent_id,"
    " end_reason, COUNT(*), SUM(duration_s), SUM(cost_usd4), 0, 0, 0 FROM calls"
    " WHERE status = 'ended' GROUP BY 1, 2, 3, 4",
    NULL,
};

/* Runs of tools, kept as long as the turns of their call. */
static const char *const version_10[] = {
    "CREATE TABLE call_runs (call_id {id} NOT NULL, number BIGINT NOT NULL, name TEXT NOT NULL,"
    " kind TEXT NOT NULL, status TEXT NOT NULL, http_status BIGINT NOT NULL, at_ms BIGINT NOT NULL,"
    " ms BIGINT NOT NULL, arguments TEXT NOT NULL, result TEXT NOT NULL, error TEXT NOT NULL,"
    " PRIMARY KEY (call_id, number))",
    NULL,
};

/* Where the time of a turn went (model/timing.h), as JSON; "": not measured. */
static const char *const version_11[] = {
    "ALTER TABLE call_turns ADD COLUMN timing TEXT NOT NULL DEFAULT ''",
    NULL,
};

/* Vectors of passages (store/vector.h); none without an embeddings engine. */
static const char *const version_12[] = {
    "CREATE TABLE vector_states (document_id {id} PRIMARY KEY, model TEXT NOT NULL,"
    " done BIGINT NOT NULL, until_ms BIGINT NOT NULL)",
    "CREATE TABLE vectors (document_id {id} NOT NULL, first BIGINT NOT NULL, size BIGINT NOT NULL,"
    " numbers {blob} NOT NULL, PRIMARY KEY (document_id, first))",
    NULL,
};

/* Calls by what lists ask for, all that have started where end_reason is '': totals are read
 * without a look at the calls, and each filter's page has an index in the order of the list. */
static const char *const version_13[] = {
    "CREATE TABLE call_counts (workspace_id {id} NOT NULL, agent_id {id} NOT NULL,"
    " source {id} NOT NULL, end_reason {id} NOT NULL, calls BIGINT NOT NULL,"
    " PRIMARY KEY (workspace_id, agent_id, source, end_reason))",
    "INSERT INTO call_counts (workspace_id, agent_id, source, end_reason, calls)"
    " SELECT workspace_id, agent_id, source,"
    " CASE status WHEN 'ended' THEN end_reason ELSE '' END, COUNT(*) FROM calls GROUP BY 1, 2, 3, "
    "4",
    "INSERT INTO call_counts (workspace_id, agent_id, source, end_reason, calls)"
    " SELECT workspace_id, agent_id, source, '', SUM(calls) FROM call_counts WHERE true"
    " GROUP BY 1, 2, 3 ON CONFLICT (workspace_id, agent_id, source, end_reason)"
    " DO UPDATE SET calls = excluded.calls",
    "DROP INDEX calls_running",
    "CREATE INDEX calls_running ON calls (workspace_id, created_ms, id) WHERE status <> 'ended'",
    "DROP INDEX calls_agent",
    "CREATE INDEX calls_agent ON calls (workspace_id, agent_id, created_ms, id)",
    "CREATE INDEX calls_source ON calls (workspace_id, source, created_ms, id)",
    "CREATE INDEX calls_reason ON calls (workspace_id, end_reason, created_ms, id)"
    " WHERE status = 'ended'",
    NULL,
};

static const char *const version_14[] = {
    "CREATE INDEX events_call ON events (call_id, created_ms)",
    "CREATE INDEX calls_running_agent ON calls (agent_id) WHERE status <> 'ended'",
    NULL,
};

/* The model of which all of a document's passages have their vectors, so that those that wait are
 * found without a look at the others. */
static const char *const version_15[] = {
    "ALTER TABLE documents ADD COLUMN vector_model TEXT NOT NULL DEFAULT ''",
    "UPDATE documents SET vector_model = COALESCE((SELECT v.model FROM vector_states v"
    " WHERE v.document_id = documents.id"
    " AND v.done >= documents.card_count + documents.section_count), '')"
    " WHERE status = 'ready'",
    "CREATE INDEX documents_vectors ON documents (vector_model, workspace_id, created_ms)"
    " WHERE status = 'ready' AND card_count + section_count > 0",
    NULL,
};

/* When the person who has the address last came through a proxy that vouches for it; 0: never. */
static const char *const version_16[] = {
    "ALTER TABLE members ADD COLUMN vouched_ms BIGINT NOT NULL DEFAULT 0",
    NULL,
};

/* Names beside what orders a list, so that a page and a search by name read an index alone. */
static const char *const version_17[] = {
    "ALTER TABLE agents ADD COLUMN name TEXT NOT NULL DEFAULT ''",
    "{names out of settings}",
    "DROP INDEX agents_workspace",
    "CREATE INDEX agents_workspace"
    " ON agents (workspace_id, updated_ms DESC, id, bytes, name)",
    "DROP INDEX tools_workspace",
    "CREATE INDEX tools_workspace"
    " ON tools (workspace_id, created_ms DESC, id DESC, agent_id, name)",
    "DROP INDEX documents_workspace",
    "CREATE INDEX documents_workspace"
    " ON documents (workspace_id, created_ms DESC, id DESC, name)",
    NULL,
};

/* Replies by day and size (model/reply_times.h), so that percentiles are those of all replies; of
 * calls that are there and ended within the year that is asked for at most. A call counts by its
 * turns' timing; one from before there was any, as one reply of its median. Calls that have gone
 * count no replies. The means that these take the place of were counted in three columns, which
 * nobody reads any more: a node of version 17 that still runs beside this one writes them. */
static const char *const version_18[] = {
    "CREATE TABLE usage_replies (workspace_id {id} NOT NULL, day BIGINT NOT NULL,"
    " agent_id {id} NOT NULL"
#define REPLY_TIME(from, below) ", ms_" #from " BIGINT NOT NULL"
#include "model/reply_times.def"
#undef REPLY_TIME
    ", PRIMARY KEY (workspace_id, day, agent_id))",
    "INSERT INTO usage_replies SELECT workspace_id, ended_ms / 86400000, agent_id"
#define REPLY_TIME(from, below) ", COUNT(*) FILTER (WHERE ms >= " #from " AND ms < " #below ")"
#include "model/reply_times.def"
#undef REPLY_TIME
    " FROM (SELECT c.workspace_id, c.agent_id, c.ended_ms, {first packet of timing} AS ms"
    " FROM calls c JOIN call_turns t ON t.call_id = c.id WHERE c.status = 'ended'"
    " AND t.timing <> ''"
    " UNION ALL SELECT c.workspace_id, c.agent_id, c.ended_ms, {median of quality}"
    " FROM calls c WHERE c.status = 'ended' AND c.quality <> '' AND NOT EXISTS"
    " (SELECT 1 FROM call_turns t WHERE t.call_id = c.id AND t.timing <> '')) AS known"
    " WHERE ms >= 0 AND ended_ms / 86400000 > (SELECT MAX(ended_ms) / 86400000 - 366 FROM calls)"
    " GROUP BY 1, 2, 3",
    "ALTER TABLE usage_days DROP COLUMN replies",
    "ALTER TABLE usage_days DROP COLUMN reply_p50_ms",
    "ALTER TABLE usage_days DROP COLUMN reply_p95_ms",
    "ALTER TABLE usage_days ADD COLUMN replies BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE usage_days ADD COLUMN reply_p50_ms BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE usage_days ADD COLUMN reply_p95_ms BIGINT NOT NULL DEFAULT 0",
    NULL,
};

static const char *const *const versions[] = {
    version_1,  version_2,  version_3,  version_4,  version_5,  version_6,
    version_7,  version_8,  version_9,  version_10, version_11, version_12,
    version_13, version_14, version_15, version_16, version_17, version_18};

enum { STATEMENT_MAX_BYTES = 16 * 1024 };

int schema_version(void)
{
    return (int)ARRAY_LEN(versions);
}

struct token {
    const char *name, *sqlite, *pg;
};
static const struct token tokens[] = {
    {"{id}", "TEXT", "TEXT COLLATE \"C\""},
    {"{serial}", "INTEGER PRIMARY KEY AUTOINCREMENT",
     "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"},
    {"{blob}", "BLOB", "BYTEA"},
    /* Settings that do not read are set aside when they are met (store/dead_letter.h). Not by a
     * function of the session's: that takes a right which nothing else here needs. */
    {"{names out of settings}",
     "UPDATE agents SET name = CASE WHEN json_valid(settings)"
     " THEN COALESCE(json_extract(settings, '$.name'), '') ELSE '' END",
     "DO $$ DECLARE agent RECORD; its_name TEXT; BEGIN"
     " FOR agent IN SELECT id, settings FROM agents LOOP"
     " BEGIN its_name := COALESCE(agent.settings::json->>'name', '');"
     " EXCEPTION WHEN OTHERS THEN its_name := ''; END;"
     " UPDATE agents SET name = its_name WHERE agents.id = agent.id; END LOOP; END $$"},
    /* By its words on PostgreSQL, which tells of JSON that does not read by failing. Whether it was
     * typed is told by the end of the caller's turn, which is not in what was. */
    {"{first packet of timing}",
     "CASE WHEN json_valid(t.timing) AND json_extract(t.timing, '$.endpointMs') IS NOT NULL"
     " AND json_type(t.timing, '$.firstPacketMs') IN ('integer', 'real')"
     " THEN CAST(json_extract(t.timing, '$.firstPacketMs') AS INTEGER) END",
     "CASE WHEN t.timing ~ '\"endpointMs\": *[0-9]' THEN"
     " CAST(substring(t.timing FROM '\"firstPacketMs\": *([0-9]{1,9})') AS BIGINT) END"},
    {"{median of quality}",
     "CASE WHEN json_valid(c.quality)"
     " THEN CAST(json_extract(c.quality, '$.voiceToVoiceMs.p50') AS INTEGER) END",
     "CAST(substring(c.quality FROM"
     " '\"voiceToVoiceMs\": *[{]\"p50\": *([0-9]{1,9})') AS BIGINT)"},
    {"{bytes of settings}", "length(CAST(settings AS BLOB))", "octet_length(settings)"},
};

static const struct token *token_at(const char *text)
{
    for (size_t i = 0; i < ARRAY_LEN(tokens); i++)
        if (strncmp(text, tokens[i].name, strlen(tokens[i].name)) == 0)
            return &tokens[i];
    return NULL;
}

static void translate(const char *sql, bool is_pg, struct buf *out)
{
    while (*sql) {
        const struct token *token = *sql == '{' ? token_at(sql) : NULL;
        if (!token) {
            (void)buf_append_char(out, *sql++);
            continue;
        }
        (void)buf_append_str(out, is_pg ? token->pg : token->sqlite);
        sql += strlen(token->name);
    }
}

static enum err run_version(struct db *db, int version, struct fault *fault)
{
    for (const char *const *sql = versions[version - 1]; *sql; sql++) {
        AUTO_BUF text = BUF_INIT(STATEMENT_MAX_BYTES);
        translate(*sql, db->ops->is_pg, &text);
        enum err err = db->ops->script(db, text.data, fault);
        if (err)
            return err;
    }
    char note[80];
    snprintf(note, sizeof(note), "UPDATE schema_version SET version = %d", version);
    return db->ops->script(db, note, fault);
}

static enum err read_version(struct db *db, int *out, struct fault *fault)
{
    static const struct db_value none[] = {{.type = DB_END}};
    struct rows *rows;
    enum err err = db->ops->query(db, "SELECT COALESCE(MAX(version), -1) FROM schema_version", none,
                                  &rows, fault);
    if (err)
        return err;
    *out = db->ops->next(rows, fault) ? (int)db->ops->number(rows, 0) : -1;
    db->ops->rows_close(rows);
    return OK;
}

static enum err migrate_locked(struct db *db, int last, struct fault *fault)
{
    int version = -1;
    enum err err = OK;
    if (db->ops->is_pg) /* concurrent starts wait here for each other */
        err = db->ops->script(db, "SELECT pg_advisory_xact_lock(435426587496)", fault);
    if (!err)
        err = db->ops->script(
            db, "CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)", fault);
    if (!err)
        err = read_version(db, &version, fault);
    if (!err && version < 0)
        err = db->ops->script(db, "INSERT INTO schema_version (version) VALUES (0)", fault);
    if (!err && version > schema_version())
        err = fault_set(fault, ERR_UNSUPPORTED,
                        "the database has tables of version %d, this program knows up to %d",
                        version, schema_version());
    for (int next = MAX(version, 0) + 1; !err && next <= last; next++)
        err = run_version(db, next, fault);
    return err;
}

enum err schema_migrate_to(struct db *db, int version, struct fault *fault)
{
    enum err err = db->ops->script(db, db->ops->is_pg ? "BEGIN" : "BEGIN IMMEDIATE", fault);
    if (err)
        return err;
    err = migrate_locked(db, version, fault);
    if (!err)
        err = db->ops->script(db, "COMMIT", fault);
    if (err)
        db->ops->rollback(db);
    return err;
}

enum err schema_migrate(struct db *db, struct fault *fault)
{
    return schema_migrate_to(db, schema_version(), fault);
}
