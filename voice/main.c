/* earshot-voice: the worker process of embedded speech, started by the service with one end of a
 * socketpair as its standard input and output. One thread, one loop, many sessions.
 *
 *     service <== frames ==> link -> session -> hearing (PocketSphinx)
 *                                            -> speaking (flite, espeak-ng)
 *
 * It is a program of its own because espeak-ng is GPL and keeps its state in globals, and because
 * none of the three libraries was written for input from strangers. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/loop.h"
#include "session.h"

int main(int argc, char **argv)
{
    if (argc != 2 || (strcmp(argv[1], "hearing") != 0 && strcmp(argv[1], "speaking") != 0)) {
        fprintf(stderr, "earshot-voice is started by earshot itself.\n"
                        "usage: earshot-voice hearing|speaking\n");
        return 2;
    }
    struct loop *loop = loop_new("voice");
    struct sessions *sessions = sessions_open(loop, STDIN_FILENO);
    loop_run(loop);
    sessions_close(sessions);
    loop_free(loop);
    return 0;
}
