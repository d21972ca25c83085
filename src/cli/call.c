/* earshot call: a caller from a WAV file. Starts a call by the API, or joins the room of a given
 * token, prints what is said as it is said and how long each answer took, and keeps what was heard.
 *
 *   POST /v1/calls --token--> caller (wav_caller.h) --ended--> reply.wav
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audio/frame.h"
#include "base/config.h"
#include "base/loop.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/print.h"
#include "cli/wav_caller.h"
#include "net/dial.h"
#include "net/http_client.h"
#include "net/resolver.h"
#include "net/tls.h"
#include "room/link.h"
#include "room/rooms.h"
#include "rtc/dtls.h"
#include "rtc/port.h"

enum {
    QUESTION_MAX_SAMPLES = 48000 * 600,
    WAV_MAX_BYTES = 512 << 20,
    SECONDS_STANDARD = 90,
    SEGMENT_MAX_BYTES = 16384,
    ANSWER_DEPTH = 64,
    GOODBYE_US = 200 * 1000,
};

struct call_run {
    const struct invocation *line;
    bool is_json;
    struct loop *loop;
    struct resolver *resolver;
    struct http_client *http;
    struct tls_context *tls;
    struct dialer *dialer;
    struct dtls_identity *identity;
    struct port *port;
    struct rooms *rooms;
    struct wav_caller *caller;
    struct wav question;
    struct js *started;   /* the answer of Start a call */
    struct buf said;      /* the agent's segment so far */
    struct timer goodbye; /* lets what says that we leave go out */
    struct fault fault;
};

static void stop(void *arg)
{
    loop_stop(arg);
}

static void fail(struct call_run *run, enum err err, const char *reason)
{
    fault_set(&run->fault, err, "%s", reason);
    loop_stop(run->loop);
}

/* Printing. */

static void print_event(const char *type, const char *name, const char *text,
                        const char *number_name, int64_t number)
{
    AUTO_BUF line = BUF_INIT(PRINT_MAX_BYTES);
    struct js_out out;
    js_out_init(&out, &line);
    js_out_object(&out);
    PRINT_MEMBER(&out, "type", text, type);
    js_out_key(&out, name);
    js_out_text(&out, text);
    js_out_key(&out, number_name);
    js_out_int(&out, number);
    js_out_object_end(&out);
    print_line(&line);
}

static void print_said(const struct call_run *run, const char *who, const char *text, int64_t at_us)
{
    AUTO_MEM char *tame = print_tamed(text);
    if (run->is_json)
        print_event(who, "text", text, "atMs", at_us / 1000);
    else
        printf("%7.2f s  %-6s %s\n", (double)at_us / 1e6, who, tame);
    fflush(stdout);
}

static void on_joined(void *arg, const char *agent)
{
    const struct call_run *run = arg;
    AUTO_MEM char *tame = print_tamed(agent);
    if (run->is_json)
        print_event("joined", "agent", agent, "atMs", 0);
    else
        printf("   0.00 s  joined %s\n", tame);
    fflush(stdout);
}

static void on_transcript(void *arg, const struct room_transcript *said, int64_t since_join_us)
{
    struct call_run *run = arg;
    if (!said->is_agent) {
        if (said->is_final)
            print_said(run, "you", said->text, since_join_us);
        return;
    }
    buf_append_str(&run->said, said->text ? said->text : "");
    if (!said->is_final)
        return;
    if (run->said.len > 0)
        print_said(run, "agent", run->said.data, since_join_us);
    buf_reset(&run->said);
}

static void on_turn(void *arg, const struct turn *turn)
{
    const struct call_run *run = arg;
    int64_t took_us = turn->answered_us - turn->asked_us;
    const char *what = turn->number ? "answered" : "greeted";
    if (run->is_json)
        print_event("turn", "what", what, "tookMs", took_us / 1000);
    else
        printf("           %s after %" PRId64 " ms\n", what, took_us / 1000);
    fflush(stdout);
}

static void on_ended(void *arg, enum err err, const char *reason)
{
    struct call_run *run = arg;
    if (err)
        fault_set(&run->fault, err, "%s", reason);
    timer_set_after(&run->goodbye, GOODBYE_US);
}

static const struct wav_caller_events events = {on_joined, on_transcript, on_turn, on_ended};

/* Starting. */

static void join(struct call_run *run, const char *url, const char *token)
{
    const char *seconds = invocation_value(run->line, "seconds");
    int64_t most_s = seconds ? strtoll(seconds, NULL, 10) : SECONDS_STANDARD;
    const struct wav_caller_config config = {
        .loop = run->loop,
        .rooms = run->rooms,
        .url = url,
        .token = token,
        .question = &run->question,
        .most_us = most_s * 1000000,
        .events = &events,
        .arg = run,
    };
    struct fault fault = {0};
    enum err err = wav_caller_open(&config, &run->caller, &fault);
    if (err)
        fail(run, err, fault.text);
}

static void on_answer(void *arg, const struct http_fetch_result *result)
{
    struct call_run *run = arg;
    AUTO(js) answer = NULL;
    struct fault fault = {0};
    if (result->fault.err) {
        fail(run, result->fault.err, result->fault.text);
        return;
    }
    enum err err = js_parse(result->body, result->body_len, ANSWER_DEPTH, &answer, &fault);
    const char *token = js_text(js_get(answer, "token"));
    if (err || result->status / 100 != 2 || !token) {
        AUTO_MEM char *text = mem_printf("the service answered %d: %s", result->status,
                                         js_text_or(js_get(answer, "error"), "no JSON"));
        fail(run, ERR_DENIED, text);
        return;
    }
    run->started = TAKE(answer);
    join(run, js_text(js_get(run->started, "livekitUrl")), token);
}

static char *start_body(const struct call_run *run)
{
    AUTO(js) body = js_object();
    const char *agent = invocation_value(run->line, "agent");
    const char *language = invocation_value(run->line, "language");
    if (agent)
        js_set(body, "agentId", js_string(agent));
    if (language)
        js_set(body, "language", js_string(language));
    return js_print(body);
}

static void start_call(void *arg)
{
    struct call_run *run = arg;
    const char *base = invocation_value(run->line, "url");
    const char *key = invocation_value(run->line, "key");
    base = base ? base : getenv("EARSHOT_URL");
    key = key ? key : getenv("EARSHOT_KEY");
    bool is_publishable = key && strncmp(key, "pk_", 3) == 0; /* it knows its agent */
    AUTO_MEM char *url = mem_printf("%s/v1/%scalls", base ? base : "http://127.0.0.1:8080",
                                    is_publishable ? "embed/" : "");
    AUTO_MEM char *bearer = mem_printf("Bearer %s", key ? key : "");
    AUTO_MEM char *body = start_body(run);
    const struct http_header headers[] = {{"Authorization", bearer},
                                          {"Content-Type", "application/json"}};
    const struct http_fetch_request request = {
        .method = "POST",
        .url = url,
        .headers = headers,
        .header_count = ARRAY_LEN(headers),
        .body = body,
        .body_len = strlen(body),
        .timeout_ms = 40000, /* tools before the call take up to 30 s */
        .scope = GUARD_OPERATOR,
    };
    const struct http_fetch_fns fns = {.on_done = on_answer};
    http_fetch_start(run->http, &request, &fns, run);
}

/* Files. */

static enum err read_file(const char *path, struct buf *out, struct fault *fault)
{
    FILE *file = fopen(path, "rbe");
    if (!file)
        return fault_set(fault, ERR_NOT_FOUND, "cannot open %.150s", path);
    size_t n = 1;
    while (n > 0 && buf_reserve(out, 65536) == OK) {
        n = fread(out->data + out->len, 1, 65536, file);
        out->len += n;
    }
    fclose(file);
    return n == 0 ? OK : fault_set(fault, ERR_LIMIT, "%.150s is too long", path);
}

static enum err load_question(struct call_run *run)
{
    AUTO_BUF file = BUF_INIT(WAV_MAX_BYTES);
    enum err err = read_file(invocation_value(run->line, "in"), &file, &run->fault);
    return err ? err
               : wav_parse(file.data, file.len, QUESTION_MAX_SAMPLES, &run->question, &run->fault);
}

static void save_reply(struct call_run *run)
{
    const char *path = invocation_value(run->line, "out");
    size_t count;
    if (!path || !run->caller)
        return;
    const int16_t *samples = wav_caller_reply(run->caller, &count);
    AUTO_BUF wav = BUF_INIT(WAV_MAX_BYTES);
    FILE *file = fopen(path, "wbe");
    bool is_written = file && wav_write(&wav, AUDIO_IN_RATE_HZ, samples, count) == OK &&
                      fwrite(wav.data, 1, wav.len, file) == wav.len;
    if ((file && fclose(file) != 0) || !is_written)
        fault_set(&run->fault, ERR_IO, "cannot write %.150s", path);
}

/* Life. */

static enum err open_run(struct call_run *run)
{
    const char *ca = config_text(run->line->config, SET_EGRESS_CA);
    run->loop = loop_new("caller");
    timer_init(&run->goodbye, run->loop, stop, run->loop);
    buf_init(&run->said, SEGMENT_MAX_BYTES);
    enum err err = load_question(run);
    if (!err)
        err = resolver_new(run->loop, NULL, NULL, &run->resolver, &run->fault);
    if (!err)
        err = tls_client_new(*ca ? ca : NULL, &run->tls, &run->fault);
    if (!err)
        err = dtls_identity_new(&run->identity, &run->fault);
    struct port_config port = {.loop = run->loop, .identity = run->identity};
    if (!err)
        err = port_open(&port, &run->port, &run->fault);
    if (err)
        return err;
    const struct http_client_config http = {.resolver = run->resolver, .tls = run->tls};
    run->dialer = dialer_new(run->resolver, run->tls);
    const struct rooms_config rooms = {.loop = run->loop, .port = run->port, .dialer = run->dialer};
    run->http = http_client_new(run->loop, &http);
    run->rooms = rooms_new(&rooms);
    return OK;
}

static void close_run(struct call_run *run)
{
    wav_caller_free(run->caller);
    if (run->rooms)
        rooms_free(run->rooms);
    if (run->port)
        port_close(run->port);
    http_client_free(run->http);
    dialer_free(run->dialer);
    tls_context_free(run->tls);
    dtls_identity_free(run->identity);
    resolver_free(run->resolver);
    loop_free(run->loop);
    wav_clear(&run->question);
    buf_clear(&run->said);
    js_free(run->started);
}

static int run_call(const struct invocation *line)
{
    struct call_run run = {.line = line, .is_json = invocation_has(line, "json")};
    if (!open_run(&run)) {
        loop_defer(run.loop, start_call, &run);
        loop_run(run.loop);
        save_reply(&run);
    }
    close_run(&run);
    return run.fault.err ? command_fail(&run.fault) : EXIT_SUCCESS;
}

static const struct option options[] = {
    {"agent", "ID", "Whom to call; a publishable key knows its agent.", false},
    {"in", "FILE", "What the caller says, a WAV file.", true},
    {"out", "FILE", "Where to keep what the agent says, a WAV file.", false},
    {"url", "URL", "The service (else $EARSHOT_URL, else http://127.0.0.1:8080).", false},
    {"key", "KEY", "An API key, or an agent's publishable key (else $EARSHOT_KEY).", false},
    {"language", "ID", "Another language than the agent's.", false},
    {"seconds", "N", "Hangs up after so long; 90 when not given.", false},
    {"json", NULL, "Print each event as a line of JSON.", false},
};
const struct command command_call = {
    "call",  "Calls an agent with a WAV file and keeps the answer.",
    options, ARRAY_LEN(options),
    false,   run_call};
