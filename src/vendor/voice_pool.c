/* Workers by role, sessions by worker; a frame finds its session by number. What a worker owes is
 * counted in bytes that wait: one that does not read is taken for dead. */
#include "vendor/voice_pool.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/child.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"

enum {
    SESSIONS_EASY = 4,               /* of one worker, before another is started */
    SESSIONS_MAX = 64,               /* of one worker: 1.5 GB of recognisers at most */
    OUT_MAX_BYTES = 4 * 1024 * 1024, /* a worker that leaves so much unread hangs */
    IN_MAX_BYTES = 2 * (VOICE_BODY_MAX_BYTES + VOICE_HEADER_BYTES),
    READ_BYTES = 64 * 1024,
    NICE_ALONE = 10, /* on a single core media comes first; on more there is room for both */
    DEATHS_MAX = 3,  /* within DEATHS_US, then */
    DEATHS_US = 10 * 1000 * 1000,
    QUIET_US = 120 * 1000 * 1000, /* so long without a death, pauses are short again */
    SUSPECTS_MAX = 32,
};

struct voice_worker {
    struct list_node node;
    struct voice_pool *pool;
    enum voice_role role;
    struct child *child;
    struct io *io;
    int fd;
    struct buf in, out;
    struct list_node sessions;
    unsigned session_count, owed; /* utterances of all sessions */
    struct timer overdue;
    bool is_apart;  /* for suspects */
    bool has_ended; /* it sends nothing any more; of what, its exit tells */
    bool is_dead;
    uint32_t saying;                      /* the session whose line it makes */
    char saying_of[VOICE_WORKSPACE_SIZE]; /* "": none, or nobody's */
};

/* Deaths in a row and the pause that they bring. */
struct rest {
    unsigned deaths;
    int64_t first_death_us, last_death_us, until_us, pause_us;
};

/* A workspace of whose line a worker died. */
struct suspect {
    char workspace[VOICE_WORKSPACE_SIZE];
    int64_t until_us;
    struct rest rest; /* by its lines in the worker apart */
};

struct voice_pool {
    struct loop *loop;
    char *path;
    unsigned most_workers;
    struct list_node workers[VOICE_ROLE_COUNT];
    uint32_t last_id;
    struct rest rest, rest_apart; /* by deaths of nobody's line */
    struct suspect suspects[SUSPECTS_MAX];
};

static const char *const role_names[VOICE_ROLE_COUNT] = {
    [VOICE_HEARING] = "hearing",
    [VOICE_SPEAKING] = "speaking",
};

struct voice_pool *voice_pool_new(struct loop *loop, const char *path, unsigned most_workers)
{
    struct voice_pool *pool = mem_new(struct voice_pool);
    pool->loop = loop;
    pool->path = mem_strdup(path);
    pool->most_workers = MAX(most_workers, 1);
    pool->rest.pause_us = pool->rest_apart.pause_us = VOICE_REST_US;
    for (enum voice_role role = 0; role < VOICE_ROLE_COUNT; role++)
        list_init(&pool->workers[role]);
    return pool;
}

static void free_worker(void *arg)
{
    struct voice_worker *worker = arg;
    buf_clear(&worker->in);
    buf_clear(&worker->out);
    mem_free(worker);
}

/* Closes all that the worker holds; its memory goes at the end of the turn. */
static void stop_worker(struct voice_worker *worker)
{
    if (worker->is_dead)
        return;
    worker->is_dead = true;
    timer_stop(&worker->overdue);
    list_remove(&worker->node);
    io_close(worker->io);
    close(worker->fd);
    child_close(worker->child);
    loop_defer(worker->pool->loop, free_worker, worker);
}

/* The worker has a deadline while it owes anything. */
static void owe(struct voice_session *session, unsigned owed)
{
    struct voice_worker *worker = session->worker;
    bool was_free = worker->owed == 0;
    worker->owed += owed - session->owed;
    session->owed = owed;
    if (worker->owed == 0)
        timer_stop(&worker->overdue);
    else if (was_free)
        timer_set_after(&worker->overdue, VOICE_DEADLINE_US);
}

static void detach(struct voice_session *session)
{
    owe(session, 0);
    list_remove(&session->node);
    session->worker->session_count--;
    session->worker = NULL;
}

static void count_death(struct rest *rest, int64_t now_us)
{
    if (now_us - rest->last_death_us > QUIET_US)
        rest->pause_us = VOICE_REST_US;
    rest->last_death_us = now_us;
    if (rest->deaths == 0 || now_us - rest->first_death_us > DEATHS_US) {
        rest->deaths = 0;
        rest->first_death_us = now_us;
    }
    if (++rest->deaths < DEATHS_MAX)
        return;
    rest->deaths = 0;
    rest->until_us = now_us + rest->pause_us;
    rest->pause_us = MIN(2 * rest->pause_us, (int64_t)VOICE_REST_MAX_US);
}

static struct rest *rest_of(struct voice_pool *pool, bool is_apart)
{
    return is_apart ? &pool->rest_apart : &pool->rest;
}

/* NULL: it is none. */
static struct suspect *suspect_of(struct voice_pool *pool, const char *workspace)
{
    int64_t now_us = loop_now_us(pool->loop);
    for (size_t i = 0; *workspace && i < SUSPECTS_MAX; i++)
        if (now_us < pool->suspects[i].until_us &&
            strcmp(pool->suspects[i].workspace, workspace) == 0)
            return &pool->suspects[i];
    return NULL;
}

/* In its own place, or in that of the one whose time is up first. */
static struct suspect *suspect(struct voice_pool *pool, const char *workspace)
{
    struct suspect *place = suspect_of(pool, workspace);
    if (!place) {
        place = &pool->suspects[0];
        for (size_t i = 1; i < SUSPECTS_MAX; i++)
            if (pool->suspects[i].until_us < place->until_us)
                place = &pool->suspects[i];
        *place = (struct suspect){.rest.pause_us = VOICE_REST_US};
        snprintf(place->workspace, sizeof(place->workspace), "%s", workspace);
    }
    place->until_us = loop_now_us(pool->loop) + VOICE_APART_US;
    return place;
}

/* Whose line it was bears the death; where many share a worker, that is nobody else's pause. */
static void blame(struct voice_worker *worker)
{
    struct voice_pool *pool = worker->pool;
    int64_t now_us = loop_now_us(pool->loop);
    if (!*worker->saying_of) {
        count_death(rest_of(pool, worker->is_apart), now_us);
        return;
    }
    struct suspect *guilty = suspect(pool, worker->saying_of);
    if (worker->is_apart)
        count_death(&guilty->rest, now_us);
}

static struct voice_session *shared_session_of(struct voice_pool *pool, const char *workspace)
{
    struct voice_worker *worker;
    struct voice_session *session;
    LIST_EACH (worker, &pool->workers[VOICE_SPEAKING], struct voice_worker, node) {
        if (worker->is_apart)
            continue;
        LIST_EACH (session, &worker->sessions, struct voice_session, node) {
            if (strcmp(session->workspace, workspace) == 0)
                return session;
        }
    }
    return NULL;
}

/* A suspect's sessions leave the workers that it shares: they are opened again, apart. A callback
 * may close any. */
static void expel(struct voice_pool *pool, const char *workspace)
{
    struct voice_session *session;
    while (suspect_of(pool, workspace) && (session = shared_session_of(pool, workspace))) {
        voice_session_close(session);
        session->on_lost(session->arg, ENGINE_INTERRUPTED,
                         "a line of its workspace ended a speech process");
    }
}

static enum engine_error loss_of(const struct voice_worker *worker, uint32_t session)
{
    if (!*worker->saying_of)
        return ENGINE_TRANSIENT;
    return session == worker->saying ? ENGINE_BAD_REQUEST : ENGINE_INTERRUPTED;
}

/* is_by_line: it died of what it was making, not of something else meanwhile. */
static void lose_worker(struct voice_worker *worker, const char *why, bool is_by_line)
{
    if (worker->is_dead)
        return;
    if (!is_by_line)
        *worker->saying_of = '\0';
    log_warn("voice.worker_lost", LOG_S("role", role_names[worker->role]), LOG_S("why", why),
             LOG_I("sessions", worker->session_count), LOG_S("workspace", worker->saying_of));
    blame(worker);
    stop_worker(worker);
    while (!list_is_empty(&worker->sessions)) {
        struct voice_session *session = LIST_FIRST(&worker->sessions, struct voice_session, node);
        detach(session);
        session->on_lost(session->arg, loss_of(worker, session->id), why);
    }
    expel(worker->pool, worker->saying_of);
}

/* Frames out. */

static void write_out(struct voice_worker *worker)
{
    while (worker->out.len > 0) {
        ssize_t sent = send(worker->fd, worker->out.data, worker->out.len, MSG_NOSIGNAL);
        if (sent <= 0)
            break; /* full, or gone: then reading tells */
        buf_consume(&worker->out, (size_t)sent);
    }
    io_want(worker->io, worker->out.len > 0 ? IO_READ | IO_WRITE : IO_READ);
}

static void on_stuck(void *arg)
{
    lose_worker(arg, "the speech process hangs", false);
}

void voice_session_send(struct voice_session *session, enum voice_kind kind, uint32_t gen,
                        const void *body, size_t len)
{
    struct voice_worker *worker = session->worker;
    if (!worker || worker->is_dead || worker->has_ended)
        return;
    struct voice_frame frame = {kind, session->id, gen, body, MIN(len, VOICE_BODY_MAX_BYTES)};
    bool was_full = worker->out.is_full;
    if (kind == VOICE_SPEAK || kind == VOICE_FLUSH)
        owe(session, session->owed + 1);
    else if (kind == VOICE_CANCEL)
        owe(session, 0);
    if (voice_frame_write(&frame, &worker->out) == OK)
        write_out(worker);
    else if (!was_full)
        loop_defer(worker->pool->loop, on_stuck, worker);
    worker->out.is_full = worker->out.is_full || was_full;
}

/* Frames in. */

static struct voice_session *session_of(const struct voice_worker *worker, uint32_t id)
{
    struct voice_session *session;
    LIST_EACH (session, &worker->sessions, struct voice_session, node) {
        if (session->id == id)
            return session;
    }
    return NULL;
}

/* Whose session that is, is known here; the worker's word for it is not taken. */
static void note_saying(struct voice_worker *worker, const struct voice_frame *frame)
{
    struct voice_session *session = frame->len > 0 ? session_of(worker, frame->session) : NULL;
    worker->saying = frame->session;
    if (session)
        session->saying = frame->gen;
    snprintf(worker->saying_of, sizeof(worker->saying_of), "%s", session ? session->workspace : "");
}

/* A callback may close its session, and any other. */
static bool give_out(struct voice_worker *worker)
{
    size_t at = 0, used = 0;
    struct voice_frame frame;
    enum err err = OK;
    while (!worker->is_dead) {
        err = voice_frame_read(worker->in.data + at, worker->in.len - at, &frame, &used);
        if (err)
            break;
        at += used;
        struct voice_session *session = session_of(worker, frame.session);
        bool is_end = frame.kind == VOICE_DONE || frame.kind == VOICE_FLUSHED;
        if (frame.kind == VOICE_SAYING) {
            note_saying(worker, &frame);
            continue;
        }
        if (session && frame.kind == VOICE_FAILED)
            owe(session, 0);
        if (session && is_end && session->owed > 0)
            owe(session, session->owed - 1);
        if (worker->owed > 0) /* it lives */
            timer_set_after(&worker->overdue, VOICE_DEADLINE_US);
        if (session)
            session->on_frame(session->arg, &frame);
    }
    buf_consume(&worker->in, at);
    return err != ERR_INVALID;
}

/* ERR_AGAIN: there is nothing yet; ERR_IO: nothing comes any more; ERR_INVALID: it is no frame. */
static enum err take_in(struct voice_worker *worker)
{
    char data[READ_BYTES];
    ssize_t got = recv(worker->fd, data, sizeof(data), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return ERR_AGAIN;
    if (got <= 0)
        return ERR_IO;
    bool is_good = buf_append(&worker->in, data, (size_t)got) == OK && give_out(worker);
    return is_good ? OK : ERR_INVALID;
}

static void read_in(struct voice_worker *worker)
{
    enum err err = take_in(worker);
    if (err == ERR_INVALID)
        lose_worker(worker, "the speech process sent what is no frame", false);
    if (err != ERR_IO)
        return;
    worker->has_ended = true;
    io_want(worker->io, 0);
    child_kill(worker->child, SIGKILL); /* what has begun to die dies of its own cause */
}

/* It lives when anything has come meanwhile. */
static void on_overdue(void *arg)
{
    struct voice_worker *worker = arg;
    while (!worker->is_dead && take_in(worker) == OK)
        ;
    if (worker->is_dead || worker->owed == 0 || timer_is_set(&worker->overdue))
        return;
    child_kill(worker->child, SIGKILL);
    lose_worker(worker, "the speech process hangs", true);
}

/* Others are sent from without: by who runs the service, or for want of memory. */
static bool is_own_fault(int signal_number)
{
    return signal_number == SIGSEGV || signal_number == SIGABRT || signal_number == SIGBUS ||
           signal_number == SIGFPE || signal_number == SIGILL || signal_number == SIGSYS;
}

/* What it sent last tells what it died of. */
static void on_exit(void *arg, int exit_code, int signal_number)
{
    struct voice_worker *worker = arg;
    (void)exit_code;
    while (!worker->is_dead && take_in(worker) == OK)
        ;
    lose_worker(worker, signal_number ? "the speech process crashed" : "the speech process ended",
                is_own_fault(signal_number));
}

static void on_io(void *arg, unsigned events)
{
    struct voice_worker *worker = arg;
    if (events & IO_WRITE)
        write_out(worker);
    if (events & IO_READ)
        read_in(worker);
}

/* Workers. */

static int worker_nice(void)
{
    return sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 0 : NICE_ALONE;
}

static enum err start_worker(struct voice_pool *pool, enum voice_role role, bool is_apart,
                             struct voice_worker **out, struct fault *fault)
{
    int ends[2];
    struct rest *rest = rest_of(pool, is_apart);
    if (loop_now_us(pool->loop) < rest->until_us)
        return fault_set(fault, is_apart ? ERR_LIMIT : ERR_BUSY,
                         "the speech process dies again and again");
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
        return fault_set(fault, ERR_IO, "socketpair: %s", strerror(errno));
    struct voice_worker *worker = mem_new(struct voice_worker);
    worker->pool = pool;
    worker->role = role;
    worker->is_apart = is_apart;
    worker->fd = ends[0];
    buf_init(&worker->in, IN_MAX_BYTES);
    buf_init(&worker->out, OUT_MAX_BYTES);
    list_init(&worker->sessions);
    timer_init(&worker->overdue, pool->loop, on_overdue, worker);
    const char *const argv[] = {pool->path, role_names[role], NULL};
    enum err err =
        child_spawn(pool->loop, &(struct child_spec){argv, ends[1], worker_nice(), on_exit, worker},
                    &worker->child, fault);
    close(ends[1]);
    if (err) {
        close(ends[0]);
        free_worker(worker);
        count_death(rest, loop_now_us(pool->loop));
        return err;
    }
    worker->io = io_open(pool->loop, ends[0], IO_READ, on_io, worker);
    list_push_back(&pool->workers[role], &worker->node);
    *out = worker;
    return OK;
}

/* The one with the fewest sessions; a new one while there may be more and all have much to do. */
static enum err choose_worker(struct voice_pool *pool, enum voice_role role, bool is_apart,
                              struct voice_worker **out, struct fault *fault)
{
    struct voice_worker *worker, *best = NULL;
    unsigned count = 0, most = is_apart ? 1 : pool->most_workers;
    LIST_EACH (worker, &pool->workers[role], struct voice_worker, node) {
        if (worker->is_apart != is_apart || worker->has_ended)
            continue;
        count++;
        if (!best || worker->session_count < best->session_count)
            best = worker;
    }
    if (!best || (best->session_count >= SESSIONS_EASY && count < most)) {
        enum err err = start_worker(pool, role, is_apart, &best, best ? NULL : fault);
        if (!best)
            return err;
    }
    if (best->session_count >= SESSIONS_MAX)
        return fault_set(fault, is_apart ? ERR_LIMIT : ERR_BUSY,
                         "%u sessions of embedded speech are open already", count * SESSIONS_MAX);
    *out = best;
    return OK;
}

/* Sessions of a workspace among those of a role. */
static unsigned held_by(const struct voice_pool *pool, enum voice_role role, const char *workspace)
{
    struct voice_worker *worker;
    struct voice_session *session;
    unsigned count = 0;
    LIST_EACH (worker, &pool->workers[role], struct voice_worker, node)
        LIST_EACH (session, &worker->sessions, struct voice_session, node)
            count += strcmp(session->workspace, workspace) == 0;
    return count;
}

enum err voice_session_open(struct voice_pool *pool, enum voice_role role,
                            struct voice_session *session, struct fault *fault)
{
    struct voice_worker *worker = NULL;
    unsigned share = pool->most_workers * SESSIONS_MAX / 2;
    if (*session->workspace && held_by(pool, role, session->workspace) >= share)
        return fault_set(fault, ERR_LIMIT, "this workspace has %u sessions of embedded speech",
                         share);
    const struct suspect *one =
        role == VOICE_SPEAKING ? suspect_of(pool, session->workspace) : NULL;
    if (one && loop_now_us(pool->loop) < one->rest.until_us)
        return fault_set(fault, ERR_LIMIT, "lines of this workspace end the speech process");
    enum err err = choose_worker(pool, role, one != NULL, &worker, fault);
    if (err)
        return err;
    session->worker = worker;
    session->id = ++pool->last_id;
    session->owed = 0;
    worker->session_count++;
    list_push_back(&worker->sessions, &session->node);
    return OK;
}

enum engine_error voice_refusal(enum err err)
{
    return err == ERR_BUSY ? ENGINE_QUOTA : err == ERR_LIMIT ? ENGINE_CROWDED : ENGINE_TRANSIENT;
}

void voice_session_close(struct voice_session *session)
{
    if (!session->worker)
        return;
    voice_session_send(session, VOICE_CLOSE, 0, NULL, 0);
    detach(session);
}

int64_t voice_pool_rest_us(const struct voice_pool *pool)
{
    return MAX(pool->rest.until_us - loop_now_us(pool->loop), 0);
}

unsigned voice_pool_workers(const struct voice_pool *pool, enum voice_role role)
{
    const struct list_node *head = &pool->workers[role];
    unsigned count = 0;
    for (const struct list_node *node = head->next; node != head; node = node->next)
        count++;
    return count;
}

void voice_pool_kill_workers(struct voice_pool *pool)
{
    struct voice_worker *worker;
    for (enum voice_role role = 0; role < VOICE_ROLE_COUNT; role++)
        LIST_EACH (worker, &pool->workers[role], struct voice_worker, node) {
            child_kill(worker->child, SIGKILL);
        }
}

void voice_pool_free(struct voice_pool *pool)
{
    if (!pool)
        return;
    for (enum voice_role role = 0; role < VOICE_ROLE_COUNT; role++)
        while (!list_is_empty(&pool->workers[role]))
            stop_worker(LIST_FIRST(&pool->workers[role], struct voice_worker, node));
    mem_free(pool->path);
    mem_free(pool);
}
