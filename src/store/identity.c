/* What a store is: its data directory, the master key under which secrets are sealed, the node's
 * name. Files are made once: written beside, then linked into place, so that of two processes that
 * start at once one wins and both read the same. Thread: inside store_open(). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/internal.h"

enum { KEY_HEX = 2 * MASTER_KEY_BYTES, IDENTITY_MAX = 79 };

static enum err make_directory(const char *path, struct fault *fault)
{
    AUTO_MEM char *part = mem_strdup(path);
    for (char *c = part + 1;; c++) {
        if (*c && *c != '/')
            continue;
        char end = *c;
        *c = '\0';
        if (mkdir(part, 0700) && errno != EEXIST)
            return fault_set(fault, ERR_IO, "%s: %s", part, strerror(errno));
        if (!end)
            return OK;
        *c = end;
    }
}

/* The new name itself must survive a power cut: what is sealed with a lost key is lost. */
static bool sync_directory(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_synced = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return is_synced;
}

static enum err write_once(const char *dir, const char *path, const char *text, struct fault *fault)
{
    char suffix[ID_SIZE];
    id_new(".", suffix);
    AUTO_MEM char *beside = mem_printf("%s%s", path, suffix);
    int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return fault_set(fault, ERR_IO, "%s: %s", beside, strerror(errno));
    size_t len = strlen(text);
    bool is_written = write(fd, text, len) == (ssize_t)len && fsync(fd) == 0;
    close(fd);
    bool is_there = is_written && (link(beside, path) == 0 || errno == EEXIST);
    int error = errno;
    unlink(beside);
    is_there = is_there && sync_directory(dir);
    return is_there ? OK : fault_set(fault, ERR_IO, "%s: %s", path, strerror(error));
}

/* The first line of a small file; made with `text` when it is missing. */
static enum err read_or_make(const char *dir, const char *path, const char *text,
                             char out[IDENTITY_MAX + 1], struct fault *fault)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        enum err err = write_once(dir, path, text, fault);
        if (err)
            return err;
        fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    if (fd < 0)
        return fault_set(fault, ERR_IO, "%s: %s", path, strerror(errno));
    ssize_t len = read(fd, out, IDENTITY_MAX);
    close(fd);
    out[MAX(len, 0)] = '\0';
    out[strcspn(out, "\r\n")] = '\0';
    return OK;
}

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = c ? strchr(digits, c | ('a' - 'A')) : NULL;
    return found ? (int)(found - digits) : -1;
}

static enum err parse_key(const char *hex, const char *source, uint8_t *out, struct fault *fault)
{
    bool is_good = strlen(hex) == KEY_HEX;
    for (int i = 0; is_good && i < MASTER_KEY_BYTES; i++) {
        int high = hex_digit(hex[2 * i]), low = hex_digit(hex[2 * i + 1]);
        is_good = high >= 0 && low >= 0;
        out[i] = (uint8_t)((high & 15) << 4 | (low & 15));
    }
    return is_good
               ? OK
               : fault_set(fault, ERR_INVALID, "%s: the master key is not 64 hex digits", source);
}

static enum err load_key(struct store *store, const char *configured, struct fault *fault)
{
    if (configured && *configured)
        return parse_key(configured, "settings", store->master_key, fault);
    uint8_t fresh[MASTER_KEY_BYTES];
    char hex[KEY_HEX + 1], found[IDENTITY_MAX + 1];
    crypto_random(fresh, sizeof(fresh));
    crypto_hex(fresh, sizeof(fresh), hex);
    AUTO_MEM char *path = mem_printf("%s/master.key", store->data_dir);
    enum err err = read_or_make(store->data_dir, path, hex, found, fault);
    return err ? err : parse_key(found, path, store->master_key, fault);
}

static enum err load_node(struct store *store, const char *configured, struct fault *fault)
{
    char fresh[ID_SIZE], found[IDENTITY_MAX + 1];
    id_new("node_", fresh);
    AUTO_MEM char *path = mem_printf("%s/node.id", store->data_dir);
    enum err err = OK;
    if (configured && *configured)
        snprintf(found, sizeof(found), "%s", configured);
    else
        err = read_or_make(store->data_dir, path, fresh, found, fault);
    if (!err && (!*found || strlen(found) >= sizeof(store->node)))
        err = fault_set(fault, ERR_INVALID, "the node's name is empty or too long");
    if (!err)
        snprintf(store->node, sizeof(store->node), "%s", found);
    return err;
}

enum err identity_load(struct store *store, const struct store_config *config, struct fault *fault)
{
    enum err err = make_directory(store->data_dir, fault);
    if (!err)
        err = load_key(store, config->master_key, fault);
    return err ? err : load_node(store, config->node_name, fault);
}

/* meta.master_key holds a text sealed with the key that fits this database. */
enum err identity_check(struct tx *tx, void *arg)
{
    bool *out_fits = arg;
    static const char context[] = "meta.master_key", text[] = "earshot";
    EXEC(tx, "INSERT INTO meta (name, value) VALUES ('master_key', ?) ON CONFLICT DO NOTHING",
         TEXT(tx_seal(tx, context, text)));
    AUTO(cursor) row = QUERY(tx, "SELECT value FROM meta WHERE name = 'master_key'");
    if (!cursor_next(row))
        return tx_missing(tx);
    AUTO_BUF opened = BUF_INIT(sizeof(text));
    const char *sealed = cursor_text(row, 0);
    *out_fits = crypto_open(tx->master_key, context, sealed, strlen(sealed), &opened) == OK &&
                strcmp(opened.data, text) == 0;
    return OK;
}
