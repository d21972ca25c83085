/* earshot-voice: the worker process of embedded speech, started by the service with one end of a
 * socketpair as its standard input and output. One thread, one loop, many sessions.
 *
 *     service <== frames ==> link -> session -> hearing (PocketSphinx)
 *                                            -> speaking (flite, espeak-ng)
 *
 * It is a program of its own because espeak-ng is GPL and keeps its state in globals, and because
 * none of the three libraries was written for input from strangers: so it is locked in before it
 * reads any, with its data directories to read and nothing else (base/sandbox.h). */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/sandbox.h"
#include "session.h"

enum {
    MEMORY_BYTES = 2000 * 1000 * 1000, /* 64 recognisers of 7 MB, their models, and air */
    FILE_BYTES = 64 * 1024 * 1024,     /* a language model, in memory */
    DESCRIPTORS = 512,
};

/* What the kernel lacks is said, and the work goes on: `earshot doctor` names it too. */
static bool lock_in(void)
{
    static const char *const readable[] = {"/usr/share/pocketsphinx",
                                           "/usr/share/espeak-ng-data",
                                           "/usr/lib/x86_64-linux-gnu/espeak-ng-data",
                                           "/usr/lib/aarch64-linux-gnu/espeak-ng-data",
                                           "/usr/lib/locale",
                                           NULL};
    const struct sandbox_wish wish = {.readable = readable,
                                      .memory_bytes = MEMORY_BYTES,
                                      .file_bytes = FILE_BYTES,
                                      .descriptors = DESCRIPTORS};
    struct sandbox_state state;
    struct fault fault = {0};
    if (sandbox_enter(&wish, &state, &fault) != OK) {
        log_error("voice.sandbox", LOG_S("error", fault.text));
        return false;
    }
    if (!state.has_paths || !state.has_filter)
        log_warn("voice.sandbox", LOG_S("paths", state.has_paths ? "locked" : "open"),
                 LOG_S("calls", state.has_filter ? "locked" : "open"));
    return true;
}

int main(int argc, char **argv)
{
    if (argc != 2 || (strcmp(argv[1], "hearing") != 0 && strcmp(argv[1], "speaking") != 0)) {
        fprintf(stderr, "earshot-voice is started by earshot itself.\n"
                        "usage: earshot-voice hearing|speaking\n");
        return 2;
    }
    log_set(LOG_INFO, LOG_LOGFMT, STDERR_FILENO);
    if (!lock_in())
        return 1;
    struct loop *loop = loop_new("voice");
    struct sessions *sessions = sessions_open(loop, STDIN_FILENO);
    loop_run(loop);
    sessions_close(sessions);
    loop_free(loop);
    return 0;
}
