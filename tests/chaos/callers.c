/* The callers of the chaos test, told what to do on stdin, a command a line:
 *
 *     call KEY AGENT MANNER     one more caller (it has the number of the line, from 0)
 *     hush                      all hang up; at the end of stdin the program ends as well
 *
 *     chaos_callers --url U --wav question.wav --seed N
 */
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "caller.h"

enum { CALLERS_MAX = 1000, LINE_MAX = 4096, SILENCE_FRAMES = 50 };

struct program {
    struct crowd crowd;
    uint64_t seed;
    struct caller *callers[CALLERS_MAX];
    unsigned count;
    struct io *input;
    struct buf line;
    bool has_ended;
};

static void stop_if_done(void *arg)
{
    struct program *program = arg;
    if (program->has_ended && program->crowd.busy == 0)
        loop_stop(program->crowd.loop);
}

static void hush(struct program *program)
{
    program->crowd.is_over = true;
    for (unsigned i = 0; i < program->count; i++)
        caller_leave(program->callers[i]);
}

static void obey(struct program *program, const char *line)
{
    char key[64], agent[ID_SIZE], name[16];
    if (strcmp(line, "hush") == 0) {
        hush(program);
    } else if (sscanf(line, "call %63s %36s %15s", key, agent, name) == 3 && manner_find(name) &&
               program->count < CALLERS_MAX) {
        program->crowd.is_over = false;
        program->callers[program->count] = caller_new(&program->crowd, program->count,
                                                      manner_find(name), key, agent, program->seed);
        program->count++;
    } else {
        fprintf(stderr, "callers: not understood: %s\n", line);
    }
}

static void on_input(void *arg, unsigned events)
{
    struct program *program = arg;
    char piece[4096];
    (void)events;
    ssize_t got = read(STDIN_FILENO, piece, sizeof(piece));
    for (ssize_t i = 0; i < got; i++) {
        if (piece[i] != '\n') {
            buf_append(&program->line, piece + i, 1);
            continue;
        }
        obey(program, program->line.data ? program->line.data : "");
        buf_reset(&program->line);
    }
    if (got > 0 || (got < 0 && program->has_ended))
        return;
    program->has_ended = true;
    io_close(program->input);
    hush(program);
    stop_if_done(program);
}

static enum err run(struct program *program, const char *wav, struct fault *fault)
{
    struct crowd *crowd = &program->crowd;
    struct speech speech = {0};
    enum err err = speech_read(wav, &speech, fault);
    if (!err)
        err = load_parts_open(&crowd->parts, crowd->loop, fault);
    if (!err) {
        utterance_encode(speech.samples, speech.frames, &crowd->question);
        utterance_encode(NULL, SILENCE_FRAMES, &crowd->silence);
        program->input = io_open(crowd->loop, STDIN_FILENO, IO_READ, on_input, program);
        loop_run(crowd->loop);
    }
    for (unsigned i = 0; i < program->count; i++)
        caller_free(program->callers[i]);
    load_parts_close(&crowd->parts);
    speech_clear(&speech);
    utterance_clear(&crowd->question);
    utterance_clear(&crowd->silence);
    loop_free(crowd->loop);
    load_parts_clear(&crowd->parts);
    return err;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"url", required_argument, NULL, 'u'},
                                            {"wav", required_argument, NULL, 'w'},
                                            {"seed", required_argument, NULL, 's'},
                                            {0}};
    AUTO_MEM struct program *program = mem_new(struct program);
    const char *wav = NULL;
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 'u')
            program->crowd.url = optarg;
        else if (option == 'w')
            wav = optarg;
        else if (option == 's')
            program->seed = strtoull(optarg, NULL, 10);
    }
    if (!program->crowd.url || !wav) {
        fprintf(stderr, "usage: chaos_callers --url U --wav FILE [--seed N]\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    buf_init(&program->line, LINE_MAX);
    program->crowd.loop = loop_new("callers");
    program->crowd.on_all_idle = stop_if_done;
    program->crowd.arg = program;
    struct fault fault = {0};
    enum err err = run(program, wav, &fault);
    if (err)
        fprintf(stderr, "callers: %s\n", fault.text);
    buf_clear(&program->line);
    return err ? 1 : 0;
}
