#include "event/allowance.h"

#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"

enum { KEY_MAX = 1024 };

struct allowance {
    struct map *lines, *workspaces; /* room + 1, so that 0 is 'not named' */
    unsigned standard_line, standard_workspace;
};

struct allowance *allowance_new(unsigned standard_line, unsigned standard_workspace)
{
    struct allowance *allowance = mem_new(struct allowance);
    *allowance = (struct allowance){map_new(), map_new(), standard_line, standard_workspace};
    return allowance;
}

void allowance_free(struct allowance *allowance)
{
    if (!allowance)
        return;
    map_free(allowance->lines);
    map_free(allowance->workspaces);
    mem_free(allowance);
}

static void line_key(const char *workspace_id, const char *line, struct buf *out)
{
    buf_append_str(out, workspace_id);
    buf_append_char(out, '/');
    buf_append_str(out, line);
}

void allowance_set_line(struct allowance *allowance, const char *workspace_id, const char *line,
                        unsigned room)
{
    AUTO_BUF key = BUF_INIT(KEY_MAX);
    line_key(workspace_id, line, &key);
    uintptr_t before = (uintptr_t)map_get(allowance->lines, key.data, key.len);
    map_set(allowance->lines, key.data, key.len, (void *)MAX((uintptr_t)room + 1, before));
}

void allowance_set_workspace(struct allowance *allowance, const char *workspace_id, unsigned room)
{
    map_set_str(allowance->workspaces, workspace_id, (void *)((uintptr_t)room + 1));
}

unsigned allowance_of_line(const void *arg, const char *workspace_id, const char *line)
{
    const struct allowance *allowance = arg;
    AUTO_BUF key = BUF_INIT(KEY_MAX);
    line_key(workspace_id, line, &key);
    uintptr_t room = (uintptr_t)map_get(allowance->lines, key.data, key.len);
    return room ? (unsigned)(room - 1) : allowance->standard_line;
}

unsigned allowance_of_workspace(const void *arg, const char *workspace_id)
{
    const struct allowance *allowance = arg;
    uintptr_t room = (uintptr_t)map_get_str(allowance->workspaces, workspace_id);
    return room ? (unsigned)(room - 1) : allowance->standard_workspace;
}
