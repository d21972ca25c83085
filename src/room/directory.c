#include "room/directory.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "net/http_server.h"
#include "net/stream.h"
#include "net/url.h"
#include "room/join.h"
#include "room/rooms.h"

enum { SWEEP_US = 15 * 1000 * 1000 };

struct entry {
    struct rooms *rooms; /* NULL: over */
    int64_t forget_us;   /* of one that is over */
};

struct room_directory {
    struct loop *loop;
    const struct token_signer *signer;
    struct map *rooms;
    unsigned open_count;
    struct timer sweep;
    room_failure_fn *on_failure; /* NULL: nobody counts */
    void *on_failure_arg;
};

struct sweep {
    struct room_directory *directory;
    int64_t now_us;
};

static int sweep_entry(void *arg, const void *key, size_t key_len, void *value)
{
    struct sweep *sweep = arg;
    struct entry *entry = value;
    if (entry->rooms || entry->forget_us > sweep->now_us)
        return 0;
    map_remove(sweep->directory->rooms, key, key_len);
    mem_free(entry);
    return 0;
}

static void on_sweep(void *arg)
{
    struct room_directory *directory = arg;
    struct sweep sweep = {directory, loop_now_us(directory->loop)};
    map_each(directory->rooms, sweep_entry, &sweep);
    timer_set_after(&directory->sweep, SWEEP_US);
}

struct room_directory *room_directory_new(struct loop *control, const struct token_signer *signer)
{
    struct room_directory *directory = mem_new(struct room_directory);
    directory->loop = control;
    directory->signer = signer;
    directory->rooms = map_new();
    timer_init(&directory->sweep, control, on_sweep, directory);
    timer_set_after(&directory->sweep, SWEEP_US);
    return directory;
}

static int free_entry(void *arg, const void *key, size_t key_len, void *value)
{
    (void)arg;
    (void)key;
    (void)key_len;
    mem_free(value);
    return 0;
}

void room_directory_free(struct room_directory *directory)
{
    if (!directory)
        return;
    timer_stop(&directory->sweep);
    map_each(directory->rooms, free_entry, NULL);
    map_free(directory->rooms);
    mem_free(directory);
}

void room_directory_on_failure(struct room_directory *directory, room_failure_fn *fn, void *arg)
{
    directory->on_failure = fn;
    directory->on_failure_arg = arg;
}

enum err room_directory_add(struct room_directory *directory, const char *room, struct rooms *rooms)
{
    if (map_get_str(directory->rooms, room))
        return ERR_CONFLICT;
    struct entry *entry = mem_new(struct entry);
    entry->rooms = rooms;
    map_set_str(directory->rooms, room, entry);
    directory->open_count++;
    return OK;
}

struct over {
    struct room_directory *directory;
    char *room;
};

static void run_over(void *arg)
{
    struct over *over = arg;
    struct room_directory *directory = over->directory;
    struct entry *entry = map_get_str(directory->rooms, over->room);
    if (!entry) {
        entry = mem_new(struct entry);
        map_set_str(directory->rooms, over->room, entry);
    } else if (entry->rooms) {
        directory->open_count--;
    }
    entry->rooms = NULL;
    entry->forget_us = loop_now_us(directory->loop) + ROOM_TOMBSTONE_US;
    mem_free(over->room);
    mem_free(over);
}

void room_directory_over(struct room_directory *directory, const char *room)
{
    struct over *over = mem_new(struct over);
    over->directory = directory;
    over->room = mem_strdup(room);
    if (loop_is_current(directory->loop))
        run_over(over);
    else
        loop_post(directory->loop, run_over, over);
}

unsigned room_directory_count(const struct room_directory *directory)
{
    return directory->open_count;
}

/* The header stands on every answer: without it browsers hide the status from the client. */
static const struct http_header cors[] = {
    {"Access-Control-Allow-Origin", "*"},
    {"Content-Type", "text/plain; charset=utf-8"},
};

static void answer(struct http_exchange *exchange, int status, const char *text)
{
    http_answer(exchange, &(struct http_answer){
                              .status = status,
                              .headers = cors,
                              .header_count = ARRAY_LEN(cors),
                              .body = text,
                              .body_len = strlen(text),
                          });
}

static void answer_preflight(struct http_exchange *exchange)
{
    static const struct http_header headers[] = {
        {"Access-Control-Allow-Origin", "*"},
        {"Access-Control-Allow-Methods", "OPTIONS, HEAD, GET, POST, PATCH, DELETE"},
        {"Access-Control-Allow-Headers", "*, Authorization"},
        {"Access-Control-Expose-Headers", "*"},
        {"Access-Control-Max-Age", "86400"},
    };
    http_answer(exchange, &(struct http_answer){
                              .status = 204,
                              .headers = headers,
                              .header_count = ARRAY_LEN(headers),
                          });
}

/* The header first, then the query (LiveKit, Token transport). */
static enum err find_token(const struct http_exchange *exchange, struct buf *out)
{
    static const char bearer[] = "Bearer ";
    const char *header = http_exchange_header(exchange, "Authorization");
    if (header && strncasecmp(header, bearer, sizeof(bearer) - 1) == 0)
        return buf_append_str(out, header + sizeof(bearer) - 1);
    return url_query_get(http_exchange_request(exchange)->query, "access_token", out);
}

/* 401, or 429 of one who fails too often. */
static int deny(const struct room_directory *directory, const struct http_exchange *exchange,
                struct fault *fault)
{
    if (!directory->on_failure ||
        directory->on_failure(directory->on_failure_arg, http_exchange_request(exchange)))
        return 401;
    fault_set(fault, ERR_LIMIT, "too many tokens that are not valid; retry later");
    return 429;
}

static int check_token(const struct room_directory *directory, const struct http_exchange *exchange,
                       struct token *out, struct fault *fault)
{
    AUTO_BUF text = BUF_INIT(TOKEN_MAX_BYTES);
    if (find_token(exchange, &text) != OK || text.len == 0) {
        fault_set(fault, ERR_DENIED, "no permissions to access the room");
        return deny(directory, exchange, fault);
    }
    enum err err =
        token_verify(directory->signer, text.data, text.len, clock_wall_ms() / 1000, out, fault);
    return err ? deny(directory, exchange, fault) : 0;
}

static int find_room(const struct room_directory *directory, const char *room,
                     struct rooms **out_rooms, struct fault *fault)
{
    const struct entry *entry = map_get_str(directory->rooms, room);
    if (!entry) {
        fault_set(fault, ERR_NOT_FOUND, "requested room does not exist");
        return 404;
    }
    if (!entry->rooms) {
        fault_set(fault, ERR_DENIED, "the room is over");
        return 403;
    }
    *out_rooms = entry->rooms;
    return 0;
}

/* All that can be known before the 101; 0 or the status of the refusal. */
static int check(const struct room_directory *directory, const struct http_exchange *exchange,
                 bool is_v1, struct room_join *join, struct rooms **out_rooms, struct fault *fault)
{
    int status = check_token(directory, exchange, &join->token, fault);
    if (status)
        return status;
    const char *query = http_exchange_request(exchange)->query;
    if (join_parse(query, is_v1, &join->request, fault) != OK)
        return 400;
    return find_room(directory, join->token.claims.room, out_rooms, fault);
}

static struct room_join *new_join(void)
{
    struct room_join *join = mem_new(struct room_join);
    join->connection.fd = -1;
    return join;
}

static void validate(struct room_directory *directory, struct http_exchange *exchange, bool is_v1)
{
    struct fault fault = {0};
    struct rooms *rooms = NULL;
    AUTO(room_join) join = new_join();
    int status = check(directory, exchange, is_v1, join, &rooms, &fault);
    answer(exchange, status ? status : 200, status ? fault.text : "success");
}

static void upgrade(struct room_directory *directory, struct http_exchange *exchange, bool is_v1)
{
    struct fault fault = {0};
    struct rooms *rooms = NULL;
    AUTO(room_join) join = new_join();
    if (!http_exchange_request(exchange)->wants_upgrade) {
        answer(exchange, 404, "not found");
        return;
    }
    int status = check(directory, exchange, is_v1, join, &rooms, &fault);
    if (!status) {
        enum err err = ws_read_offer(exchange, &join->offer, &fault);
        status = err == ERR_UNSUPPORTED ? 426 : err ? 400 : 0;
    }
    if (status) {
        log_info("room.join_refused", LOG_I("status", status), LOG_S("reason", fault.text));
        answer(exchange, status, fault.text);
        return;
    }
    if (http_upgrade(exchange, &join->connection) == OK)
        rooms_join(rooms, TAKE(join));
}

static const struct {
    const char *path;
    bool is_v1;
    void (*serve)(struct room_directory *directory, struct http_exchange *exchange, bool is_v1);
} paths[] = {
    {"/rtc", false, upgrade},
    {"/rtc/v1", true, upgrade},
    {"/rtc/validate", false, validate},
    {"/rtc/v1/validate", true, validate},
};

bool room_admit(struct room_directory *directory, struct http_exchange *exchange)
{
    const struct http_request *request = http_exchange_request(exchange);
    const char *path = request->path;
    if (strncmp(path, "//", 2) == 0)
        path++;
    if (strncmp(path, "/rtc", 4) != 0 || (path[4] && path[4] != '/'))
        return false;
    if (strcmp(request->method, "OPTIONS") == 0) {
        answer_preflight(exchange);
        return true;
    }
    bool is_get = strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;
    for (size_t i = 0; is_get && i < ARRAY_LEN(paths); i++) {
        if (strcmp(path, paths[i].path) != 0)
            continue;
        paths[i].serve(directory, exchange, paths[i].is_v1);
        return true;
    }
    answer(exchange, 404, "not found");
    return true;
}
