/* See process.h.
 *
 *   reading --end of its output, and its exit--> over
 *       '---- deadline, broken protocol, too much --kill--> over
 *
 * Thread: its loop. */
#include "extract/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/child.h"
#include "base/log.h"
#include "base/mem.h"

enum {
    DEADLINE_US = 120 * 1000 * 1000,
    PROGRESS_US = 100 * 1000,
    READ_BYTES = 64 * 1024,
    READS_PER_TURN = 8, /* half a megabyte, then the loop serves others */
    CHILD_NICE = 10,
};

struct extraction {
    struct loop *loop;
    struct extraction_spec spec;
    struct child *child;
    struct io *io;
    int fd; /* the pipe's reading end; -1: closed */
    struct timer deadline, over;
    struct block_reader reader;
    enum extract_outcome outcome;
    bool is_refused; /* outcome is decided, whatever it still says */
    bool has_exited;
    bool is_over;
    int64_t told_us;
    unsigned told_done;
};

static void close_pipe(struct extraction *extraction)
{
    if (extraction->fd < 0)
        return;
    io_close(extraction->io);
    close(extraction->fd);
    extraction->fd = -1;
}

/* The owner is told from a timer, so that it may close us in on_done. */
static void settle(struct extraction *extraction)
{
    if (extraction->fd >= 0 || !extraction->has_exited || extraction->is_over)
        return;
    extraction->is_over = true;
    timer_stop(&extraction->deadline);
    if (!extraction->is_refused)
        extraction->outcome =
            extraction->reader.has_ended ? extraction->reader.outcome : EXTRACT_BROKEN;
    timer_set_after(&extraction->over, 0);
}

static void tell_over(void *arg)
{
    struct extraction *extraction = arg;
    static const struct block_list none;
    bool is_done = extraction->outcome == EXTRACT_DONE && extraction->reader.blocks.count;
    if (extraction->outcome == EXTRACT_DONE && !is_done)
        extraction->outcome = EXTRACT_EMPTY;
    extraction->spec.on_done(extraction->spec.arg, extraction->outcome,
                             is_done ? &extraction->reader.blocks : &none,
                             extraction->reader.chars);
}

static void refuse(struct extraction *extraction, enum extract_outcome outcome)
{
    if (!extraction->is_refused)
        extraction->outcome = outcome;
    extraction->is_refused = true;
    close_pipe(extraction);
    if (!extraction->has_exited)
        child_kill(extraction->child, SIGKILL);
    settle(extraction);
}

static void on_deadline(void *arg)
{
    refuse(arg, EXTRACT_TOO_SLOW);
}

static void tell_progress(struct extraction *extraction)
{
    const struct block_reader *reader = &extraction->reader;
    int64_t now_us = loop_now_us(extraction->loop);
    if (reader->done == extraction->told_done || !extraction->spec.on_progress ||
        now_us < extraction->told_us + PROGRESS_US)
        return;
    extraction->told_done = reader->done;
    extraction->told_us = now_us;
    extraction->spec.on_progress(extraction->spec.arg, reader->done, reader->pages);
}

static void take(struct extraction *extraction, const char *data, size_t len)
{
    enum err err = block_reader_push(&extraction->reader, data, len);
    if (err || arena_is_full(extraction->spec.arena)) {
        log_debug("extract.refused", LOG_S("error", err_name(err)));
        refuse(extraction, err == ERR_INVALID ? EXTRACT_BROKEN : EXTRACT_TOO_LONG);
    }
}

static void on_output(void *arg, unsigned events)
{
    struct extraction *extraction = arg;
    (void)events;
    static char data[READ_BYTES]; /* one loop reads documents */
    for (unsigned i = 0; i < READS_PER_TURN && extraction->fd >= 0; i++) {
        ssize_t n = read(extraction->fd, data, sizeof(data));
        if (n > 0) {
            take(extraction, data, (size_t)n);
        } else if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            break;
        } else {
            close_pipe(extraction);
            settle(extraction);
        }
    }
    if (extraction->fd >= 0)
        tell_progress(extraction);
}

static void on_exit_child(void *arg, int exit_code, int signal_number)
{
    struct extraction *extraction = arg;
    extraction->has_exited = true;
    log_debug("extract.exit", LOG_I("status", exit_code), LOG_I("signal", signal_number));
    if (signal_number && !extraction->is_refused) {
        extraction->outcome = extract_outcome_of_signal(signal_number);
        extraction->is_refused = true;
    }
    settle(extraction);
}

enum err extraction_open(struct loop *loop, const struct extraction_spec *spec,
                         struct extraction **out, struct fault *fault)
{
    const char *argv[] = {spec->program, "extract", extract_kind_names[spec->kind], NULL};
    int ends[2];
    if (lseek(spec->fd, 0, SEEK_SET) != 0 || pipe2(ends, O_CLOEXEC) != 0)
        return fault_set(fault, ERR_IO, "no pipe: %d", errno);
    struct extraction *extraction = mem_new(struct extraction);
    *extraction = (struct extraction){.loop = loop, .spec = *spec, .fd = ends[0]};
    const struct child_spec child = {argv,          spec->fd,   CHILD_NICE,
                                     on_exit_child, extraction, ends[1]};
    enum err err = child_spawn(loop, &child, &extraction->child, fault);
    close(ends[1]);
    if (err) {
        close(ends[0]);
        mem_free(extraction);
        return err;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    block_reader_init(&extraction->reader, spec->arena);
    extraction->io = io_open(loop, ends[0], IO_READ, on_output, extraction);
    timer_init(&extraction->deadline, loop, on_deadline, extraction);
    timer_init(&extraction->over, loop, tell_over, extraction);
    timer_set_after(&extraction->deadline, spec->deadline_us ? spec->deadline_us : DEADLINE_US);
    *out = extraction;
    return OK;
}

static void free_extraction(void *arg)
{
    mem_free(arg);
}

void extraction_close(struct extraction *extraction)
{
    if (!extraction)
        return;
    timer_stop(&extraction->deadline);
    timer_stop(&extraction->over);
    close_pipe(extraction);
    child_close(extraction->child);
    block_reader_clear(&extraction->reader);
    loop_defer(extraction->loop, free_extraction, extraction);
}
