/* Checks of what lies on this machine: directory, key, database, clock, limits. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/machine.h"
#include "base/mem.h"
#include "base/place.h"
#include "cli/doctor.h"
#include "cli/local_store.h"
#include "cli/unix_socket.h"
#include "store/dead_letter.h"

enum {
    LETTERS_NAMED = 3,
    LEAST_FREE_MB = 500,
    LEAST_FILES = 4096, /* a call holds a socket and, with network engines, three more */
    DESCRIBED_MAX_BYTES = 200,
};
static const int64_t YEAR_2025_MS = INT64_C(1735689600000);

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

void doctor_check_data(struct doctor *doctor)
{
    const char *path = config_text(doctor->config, SET_DATA);
    struct stat dir;
    struct statvfs disk;
    if (stat(path, &dir) != 0) {
        doctor_find(doctor, errno == ENOENT ? FINDING_GOOD : FINDING_FAULT, "%s: %s%s", path,
                    strerror(errno), errno == ENOENT ? "; it will be made" : "");
        return;
    }
    if (!S_ISDIR(dir.st_mode) || access(path, R_OK | W_OK | X_OK) != 0) {
        doctor_find(doctor, FINDING_FAULT, "%s: not a directory that this user may write to", path);
        return;
    }
    if (dir.st_mode & 077)
        doctor_find(doctor, FINDING_WARNING, "%s is open to other users: chmod 700 %s", path, path);
    if (statvfs(path, &disk) != 0)
        return;
    uint64_t free_mb = (uint64_t)disk.f_bavail * disk.f_frsize >> 20;
    doctor_find(doctor, free_mb < LEAST_FREE_MB ? FINDING_WARNING : FINDING_GOOD,
                "%s, %" PRIu64 " MB free", path, free_mb);
}

void doctor_check_running(struct doctor *doctor)
{
    struct sockaddr_un address;
    struct fault fault = {0};
    if (unix_socket_address(config_text(doctor->config, SET_DATA), &address, &fault)) {
        doctor_find(doctor, FINDING_FAULT, "%s", fault.text);
        return;
    }
    int fd = unix_socket_connect(&address);
    doctor->has_running_service = fd >= 0;
    if (fd >= 0)
        close(fd);
    doctor_find(doctor, FINDING_GOOD, "%s",
                fd >= 0 ? "one runs on this data directory" : "none runs on this data directory");
}

void doctor_check_master_key(struct doctor *doctor)
{
    AUTO_MEM char *path = mem_printf("%s/master.key", config_text(doctor->config, SET_DATA));
    const char *given = config_text(doctor->config, SET_MASTER_KEY);
    bool is_shared = *config_text(doctor->config, SET_DATABASE_URL);
    struct stat file;
    if (*given)
        doctor_find(doctor, FINDING_GOOD, "given by the settings");
    else if (stat(path, &file) != 0)
        doctor_find(doctor, is_shared ? FINDING_WARNING : FINDING_GOOD, "%s will be made%s", path,
                    is_shared ? "; nodes of one database need the same: set service.master_key"
                              : "");
    else if (file.st_mode & 077)
        doctor_find(doctor, FINDING_FAULT, "%s can be read by others: chmod 600 %s", path, path);
    else
        doctor_find(doctor, FINDING_GOOD, "%s; keep a copy, secrets cannot be read without it",
                    path);
}

static enum err describe(struct tx *tx, void *arg)
{
    return store_describe(tx, arg);
}

void doctor_check_database(struct doctor *doctor)
{
    AUTO_MEM char *path = mem_printf("%s/earshot.db", config_text(doctor->config, SET_DATA));
    bool is_shared = *config_text(doctor->config, SET_DATABASE_URL);
    AUTO_BUF text = BUF_INIT(DESCRIBED_MAX_BYTES);
    struct fault fault = {0};
    if (!is_shared && !exists(path))
        doctor_find(doctor, FINDING_GOOD, "%s will be made", path);
    else if (local_store_run(doctor->config, STORE_READ, describe, &text, &fault))
        doctor_find(doctor, FINDING_FAULT, "%s", fault.text);
    else
        doctor_find(doctor, FINDING_GOOD, "%s", text.data ? text.data : path);
}

/* What a job read of the dead letters, kept beyond it. */
struct letters_found {
    struct arena *arena;
    struct dead_letter_counts counts;
    struct dead_letter_list newest;
};

static enum err read_letters(struct tx *tx, void *arg)
{
    struct letters_found *found = arg;
    enum err err = store_dead_letters(tx, LETTERS_NAMED, &found->counts, &found->newest);
    for (size_t i = 0; !err && i < found->newest.count; i++) {
        struct dead_letter *letter = &found->newest.items[i];
        letter->workspace_id = arena_strdup(found->arena, letter->workspace_id);
        letter->subject_id = arena_strdup(found->arena, letter->subject_id);
        letter->reason = arena_strdup(found->arena, letter->reason);
    }
    struct dead_letter *items = arena_new_n(found->arena, struct dead_letter, LETTERS_NAMED);
    if (!err && found->newest.count)
        memcpy(items, found->newest.items, found->newest.count * sizeof(*items));
    found->newest.items = items;
    return err;
}

static void name_letters(struct doctor *doctor, const struct letters_found *found)
{
    AUTO_BUF text = BUF_INIT(FINDING_TEXT_SIZE);
    for (int i = 0; i < DEAD_LETTER_KIND_COUNT; i++)
        if (found->counts.of_kind[i])
            (void)buf_printf(&text, "%s%s %lld", text.len ? ", " : "", dead_letter_kind_names[i],
                             (long long)found->counts.of_kind[i]);
    doctor_find(doctor, FINDING_WARNING, "set aside, as they can never be written or sent: %s",
                text.data);
    for (size_t i = 0; i < found->newest.count; i++) {
        const struct dead_letter *letter = &found->newest.items[i];
        char at[CLOCK_ISO_SIZE];
        clock_iso(letter->last_wall_ms, at);
        doctor_find(doctor, FINDING_WARNING, "%s %s of %s at %s: %s",
                    dead_letter_kind_names[letter->kind], letter->subject_id,
                    *letter->workspace_id ? letter->workspace_id : "no workspace", at,
                    letter->reason);
    }
}

void doctor_check_dead_letters(struct doctor *doctor)
{
    AUTO_MEM char *path = mem_printf("%s/earshot.db", config_text(doctor->config, SET_DATA));
    AUTO(arena) arena = arena_new(0);
    struct letters_found found = {.arena = arena};
    struct fault fault = {0};
    if (!*config_text(doctor->config, SET_DATABASE_URL) && !exists(path))
        return;
    if (local_store_run(doctor->config, STORE_READ, read_letters, &found, &fault))
        return; /* the check of the database says why */
    if (found.counts.all)
        name_letters(doctor, &found);
    else
        doctor_find(doctor, FINDING_GOOD, "nothing was set aside");
}

void doctor_check_clock(struct doctor *doctor)
{
    struct timex state = {0};
    int status = adjtimex(&state); /* only reads */
    if (clock_wall_ms() < YEAR_2025_MS)
        doctor_find(doctor, FINDING_FAULT, "the clock is years behind: tokens will not be valid");
    else if (status == TIME_ERROR || (state.status & STA_UNSYNC))
        doctor_find(doctor, FINDING_WARNING,
                    "not kept by NTP: a difference of a minute makes join tokens invalid");
    else
        doctor_find(doctor, FINDING_GOOD, "kept by NTP");
}

/* Asked for, and given back at once. */
static void check_place(struct doctor *doctor)
{
    enum place place = place_ask();
    place_leave();
    doctor_find(doctor, place == PLACE_NORMAL ? FINDING_WARNING : FINDING_GOOD,
                "threads that carry calls get %s%s", place_name(place),
                place == PLACE_NORMAL ? ": other programs of this machine can make voices stutter; "
                                        "raise LimitRTPRIO or LimitNICE (systemd)"
                                      : "");
}

void doctor_check_limits(struct doctor *doctor)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    doctor_find(doctor, files.rlim_max < LEAST_FILES ? FINDING_WARNING : FINDING_GOOD,
                "%ju open files%s", (uintmax_t)files.rlim_max,
                files.rlim_max < LEAST_FILES
                    ? ", few for many calls: raise LimitNOFILE (systemd) or "
                      "ulimit -n"
                    : "");
    int64_t cores_milli = machine_cores_milli();
    doctor_find(doctor, FINDING_GOOD, "%" PRId64 ".%" PRId64 " cores", cores_milli / 1000,
                cores_milli % 1000 / 100);
    if (config_bool(doctor->config, SET_RTC_PRIORITY))
        check_place(doctor);
}
