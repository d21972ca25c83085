#include "event/rooms.h"

#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"

enum { KEY_MAX = 1024 };

struct rooms {
    struct map *lines, *workspaces; /* room + 1, so that 0 is 'not named' */
    unsigned standard_line, standard_workspace;
};

struct rooms *rooms_new(unsigned standard_line, unsigned standard_workspace)
{
    struct rooms *rooms = mem_new(struct rooms);
    *rooms = (struct rooms){map_new(), map_new(), standard_line, standard_workspace};
    return rooms;
}

void rooms_free(struct rooms *rooms)
{
    if (!rooms)
        return;
    map_free(rooms->lines);
    map_free(rooms->workspaces);
    mem_free(rooms);
}

static void line_key(const char *workspace_id, const char *line, struct buf *out)
{
    buf_append_str(out, workspace_id);
    buf_append_char(out, '/');
    buf_append_str(out, line);
}

void rooms_set_line(struct rooms *rooms, const char *workspace_id, const char *line, unsigned room)
{
    AUTO_BUF key = BUF_INIT(KEY_MAX);
    line_key(workspace_id, line, &key);
    uintptr_t before = (uintptr_t)map_get(rooms->lines, key.data, key.len);
    map_set(rooms->lines, key.data, key.len, (void *)MAX((uintptr_t)room + 1, before));
}

void rooms_set_workspace(struct rooms *rooms, const char *workspace_id, unsigned room)
{
    map_set_str(rooms->workspaces, workspace_id, (void *)((uintptr_t)room + 1));
}

unsigned rooms_of_line(const void *arg, const char *workspace_id, const char *line)
{
    const struct rooms *rooms = arg;
    AUTO_BUF key = BUF_INIT(KEY_MAX);
    line_key(workspace_id, line, &key);
    uintptr_t room = (uintptr_t)map_get(rooms->lines, key.data, key.len);
    return room ? (unsigned)(room - 1) : rooms->standard_line;
}

unsigned rooms_of_workspace(const void *arg, const char *workspace_id)
{
    const struct rooms *rooms = arg;
    uintptr_t room = (uintptr_t)map_get_str(rooms->workspaces, workspace_id);
    return room ? (unsigned)(room - 1) : rooms->standard_workspace;
}
