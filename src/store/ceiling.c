/* Ceilings of a workspace. Thread: inside a job. */
#include "store/ceiling.h"

#include "base/config.h"
#include "store/tx.h"
#include "store/workspace.h"

enum { MIB = 1024 * 1024 };

void ceilings_read(struct ceilings *ceilings, const struct config *config)
{
    *ceilings = (struct ceilings){{
        [CEILING_AGENTS] = config_int(config, SET_MAX_AGENTS),
        [CEILING_TOOLS] = config_int(config, SET_MAX_TOOLS),
        [CEILING_KEYS] = config_int(config, SET_MAX_KEYS),
        [CEILING_BYTES] = config_int(config, SET_MAX_STORAGE) * MIB,
    }};
}

enum err store_ceilings_check(struct tx *tx, const char *workspace_id,
                              const struct ceilings *ceilings, unsigned grown, enum ceiling *out)
{
    static const char sql[] =
        "SELECT (SELECT COUNT(*) FROM agents WHERE workspace_id = w.id),"
        " (SELECT COUNT(*) FROM tools WHERE workspace_id = w.id),"
        " (SELECT COUNT(*) FROM api_keys WHERE workspace_id = w.id AND revoked_ms = 0),"
        " CAST((SELECT COALESCE(SUM(bytes), 0) FROM agents WHERE workspace_id = w.id)"
        " + (SELECT COALESCE(SUM(bytes), 0) FROM tools WHERE workspace_id = w.id) AS BIGINT)"
        " FROM workspaces w WHERE w.id = ?";
    enum err err = grown ? store_workspace_lock(tx, workspace_id) : OK;
    if (err || !grown)
        return err;
    AUTO(cursor) row =
        QUERY(tx, sql, TEXT(workspace_id)); /* sees what was written before the lock */
    if (!cursor_next(row))
        return tx_missing(tx);
    for (unsigned i = 0; i < CEILING_COUNT; i++) {
        if (!(grown >> i & 1) || cursor_number(row, i) <= ceilings->most[i])
            continue;
        *out = (enum ceiling)i;
        return ERR_LIMIT;
    }
    return OK;
}
