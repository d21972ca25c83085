/* Files on their way to passages: read by a process of their own, several at once, by turns of
 * their workspaces. */
#include "unit/store/fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "know/know.h"
#include "store/document.h"
#include "store/internal.h"

struct room {
    struct fix *fix;
    struct loop *loop;
    struct know *know;
};

static const char *add(struct fix *fix, enum document_kind kind, const char *bytes, size_t len)
{
    struct tx *tx = fix_write(fix);
    const struct document_source source = {.data = bytes, .len = len};
    struct document document = {
        .user_id = fix->workspace_id, .name = "File", .kind = kind, .is_stored = true};
    CHECK_INT(store_document_insert(tx, &document, &source, 0), OK);
    CHECK_INT(fix_commit(tx), OK);
    return arena_strdup(fix->arena, document.id);
}

static const char *add_file(struct fix *fix, const char *bytes, size_t len)
{
    return add(fix, DOCUMENT_TXT, bytes, len);
}

static void room_open(struct room *room, struct fix *fix)
{
    struct fault fault = {0};
    room->fix = fix;
    room->loop = loop_new("know");
    const struct know_config config = {
        .store = fix->store, .loop = room->loop, .program = EXTRACTOR};
    CHECK_INT(know_open(&config, &room->know, &fault), OK);
    CHECK_INT(loop_start(room->loop), OK);
}

static void room_close(struct room *room)
{
    loop_join(room->loop);
    know_close(room->know);
    store_close(room->fix->store);
    loop_free(room->loop);
    room->fix->store = NULL;
}

static struct document look_at(struct fix *fix, const char *workspace_id, const char *id)
{
    struct tx *tx = fix_read(fix);
    struct document document = {0};
    CHECK_INT(store_document_get(tx, workspace_id, id, &document), OK);
    document.error = arena_strdup(fix->arena, document.error);
    fix_rollback(tx);
    return document;
}

static struct document await_read(struct fix *fix, const char *workspace_id, const char *id)
{
    struct document document = look_at(fix, workspace_id, id);
    struct fix_wait wait = {0};
    while (document.status == DOCUMENT_PROCESSING && fix_wait(&wait))
        document = look_at(fix, workspace_id, id);
    return document;
}

STORE_TEST(a_file_is_read_by_a_process_of_its_own)
{
    static const char utf16[] = "\xFF\xFEO\0p\0e\0n\0 \0a\0t\0 \0n\0i\0n\0e\0.\0";
    struct room room;
    fix_people(fix);
    const char *good = add_file(fix, utf16, sizeof(utf16) - 1), *bad = add_file(fix, "a\1b\0c", 5);
    const char *broken = add_file(fix, "#!crash", 7);
    room_open(&room, fix);
    struct document document = await_read(fix, fix->workspace_id, good);
    CHECK_INT(document.status, DOCUMENT_READY);
    CHECK_INT(document.chars, 13);
    document = await_read(fix, fix->workspace_id, bad);
    CHECK_INT(document.status, DOCUMENT_FAILED);
    CHECK(strstr(document.error, "no text in any encoding") != NULL);
    document = await_read(fix, fix->workspace_id, broken);
    CHECK_INT(document.status, DOCUMENT_FAILED);
    CHECK(strstr(document.error, "broke off") != NULL);
    room_close(&room);
}

static size_t waiting(struct fix *fix)
{
    struct tx *tx = fix_read(fix);
    struct document_list list;
    CHECK_INT(store_document_waiting(tx, &list), OK);
    size_t count = list.count;
    fix_rollback(tx);
    return count;
}

/* A workspace's files hang in all the readers that it may have: another one's is read all the same,
 * and the end waits for none. */
TEST(files_of_one_workspace_keep_nobody_waiting)
{
    enum { FILES_OF_FLOOD = 6, READERS_OF_ONE = 2 };
    struct fix fix = {0};
    struct room room;
    fix_begin(&fix, false);
    fix_people(&fix);
    for (int i = 0; i < FILES_OF_FLOOD; i++)
        (void)add_file(&fix, "#!hang", 6);
    room_open(&room, &fix);
    struct fix_wait wait = {0};
    while (waiting(&fix) > FILES_OF_FLOOD - READERS_OF_ONE && fix_wait(&wait))
        continue;
    struct tx *tx = fix_write(&fix);
    fix_people_in(&fix, tx);
    CHECK_INT(fix_commit(tx), OK);
    const char *other = add_file(&fix, "Open at nine.", 13);
    CHECK_INT(await_read(&fix, fix.workspace_id, other).status, DOCUMENT_READY);
    room_close(&room);
    fix_end(&fix);
}

static void go_to_another_workspace(struct fix *fix)
{
    struct tx *tx = fix_write(fix);
    fix_people_in(fix, tx);
    CHECK_INT(fix_commit(tx), OK);
}

/* Files of several workspaces hang in all the readers: a text is read beside them, and a file as
 * soon as one of them has had its turn. */
TEST(files_that_take_long_make_way_whosever_they_are)
{
    enum { WORKSPACES = 4, FILES_OF_EACH = 3, READERS = 3 };
    struct fix fix = {0};
    struct room room;
    fix_begin(&fix, false);
    fix_people(&fix);
    for (int i = 0; i < WORKSPACES; i++) {
        for (int j = 0; j < FILES_OF_EACH; j++)
            (void)add(&fix, DOCUMENT_PDF, "#!hang", 6);
        go_to_another_workspace(&fix);
    }
    room_open(&room, &fix);
    struct fix_wait wait = {0};
    while (waiting(&fix) > WORKSPACES * FILES_OF_EACH - READERS && fix_wait(&wait))
        continue;
    const char *text = add(&fix, DOCUMENT_TEXT, "Open at nine.", 13);
    const char *file = add(&fix, DOCUMENT_PDF, "#!try", 5);
    CHECK_INT(await_read(&fix, fix.workspace_id, text).status, DOCUMENT_READY);
    CHECK_INT(await_read(&fix, fix.workspace_id, file).status, DOCUMENT_READY);
    room_close(&room);
    fix_end(&fix);
}
