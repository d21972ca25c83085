/* The cache of keys: from the key's hash to whom it speaks for, for a second. The key itself is not
 * kept. The use of a workspace key is stored at most once a minute. */
#include "api/keys.h"

#include <string.h>

#include "base/crypto.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/map.h"
#include "base/mem.h"
#include "store/api_key.h"
#include "store/session.h"
#include "store/store.h"

enum {
    KEPT_US = 1000000,   /* contract: an old key stops within a second, on every node */
    TOUCH_US = 60000000, /* lastUsedAt is written once a minute at most */
};

struct entry {
    struct list_node node; /* in keys->used */
    uint8_t hash[SHA256_BYTES];
    struct principal principal;
    int64_t until_us, touched_us;
};

struct keys {
    struct loop *loop;
    struct store *store;
    struct store_watch *watch;
    struct map *entries;
    struct list_node used; /* all entries, the longest unused first */
    size_t most;
    unsigned changes; /* so often were keys rotated or revoked */
    loop_fn *on_changed;
    void *on_changed_arg;
};

static void forget(struct keys *keys, struct entry *entry)
{
    list_remove(&entry->node);
    map_remove(keys->entries, entry->hash, sizeof(entry->hash));
    mem_free(entry);
}

/* Where there is no room, the longest unused makes way: sessions come and go without end. */
static struct entry *remember(struct keys *keys, const uint8_t hash[SHA256_BYTES])
{
    if (map_count(keys->entries) >= keys->most)
        forget(keys, LIST_FIRST(&keys->used, struct entry, node));
    struct entry *entry = mem_new(struct entry);
    memcpy(entry->hash, hash, sizeof(entry->hash));
    map_set(keys->entries, hash, sizeof(entry->hash), entry);
    list_push_back(&keys->used, &entry->node);
    return entry;
}

/* Keys were rotated or revoked, here or on another node. */
static void on_changed(void *arg, unsigned topics)
{
    (void)topics;
    struct keys *keys = arg;
    struct entry *entry;
    keys->changes++;
    LIST_EACH (entry, &keys->used, struct entry, node)
        entry->until_us = 0;
    if (keys->on_changed)
        keys->on_changed(keys->on_changed_arg);
}

struct keys *keys_new(struct loop *loop, struct store *store, size_t most)
{
    struct keys *keys = mem_new(struct keys);
    keys->loop = loop;
    keys->store = store;
    keys->entries = map_new();
    list_init(&keys->used);
    keys->most = most ? most : KEYS_MAX;
    keys->watch = store_watch(store, STORE_KEYS, loop, on_changed, keys);
    return keys;
}

void keys_watch(struct keys *keys, loop_fn *fn, void *arg)
{
    keys->on_changed = fn;
    keys->on_changed_arg = arg;
}

void keys_free(struct keys *keys)
{
    if (!keys)
        return;
    if (keys->watch)
        store_unwatch(keys->watch);
    for (struct entry *entry; (entry = LIST_FIRST(&keys->used, struct entry, node));)
        forget(keys, entry);
    map_free(keys->entries);
    mem_free(keys);
}

static enum err touch_job(struct tx *tx, void *arg)
{
    return store_key_touch(tx, arg);
}

static enum err touch_session(struct tx *tx, void *arg)
{
    return store_session_touch(tx, arg);
}

static void on_touched(void *arg, enum err err)
{
    (void)err; /* the next use tries again */
    mem_free(arg);
}

static void touch(struct keys *keys, struct entry *entry)
{
    int64_t now_us = loop_now_us(keys->loop);
    bool is_session = entry->principal.kind == KEY_SESSION;
    if ((entry->principal.kind != KEY_WORKSPACE && !is_session) ||
        (entry->touched_us && now_us - entry->touched_us < TOUCH_US))
        return;
    entry->touched_us = now_us;
    char *id = mem_strdup(is_session ? entry->principal.session_id : entry->principal.key_id);
    struct store_line line = {.key = entry->principal.workspace_id, .mode = STORE_WRITE};
    if (store_job_for(keys->store, line, is_session ? touch_session : touch_job, id, keys->loop,
                      on_touched) != OK)
        mem_free(id);
}

struct lookup {
    struct keys *keys;
    char *key;
    uint8_t hash[SHA256_BYTES];
    struct principal principal;
    unsigned changes; /* before it */
    keys_found_fn *fn;
    void *arg;
};

static enum err lookup_job(struct tx *tx, void *arg)
{
    struct lookup *lookup = arg;
    return store_key_find(tx, lookup->key, &lookup->principal);
}

static void on_looked_up(void *arg, enum err err)
{
    struct lookup *lookup = arg;
    struct keys *keys = lookup->keys;
    struct entry *entry = map_get(keys->entries, lookup->hash, sizeof(lookup->hash));
    if (!err) {
        if (!entry)
            entry = remember(keys, lookup->hash);
        list_remove(&entry->node);
        list_push_back(&keys->used, &entry->node);
        entry->principal = lookup->principal;
        /* What was read before the news may be what they are about. */
        entry->until_us = lookup->changes == keys->changes ? loop_now_us(keys->loop) + KEPT_US : 0;
        touch(keys, entry);
        lookup->fn(lookup->arg, OK, &lookup->principal);
    } else {
        if (entry && err == ERR_NOT_FOUND)
            forget(keys, entry);
        lookup->fn(lookup->arg, err == ERR_NOT_FOUND ? OK : err, NULL);
    }
    mem_free(lookup->key);
    mem_free(lookup);
}

void keys_find(struct keys *keys, const char *key, const char *address, keys_found_fn *fn,
               void *arg)
{
    uint8_t hash[SHA256_BYTES];
    crypto_sha256(key, strlen(key), hash);
    struct entry *entry = map_get(keys->entries, hash, sizeof(hash));
    if (entry && entry->until_us > loop_now_us(keys->loop)) {
        touch(keys, entry);
        fn(arg, OK, &entry->principal);
        return;
    }
    struct lookup *lookup = mem_new(struct lookup);
    lookup->keys = keys;
    lookup->key = mem_strdup(key);
    memcpy(lookup->hash, hash, sizeof(hash));
    lookup->changes = keys->changes;
    lookup->fn = fn;
    lookup->arg = arg;
    struct store_line line = {.key = entry ? entry->principal.workspace_id : address,
                              .mode = STORE_READ};
    enum err err = store_job_for(keys->store, line, lookup_job, lookup, keys->loop, on_looked_up);
    if (err) {
        mem_free(lookup->key);
        mem_free(lookup);
        fn(arg, err, NULL);
    }
}
