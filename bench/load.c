/* The load generator: so many callers of a running service, each a full WebRTC client with a socket
 * of its own. Prints one JSON object: times, losses, its own CPU.
 *
 *     load --url U --key K --agent A --wav question.wav [--calls 10] [--seconds 30] [--every-ms 50]
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/loop.h"
#include "base/mem.h"
#include "load_call.h"
#include "load_parts.h"
#include "room/link.h"

enum {
    SETTLE_US = 4000000, /* from the last start to the first measured question */
    DRAIN_US = 1000000,
    SILENCE_FRAMES = 50
};

struct options {
    const char *url, *key, *agent, *wav;
    unsigned calls, seconds, every_ms;
};

struct generator {
    struct options options;
    struct load load;
    struct load_call *calls;
    unsigned started;
    struct timer start, phase;
    int64_t measured_us, cpu_us; /* of the measured time */
    uint64_t received, lost;
};

static struct option long_options[] = {
    {"url", required_argument, NULL, 'u'},      {"key", required_argument, NULL, 'k'},
    {"agent", required_argument, NULL, 'a'},    {"wav", required_argument, NULL, 'w'},
    {"calls", required_argument, NULL, 'c'},    {"seconds", required_argument, NULL, 's'},
    {"every-ms", required_argument, NULL, 'e'}, {0},
};

static bool read_options(int argc, char **argv, struct options *out)
{
    *out = (struct options){.calls = 10, .seconds = 30, .every_ms = 50};
    int option;
    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        switch (option) {
        case 'u':
            out->url = optarg;
            break;
        case 'k':
            out->key = optarg;
            break;
        case 'a':
            out->agent = optarg;
            break;
        case 'w':
            out->wav = optarg;
            break;
        case 'c':
            out->calls = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 's':
            out->seconds = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'e':
            out->every_ms = (unsigned)strtoul(optarg, NULL, 10);
            break;
        default:
            return false;
        }
    }
    return out->url && out->key && out->agent && out->wav && out->calls;
}

/* The phases: start, settle, measure, close. */

static void stop(void *arg)
{
    struct generator *generator = arg;
    loop_stop(generator->load.loop);
}

static void close_all(void *arg)
{
    struct generator *generator = arg;
    struct load *load = &generator->load;
    load->is_measuring = false;
    generator->cpu_us = clock_cpu_us() - generator->cpu_us;
    generator->measured_us = clock_now_us() - generator->measured_us;
    for (unsigned i = 0; i < generator->started; i++) {
        struct room_link *link = generator->calls[i].link;
        struct room_stats stats = {0};
        if (link)
            link->ops->stats(link, &stats);
        generator->received += stats.packets_received;
        generator->lost += stats.packets_lost;
        load_call_close(&generator->calls[i]);
    }
    timer_init(&generator->phase, load->loop, stop, generator);
    timer_set_after(&generator->phase, DRAIN_US);
}

static void measure(void *arg)
{
    struct generator *generator = arg;
    generator->load.is_measuring = true;
    generator->cpu_us = clock_cpu_us();
    generator->measured_us = clock_now_us();
    fprintf(stderr, "measuring\n"); /* whoever watches the service begins now */
    timer_init(&generator->phase, generator->load.loop, close_all, generator);
    timer_set_after(&generator->phase, (int64_t)generator->options.seconds * 1000000);
}

static void start_next(void *arg)
{
    struct generator *generator = arg;
    load_call_start(&generator->calls[generator->started++], &generator->load);
    if (generator->started < generator->options.calls) {
        timer_set_after(&generator->start, (int64_t)generator->options.every_ms * 1000);
        return;
    }
    timer_init(&generator->phase, generator->load.loop, measure, generator);
    timer_set_after(&generator->phase, SETTLE_US);
}

/* What is printed. */

static void print_samples(const char *name, struct load_samples *samples)
{
    printf("\"%s\":{\"count\":%zu,\"p50\":%.2f,\"p95\":%.2f,\"p99\":%.2f,\"most\":%.2f},", name,
           samples->count, load_samples_at(samples, 0.5), load_samples_at(samples, 0.95),
           load_samples_at(samples, 0.99), load_samples_at(samples, 1));
}

static void print_result(struct generator *generator)
{
    struct load *load = &generator->load;
    printf("{\"calls\":%u,\"joined\":%u,\"refused\":%u,\"failed\":%u,\"questions\":%u,"
           "\"unanswered\":%u,",
           generator->options.calls, load->joined, load->refused, load->failed, load->questions,
           load->unanswered);
    print_samples("readyMs", &load->ready);
    print_samples("greetingMs", &load->greeting);
    print_samples("replyMs", &load->reply);
    printf("\"received\":%llu,\"lost\":%llu,\"cpu\":%.3f}\n",
           (unsigned long long)generator->received, (unsigned long long)generator->lost,
           (double)generator->cpu_us / (double)MAX(generator->measured_us, 1));
    if (load->failed)
        fprintf(stderr, "last fault: %s\n", load->last_fault);
}

/* Set-up. */

static enum err run(struct generator *generator, struct fault *fault)
{
    struct load *load = &generator->load;
    struct speech speech = {0};
    struct load_parts parts = {0};
    enum err err = speech_read(generator->options.wav, &speech, fault);
    if (!err)
        err = load_parts_open(&parts, load->loop, fault);
    if (!err) {
        load->http = parts.http;
        load->rooms = parts.rooms;
        load->pacer = parts.pacer;
        utterance_encode(speech.samples, speech.frames, &load->question);
        utterance_encode(NULL, SILENCE_FRAMES, &load->silence);
        timer_init(&generator->start, load->loop, start_next, generator);
        timer_set_after(&generator->start, 0);
        loop_run(load->loop);
        print_result(generator);
    }
    load_parts_close(&parts);
    speech_clear(&speech);
    utterance_clear(&load->question);
    utterance_clear(&load->silence);
    loop_free(load->loop);
    load_parts_clear(&parts);
    return err;
}

int main(int argc, char **argv)
{
    struct generator generator = {0};
    struct options *options = &generator.options;
    if (!read_options(argc, argv, options)) {
        fprintf(stderr, "usage: load --url U --key K --agent A --wav FILE [--calls N] "
                        "[--seconds S] [--every-ms M]\n");
        return 2;
    }
    struct fault fault = {0};
    struct load *load = &generator.load;
    load->loop = loop_new("load");
    load->url = options->url;
    load->key = options->key;
    load->agent = options->agent;
    generator.calls = mem_new_n(struct load_call, options->calls);
    enum err err = run(&generator, &fault);
    if (err)
        fprintf(stderr, "load: %s\n", fault.text);
    load_samples_clear(&load->ready);
    load_samples_clear(&load->greeting);
    load_samples_clear(&load->reply);
    mem_free(generator.calls);
    return err ? 1 : 0;
}
