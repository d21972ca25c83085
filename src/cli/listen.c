/* earshot listen: receives webhook deliveries on a developer's machine, verifies and prints them.
 * Thread: the main thread. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/js.h"
#include "base/loop.h"
#include "base/map.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/print.h"
#include "event/sign.h"
#include "net/http_server.h"

enum {
    BODY_MAX_BYTES = 32 << 20, /* call.ended holds a whole transcript */
    BODY_DEPTH_MAX = 64,
    SEEN_MAX = 100000, /* event ids remembered, to tell repeated ones */
    STATUS_STANDARD = 200,
};

enum verdict { VERIFIED, UNVERIFIED, UNSIGNED, FORGED, STALE, VERDICT_COUNT };
static const char *const verdict_names[VERDICT_COUNT] = {
    [VERIFIED] = "verified",       /* the signature is ours */
    [UNVERIFIED] = "not checked",  /* signed, but no --secret was given */
    [UNSIGNED] = "unsigned",       /* no signature came */
    [FORGED] = "WRONG SIGNATURE",  /* another secret, or the body was changed */
    [STALE] = "TIMESTAMP TOO OLD", /* more than five minutes from our clock */
};

struct listening {
    struct loop *loop;
    struct http_server *server;
    const char *secret; /* NULL: none was given */
    int status;
    bool is_json;
    long left; /* events to print before the end; 0: no end */
    struct map *seen;
};

static enum verdict judge(const struct listening *listening, const struct http_exchange *exchange)
{
    const struct http_request *request = http_exchange_request(exchange);
    const char *signature = http_exchange_header(exchange, "X-Service-Signature");
    if (!signature)
        return listening->secret ? FORGED : UNSIGNED;
    if (!listening->secret)
        return UNVERIFIED;
    switch (sign_verify(listening->secret, http_exchange_header(exchange, "X-Service-Timestamp"),
                        signature, request->body, request->body_len, clock_wall_ms() / 1000)) {
    case OK:
        return VERIFIED;
    case ERR_TIMEOUT:
        return STALE;
    default:
        return FORGED;
    }
}

static bool was_seen(struct listening *listening, const char *id)
{
    if (map_count(listening->seen) >= SEEN_MAX)
        return map_get_str(listening->seen, id) != NULL;
    return map_set_str(listening->seen, id, listening) != NULL;
}

static void print_for_people(const struct js *event, const char *verdict, bool is_repeated)
{
    AUTO_BUF data = BUF_INIT(BODY_MAX_BYTES);
    char now[CLOCK_ISO_SIZE];
    clock_iso(clock_wall_ms(), now);
    js_write(js_get(event, "data"), &data);
    AUTO_MEM char *type = print_tamed(js_text_or(js_get(event, "type"), "?"));
    AUTO_MEM char *id = print_tamed(js_text_or(js_get(event, "id"), "?"));
    AUTO_MEM char *call_id = print_tamed(js_text(js_get(js_get(event, "call"), "id")));
    AUTO_MEM char *text = print_tamed(data.data);
    printf("%s  %-20s %s  %s%s\n", now, type, id, verdict, is_repeated ? ", repeated" : "");
    if (*call_id)
        printf("    call %s\n", call_id);
    printf("    %s\n", text);
}

static void print_for_programs(const struct js *event, const char *verdict, bool is_repeated)
{
    AUTO_BUF line = BUF_INIT(PRINT_MAX_BYTES);
    struct js_out json;
    js_out_init(&json, &line);
    js_out_object(&json);
    PRINT_MEMBER(&json, "verdict", text, verdict);
    PRINT_MEMBER(&json, "isRepeated", bool, is_repeated);
    js_out_key(&json, "event");
    js_out_js(&json, event);
    js_out_object_end(&json);
    print_line(&line);
}

static void answer(struct http_exchange *exchange, int status)
{
    const struct http_answer plain = {.status = status};
    http_answer(exchange, &plain);
}

static void on_request(void *arg, struct http_exchange *exchange)
{
    struct listening *listening = arg;
    const struct http_request *request = http_exchange_request(exchange);
    AUTO(js) event = NULL;
    if (strcmp(request->method, "POST") != 0 || request->body_state != HTTP_BODY_WHOLE ||
        js_parse(request->body, request->body_len, BODY_DEPTH_MAX, &event, NULL) != OK) {
        answer(exchange, 400);
        return;
    }
    enum verdict verdict = judge(listening, exchange);
    const char *id = js_text(js_get(event, "id"));
    bool is_repeated = id && was_seen(listening, id);
    if (listening->is_json)
        print_for_programs(event, verdict_names[verdict], is_repeated);
    else
        print_for_people(event, verdict_names[verdict], is_repeated);
    fflush(stdout);
    answer(exchange, verdict == FORGED || verdict == STALE ? 401 : listening->status);
    if (listening->left > 0 && --listening->left == 0)
        loop_stop(listening->loop); /* after this turn, in which the answer leaves */
}

static void on_head(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    http_body_want(exchange, &(struct http_body_choice){HTTP_BODY_MEMORY, BODY_MAX_BYTES});
}

struct number {
    const char *option;
    long least, most, standard;
};
static const struct number number_status = {"status", 200, 599, STATUS_STANDARD};
static const struct number number_count = {"count", 0, 1000000000, 0};

static enum err read_number(const struct invocation *call, const struct number *number, long *out,
                            struct fault *fault)
{
    const char *text = invocation_value(call, number->option);
    char *end;
    *out = number->standard;
    if (!text)
        return OK;
    errno = 0;
    *out = strtol(text, &end, 10);
    if (!*text || *end || errno || *out < number->least || *out > number->most)
        return fault_set(fault, ERR_INVALID, "--%s is a number from %ld to %ld", number->option,
                         number->least, number->most);
    return OK;
}

static enum err read_options(const struct invocation *call, struct listening *listening,
                             struct http_server_config *config, struct fault *fault)
{
    const char *address = invocation_value(call, "listen");
    long status;
    if (net_addr_parse(address ? address : "127.0.0.1:8787", &config->bind) != OK)
        return fault_set(fault, ERR_INVALID, "--listen is an address:port");
    enum err err = read_number(call, &number_status, &status, fault);
    if (!err)
        err = read_number(call, &number_count, &listening->left, fault);
    listening->status = (int)status;
    listening->secret = invocation_value(call, "secret");
    listening->is_json = invocation_has(call, "json");
    return err;
}

static int run_listen(const struct invocation *call)
{
    static const struct http_handler handler = {.on_head = on_head, .on_request = on_request};
    struct listening listening = {0};
    struct http_server_config config = {0};
    struct fault fault = {0};
    if (read_options(call, &listening, &config, &fault))
        return command_fail(&fault);
    AUTO(loop) loop = loop_new("listen");
    AUTO(map) seen = map_new();
    listening.loop = loop;
    listening.seen = seen;
    if (http_server_open(loop, &config, &handler, &listening, &listening.server, &fault))
        return command_fail(&fault);
    char address[NET_ADDR_SIZE];
    struct net_addr bound = http_server_address(listening.server);
    net_addr_print(&bound, address);
    fprintf(stderr, "Waiting for events on http://%s/\n", address);
    loop_run(loop);
    http_server_close(listening.server);
    return EXIT_SUCCESS;
}

static const struct option options[] = {
    {"listen", "ADDRESS:PORT", "Where to listen; 127.0.0.1:8787 when left out.", false},
    {"secret", "SECRET", "The signing secret; deliveries that fail its check are answered 401.",
     false},
    {"status", "STATUS", "What to answer, for trying retries; 200 when left out.", false},
    {"count", "N", "End after so many events.", false},
    {"json", NULL, "One line of JSON for each event.", false},
};

const struct command command_listen = {
    "listen", "Receives webhook events, verifies and prints them.",
    options,  ARRAY_LEN(options),
    false,    run_listen};
