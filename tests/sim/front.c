#include "front.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/api.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "fake/loop.h"
#include "model/catalog.h"
#include "model/workspace.h"
#include "net/guard.h"
#include "net/stream.h"
#include "room/token.h"
#include "store/api_key.h"
#include "store/store.h"
#include "store/workspace.h"
#include "test.h"

enum { MINUTE_US = 60 * 1000 * 1000 };

struct front front;
static struct guard *guard;
static struct front_client asker;

static struct catalog *make_catalog(struct arena *arena)
{
    static struct catalog_tts tts[] = {
        {.id = "voice", .label = "Voice", .default_speaker = "slt", .is_enabled = true}};
    static struct catalog_stt stt[] = {{.id = "ear", .label = "Ear", .is_enabled = true}};
    static struct catalog_model models[] = {{.id = "brain",
                                             .provider = "brain",
                                             .label = "Brain",
                                             .max_tokens = {1, 400},
                                             .standard_max_tokens = 300,
                                             .is_enabled = true}};
    struct catalog *catalog = arena_new_of(arena, struct catalog);
    catalog_init(catalog, "en", "", arena);
    catalog->tts = (struct catalog_tts_list){tts, ARRAY_LEN(tts)};
    catalog->stt = (struct catalog_stt_list){stt, ARRAY_LEN(stt)};
    catalog->models = (struct catalog_model_list){models, ARRAY_LEN(models)};
    return catalog;
}

static void check_open(enum err err, const struct fault *fault)
{
    if (!CHECK_INT(err, OK)) {
        fprintf(stderr, "%s\n", fault->text);
        exit(1);
    }
}

static void load_config(const char *const *settings)
{
    static char *no_environment[] = {NULL};
    struct fault fault = {0};
    check_open(config_load(NULL, no_environment, &front.config, &fault), &fault);
    for (size_t i = 0; settings && settings[i]; i++) {
        char text[200], *name, *value;
        snprintf(text, sizeof(text), "%s", settings[i]);
        name = strchr(text, '.');
        *name++ = '\0';
        value = strchr(name, '=');
        *value++ = '\0';
        check_open(config_set(front.config, text, name, value, &fault), &fault);
    }
}

static enum err make_workspace(struct tx *tx, void *arg)
{
    (void)arg;
    struct workspace workspace = {.name = "Test",
                                  .plan = "standard",
                                  .currency = "USD",
                                  .balance_usd4 = 1000000,
                                  .max_concurrent_calls = 100};
    struct api_key key;
    enum err err = store_workspace_insert(tx, &workspace);
    if (!err)
        err = store_key_create(tx, workspace.id, "test", &key);
    if (err)
        return err;
    snprintf(front.workspace_id, sizeof(front.workspace_id), "%s", workspace.id);
    snprintf(front.key, sizeof(front.key), "%s", key.key);
    return OK;
}

static const struct http_handler handler = {.on_head = api_on_head,
                                            .on_request = api_on_request,
                                            .on_gone = api_on_gone,
                                            .on_body = api_on_body,
                                            .is_proxy = api_is_proxy};

void front_begin(const char *const *settings)
{
    static const struct token_signer signer = {.key_id = "earshot", .secret = "secret"};
    struct fault fault = {0};
    log_set(LOG_ERROR, LOG_LOGFMT, 2);
    front = (struct front){.dir = "/tmp/front-XXXXXX"};
    front_doubles = (struct front_doubles){0};
    if (!CHECK(mkdtemp(front.dir)))
        exit(1);
    load_config(settings);
    front.control = loop_new("control");
    front.arena = arena_new(0);
    front.catalog = make_catalog(front.arena);
    const struct store_config store = {.data_dir = front.dir};
    check_open(store_open(&store, &front.store, &fault), &fault);
    check_open(store_run(front.store, STORE_WRITE, make_workspace, NULL, &fault), &fault);
    check_open(guard_new("", &guard, &fault), &fault);
    const struct api_deps deps = {.control = front.control,
                                  .config = front.config,
                                  .store = front.store,
                                  .catalog = front.catalog,
                                  .resolver = (struct resolver *)(void *)guard,
                                  .signer = &signer,
                                  .livekit_url = "ws://test",
                                  .public_url = "http://test"};
    check_open(api_open(&deps, &front.api, &fault), &fault);
    const struct http_server_config server = {
        .bind = net_addr_ipv4(127, 0, 0, 1, 0),
        .spool_dir = front.dir,
        .max_connections = (size_t)config_int(front.config, SET_HTTP_CONNECTIONS),
        .max_per_address = (size_t)config_int(front.config, SET_HTTP_CONNECTIONS_PER_ADDRESS)};
    check_open(http_server_open(front.control, &server, &handler, front.api, &front.server, &fault),
               &fault);
}

static bool is_idle(void *arg)
{
    (void)arg;
    return api_is_idle(front.api);
}

void front_end(void)
{
    front_disconnect(&asker);
    front_release();
    http_server_close(front.server);
    CHECK(fake_run_while_not(is_idle, NULL, 2 * MINUTE_US)); /* every request has come to its end */
    api_close(front.api);
    store_close(front.store);
    guard_free(guard);
    loop_free(front.control);
    config_free(front.config);
    arena_free(front.arena);
    char command[80];
    snprintf(command, sizeof(command), "rm -r %s", front.dir);
    CHECK_INT(system(command), 0);
}

/* Clients. */

static void client_on_read(void *arg)
{
    struct front_client *client = arg;
    size_t len;
    const char *data = stream_peek(client->stream, &len);
    CHECK_INT(buf_append(&client->text, data, len), OK);
    stream_consume(client->stream, len);
}

static void client_on_closed(void *arg, enum err reason)
{
    (void)reason;
    ((struct front_client *)arg)->is_closed = true;
}

void front_connect(struct front_client *client, const char *from)
{
    static const struct stream_fns fns = {client_on_read, NULL, client_on_closed};
    *client = (struct front_client){.text = BUF_INIT(256 << 20)};
    struct sockaddr_in address = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = inet_addr(from);
    CHECK_INT(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    address.sin_port = htons(http_server_address(front.server).port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK_INT(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    CHECK_INT(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    client->stream = stream_open(front.control, fd, NULL);
    stream_set(client->stream, &fns, client);
    stream_set_ceilings(client->stream, STREAM_READ_MAX, 256 << 20);
}

void front_disconnect(struct front_client *client)
{
    stream_abort(TAKE(client->stream));
    buf_clear(&client->text);
}

void front_send(struct front_client *client, const char *text)
{
    CHECK_INT(stream_write(client->stream, text, strlen(text)), OK);
}

/* The nth answer's first byte, with its body whole after it; NULL: not yet. */
static const char *find_answer(const struct front_client *client, int nth)
{
    const char *at = client->text.data;
    while (at && *at) {
        const char *body = strstr(at, "\r\n\r\n"), *length = strstr(at, "Content-Length: ");
        if (!body)
            return NULL;
        bool is_last = strncmp(at, "HTTP/1.1 100", 12) != 0;
        const char *next = body + 4 + (length && length < body ? atol(length + 16) : 0);
        if (next > client->text.data + client->text.len)
            return NULL;
        if (is_last && --nth == 0)
            return at;
        at = next;
    }
    return NULL;
}

struct waiting {
    const struct front_client *client;
    int nth;
};

static bool is_answered(void *arg)
{
    struct waiting *waiting = arg;
    return waiting->client->is_closed || find_answer(waiting->client, waiting->nth);
}

int front_status(struct front_client *client, int nth, int64_t max_us)
{
    struct waiting waiting = {client, nth};
    fake_run_while_not(is_answered, &waiting, max_us);
    const char *answer = find_answer(client, nth);
    return answer ? atoi(answer + sizeof "HTTP/1.1 " - 1) : 0;
}

int front_ask(const struct front_request *request)
{
    AUTO_BUF text = BUF_INIT(64 << 20);
    buf_printf(&text, "%s %s HTTP/1.1\r\nHost: x\r\n", request->method, request->path);
    if (request->key)
        buf_printf(&text, "Authorization: Bearer %s\r\n", request->key);
    if (request->body)
        buf_printf(&text, "Content-Length: %zu\r\n", strlen(request->body));
    buf_append_str(&text, request->headers ? request->headers : "");
    buf_append_str(&text, "\r\n");
    buf_append_str(&text, request->body ? request->body : "");
    front_disconnect(&asker);
    front_connect(&asker, request->from ? request->from : "127.0.0.1");
    front_send(&asker, text.data);
    return front_status(&asker, 1, MINUTE_US);
}

const char *front_text(void)
{
    return asker.text.data ? asker.text.data : "";
}

const char *front_field(const char *name)
{
    char wanted[80];
    snprintf(wanted, sizeof(wanted), "\"%s\":\"", name);
    const char *at = strstr(front_text(), wanted);
    if (!at)
        return "";
    at += strlen(wanted);
    return arena_strndup(front.arena, at, strcspn(at, "\""));
}

const char *front_make(const char *path, const char *body)
{
    const struct front_request request = {"POST", path, front.key, body};
    if (!CHECK_INT(front_ask(&request), 201))
        CHECK_TEXT(front_text(), path);
    return front_field("id");
}
