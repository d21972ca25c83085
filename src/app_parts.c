/* The parts of the service, in the order in which they stand on each other. Whoever wants to know
 * what depends on what reads the table at the end. Thread: the main thread; no other runs yet, or
 * no more. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "api/api.h"
#include "app.h"
#include "base/arena.h"
#include "base/config.h"
#include "base/mem.h"
#include "base/pool.h"
#include "cli/local_store.h"
#include "cli/programs.h"
#include "engine/registry.h"
#include "event/delivery.h"
#include "know/know.h"
#include "net/addr.h"
#include "net/dial.h"
#include "net/guard.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/resolver.h"
#include "net/tls.h"
#include "room/directory.h"
#include "room/host.h"
#include "room/rooms.h"
#include "rtc/dtls.h"
#include "rtc/port.h"
#include "vendor/vendor.h"

enum {
    FILES_MIN = 64, /* of all parts before the first call, and of each loop */
    FILES_OF_A_LOOP = 8,
    POOL_THREADS = 4,
    POOL_NICE = 5,
    DAY_MS = 86400000,
    TOOLS_WAITING = 16384,              /* requests, 5 kB each without their bodies */
    TOOLS_WAITING_PER_WORKSPACE = 1024, /* 20 calls that all start with 50 tools */
};

static const char *text_or_null(const struct config *config, enum setting setting)
{
    const char *text = config_text(config, setting);
    return *text ? text : NULL;
}

static size_t media_loops(const struct app *app)
{
    int64_t wanted = config_int(app->config, SET_RTC_LOOPS);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return wanted ? (size_t)wanted : (size_t)MIN(MAX(cores, 1L), (long)APP_LOOPS_MAX);
}

/* A loop without its descriptors is no fault of a part, it ends the process. */
static enum err see_files(const struct app *app, struct fault *fault)
{
    struct rlimit files;
    size_t least = FILES_MIN + FILES_OF_A_LOOP * media_loops(app);
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= least)
        return OK;
    return fault_set(fault, ERR_LIMIT,
                     "%ju open files are too few: at least %zu are needed, and some for each call "
                     "(LimitNOFILE of systemd, ulimit -n)",
                     (uintmax_t)files.rlim_cur, least);
}

static enum err open_control(struct app *app, struct fault *fault)
{
    enum err err = see_files(app, fault);
    if (err)
        return err;
    app->control = loop_new("control");
    app->delivery.loop = loop_new("delivery");
    return OK;
}

static void close_control(struct app *app)
{
    loop_free(app->delivery.loop);
    loop_free(app->control);
}

/* The way out: names, guard, TLS, HTTP. */

static enum err new_resolver(struct app *app, struct loop *loop, struct resolver **out,
                             struct fault *fault)
{
    return resolver_new(loop, app->net.guard, config_text(app->config, SET_EGRESS_NAMESERVER), out,
                        fault);
}

static struct http_client *new_http_client(struct app *app, struct loop *loop,
                                           struct resolver *resolver)
{
    const struct http_client_config config = {
        .resolver = resolver,
        .tls = app->net.tls,
        .tenants = {.running = (size_t)config_int(app->config, SET_TOOLS_UNDER_WAY),
                    .running_per_key = (size_t)config_int(app->config, SET_TOOLS_PER_WORKSPACE),
                    .waiting = TOOLS_WAITING,
                    .waiting_per_key = TOOLS_WAITING_PER_WORKSPACE},
    };
    return http_client_new(loop, &config);
}

static void close_network(struct app *app)
{
    http_client_free(app->net.http);
    tls_context_free(app->net.tls);
    resolver_free(app->delivery.resolver);
    resolver_free(app->net.resolver);
    guard_free(app->net.guard);
    pool_free(app->pool);
}

static enum err open_network(struct app *app, struct fault *fault)
{
    const struct config *config = app->config;
    enum err err = guard_new(config_text(config, SET_EGRESS_ALLOW), &app->net.guard, fault);
    app->pool = pool_new("pool", POOL_THREADS, POOL_NICE);
    if (!err)
        err = new_resolver(app, app->control, &app->net.resolver, fault);
    if (!err)
        err = new_resolver(app, app->delivery.loop, &app->delivery.resolver, fault);
    if (!err)
        err = tls_client_new(text_or_null(config, SET_EGRESS_CA), &app->net.tls, fault);
    if (err) {
        close_network(app);
        return err;
    }
    app->net.http = new_http_client(app, app->control, app->net.resolver);
    return OK;
}

static enum err open_store(struct app *app, struct fault *fault)
{
    static const char purpose[] = "room tokens";
    enum err err = local_store_open(app->config, &app->store, fault);
    if (err)
        return err;
    uint8_t secret[SHA256_BYTES];
    crypto_hmac_sha256(store_master_key(app->store), MASTER_KEY_BYTES, purpose, sizeof(purpose) - 1,
                       secret);
    crypto_hex(secret, sizeof(secret), app->tokens.secret);
    app->tokens.signer = (struct token_signer){.key_id = "earshot", .secret = app->tokens.secret};
    return OK;
}

static void close_store(struct app *app)
{
    store_close(app->store);
}

/* The threads that carry calls. */

static enum err read_binds(const struct config *config, struct net_addr *out, size_t *out_count,
                           struct fault *fault)
{
    AUTO_MEM char *list = mem_strdup(config_text(config, SET_RTC_BIND));
    char *rest = NULL;
    *out_count = 0;
    for (char *word = strtok_r(list, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest)) {
        if (*out_count == PORT_ADDRESSES || net_ip_parse(word, &out[*out_count]))
            return fault_set(fault, ERR_INVALID, "rtc.bind: '%.60s' is no address, or one too many",
                             word);
        ++*out_count;
    }
    return OK;
}

static void close_media(struct app *app)
{
    for (size_t i = 0; i < app->media_count; i++) {
        struct app_media *media = &app->media[i];
        rooms_free(media->rooms);
        port_close(media->port);
        http_client_free(media->http);
        dialer_free(media->dialer);
        resolver_free(media->resolver);
        loop_free(media->loop);
    }
    dtls_identity_free(app->identity);
}

static enum err open_one_media(struct app *app, struct port_config *config, struct fault *fault)
{
    struct app_media *media = &app->media[app->media_count];
    char name[16];
    snprintf(name, sizeof(name), "media-%u", (unsigned)app->media_count);
    media->loop = config->loop = loop_new(name);
    config->loop_number = (unsigned)app->media_count;
    struct fault inner = {0};
    enum err err = port_open(config, &media->port, &inner);
    if (err && app_demo_may_move(app, SET_RTC_PORT)) {
        config->udp_port = 0;
        err = port_open(config, &media->port, &inner);
    }
    if (err) {
        loop_free(media->loop);
        return fault_set(fault, inner.err, "%.150s (rtc.bind, rtc.port)", inner.text);
    }
    err = new_resolver(app, media->loop, &media->resolver, fault);
    if (err) {
        port_close(media->port);
        loop_free(media->loop);
        return err;
    }
    media->http = new_http_client(app, media->loop, media->resolver);
    media->dialer = dialer_new(media->resolver, app->net.tls);
    const struct rooms_config rooms = {.loop = media->loop,
                                       .port = media->port,
                                       .signer = &app->tokens.signer,
                                       .dialer = media->dialer};
    media->rooms = rooms_new(&rooms);
    app->media_count++;
    return OK;
}

static enum err open_media(struct app *app, struct fault *fault)
{
    const char *told = config_text(app->config, SET_RTC_PUBLIC_ADDRESS);
    struct net_addr binds[PORT_ADDRESSES];
    struct port_config config = {.binds = binds};
    enum err err = read_binds(app->config, binds, &config.bind_count, fault);
    if (!err && *told && net_ip_parse(told, &config.public_address))
        err = fault_set(fault, ERR_INVALID, "rtc.public_address: '%.60s' is no address", told);
    if (!err)
        err = dtls_identity_new(&app->identity, fault);
    config.identity = app->identity;
    int64_t first_port = config_int(app->config, SET_RTC_PORT);
    for (size_t i = 0; i < media_loops(app) && !err; i++) {
        config.udp_port = (uint16_t)(first_port ? first_port + (int64_t)i : 0);
        err = open_one_media(app, &config, fault);
    }
    if (err)
        close_media(app);
    return err;
}

/* Engines and the catalog that shows them. */

static void close_engines(struct app *app)
{
    arena_free(app->engines.memory);
    registry_free(app->engines.registry);
    vendor_free(app->engines.vendor);
}

/* The engine of this kind that the operator has made the default, or NULL. */
static const char *asked_default(const struct app *app, enum engine_kind kind)
{
    const struct engine_info *info;
    for (size_t i = 0; (info = registry_at(app->engines.registry, kind, i)); i++)
        if (info->is_default && config_engine(app->config, info->id, "default"))
            return info->id;
    return NULL;
}

static enum err check_catalog(struct app *app, struct fault *fault)
{
    struct fault inner = {0};
    enum err err =
        catalog_check_languages(config_text(app->config, SET_DISABLED_LANGUAGES), &inner);
    if (err)
        return fault_set(fault, err, "catalog.disabled_languages: %.150s", inner.text);
    return catalog_settle_defaults(app->engines.catalog, asked_default(app, ENGINE_STT),
                                   asked_default(app, ENGINE_TTS), fault);
}

static enum err open_engines(struct app *app, struct fault *fault)
{
    AUTO_MEM char *voice = program_voice(app->config);
    const struct vendor_config config = {
        .voice_path = voice, .voice_workers = (unsigned)config_int(app->config, SET_VOICE_WORKERS)};
    app->engines.vendor = vendor_new(&config);
    for (size_t i = 0; i < app->media_count; i++)
        vendor_add_loop(app->engines.vendor, app->media[i].loop, app->media[i].http,
                        app->media[i].dialer);
    vendor_add_loop(app->engines.vendor, app->control, app->net.http, NULL); /* writes cards */
    enum err err = registry_new(app->config, vendor_adapters, vendor_adapter_count,
                                app->engines.vendor, &app->engines.registry, fault);
    if (err) {
        vendor_free(app->engines.vendor);
        return err;
    }
    app->engines.memory = arena_new(0);
    app->engines.catalog = arena_new_of(app->engines.memory, struct catalog);
    catalog_init(app->engines.catalog, config_text(app->config, SET_DEFAULT_LANGUAGE),
                 config_text(app->config, SET_DISABLED_LANGUAGES), app->engines.memory);
    registry_catalog(app->engines.registry, app->engines.catalog, app->engines.memory);
    err = check_catalog(app, fault);
    if (err)
        close_engines(app);
    return err;
}

/* The model that writes cards: the default one, if it is one that writes. */
static const struct engine *card_writer(const struct app *app)
{
    const struct engine_info *info = registry_default(app->engines.registry, ENGINE_LLM);
    bool writes = info && info->is_enabled && !info->is_internal && info->model_count;
    return writes && config_bool(app->config, SET_DOCUMENTS_MODEL_CARDS)
               ? registry_find(app->engines.registry, ENGINE_LLM, info->id)
               : NULL;
}

static const struct engine *embedder(const struct app *app)
{
    const struct engine_info *info = registry_default(app->engines.registry, ENGINE_EMBED);
    return info && info->is_enabled ? registry_find(app->engines.registry, ENGINE_EMBED, info->id)
                                    : NULL;
}

static enum err open_know(struct app *app, struct fault *fault)
{
    AUTO_MEM char *program = program_own();
    const struct know_config config = {.store = app->store,
                                       .loop = app->control,
                                       .program = program,
                                       .writer = card_writer(app),
                                       .embedder = embedder(app)};
    return know_open(&config, &app->know, fault);
}

static void close_know(struct app *app)
{
    know_close(app->know);
}

static enum err open_calls(struct app *app, struct fault *fault)
{
    const char *collector = config_text(app->config, SET_OTEL_ENDPOINT);
    if (*collector && strncmp(collector, "http://", 7) != 0 &&
        strncmp(collector, "https://", 8) != 0)
        return fault_set(fault, ERR_INVALID, "otel.endpoint: '%.80s' is no URL", collector);
    app->rooms = room_directory_new(app->control, &app->tokens.signer);
    app_machine_open(app);
    for (size_t i = 0; i < app->media_count; i++)
        app->calls_media[i] = (struct calls_media){.loop = app->media[i].loop,
                                                   .joins = app->media[i].rooms,
                                                   .rooms = room_host_provider(app->media[i].rooms),
                                                   .http = app->media[i].http};
    const struct calls_config config = {
        .control = app->control,
        .media = app->calls_media,
        .media_count = app->media_count,
        .config = app->config,
        .store = app->store,
        .registry = app->engines.registry,
        .know = app->know,
        .rooms = app->rooms,
        .public_url = app->urls.own,
        .machine = &app->machine.told,
    };
    app->calls = calls_new(&config);
    return OK;
}

static void close_calls(struct app *app)
{
    calls_free(app->calls);
    app_machine_close(app);
    room_directory_free(app->rooms);
}

static enum err open_delivery(struct app *app, struct fault *fault)
{
    (void)fault;
    const struct delivery_config config = {
        .loop = app->delivery.loop,
        .store = app->store,
        .resolver = app->delivery.resolver,
        .tls = app->net.tls,
        .max_under_way = (unsigned)config_int(app->config, SET_WEBHOOK_CONNECTIONS),
        .max_per_receiver = (unsigned)config_int(app->config, SET_WEBHOOK_PER_RECEIVER),
        .keep_ms = config_int(app->config, SET_WEBHOOK_KEEP) * DAY_MS,
        .most_waiting = config_int(app->config, SET_WEBHOOK_WAITING),
        .pause_scale_ppm = config_int(app->config, SET_WEBHOOK_PAUSE_SCALE),
    };
    app->delivery.deliverer = delivery_new(&config);
    return OK;
}

static void close_delivery(struct app *app)
{
    delivery_free(app->delivery.deliverer);
}

/* The way in. */

/* The URL that clients reach this node by, and the one that they join rooms with. */
static void make_urls(struct app *app)
{
    const struct net_addr listen = http_server_address(app->http);
    own_url(app->config, &listen, app->urls.own);
    const char *rest = strncmp(app->urls.own, "http", 4) == 0 ? app->urls.own + 4 : "";
    snprintf(app->urls.rooms, sizeof(app->urls.rooms), "ws%s", rest);
}

static enum err listen_on(struct app *app, struct http_server_config *server, struct fault *fault)
{
    struct fault inner = {0};
    enum err err = http_server_open(app->control, server, &app_front, app, &app->http, &inner);
    if (err && app_demo_may_move(app, SET_LISTEN)) {
        server->bind.port = 0;
        err = http_server_open(app->control, server, &app_front, app, &app->http, &inner);
    }
    return err ? fault_set(fault, inner.err, "%.150s (service.listen)", inner.text) : OK;
}

/* The other half of the descriptors is for calls, the store and deliveries. */
static size_t most_connections(const struct config *config)
{
    struct rlimit files;
    size_t most = (size_t)config_int(config, SET_HTTP_CONNECTIONS);
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return most;
    return MIN(most, MAX((size_t)files.rlim_cur / 2, (size_t)16));
}

static enum err open_http(struct app *app, struct fault *fault)
{
    struct http_server_config server = {
        .spool_dir = config_text(app->config, SET_DATA),
        .max_connections = most_connections(app->config),
        .max_per_address = (size_t)config_int(app->config, SET_HTTP_CONNECTIONS_PER_ADDRESS),
    };
    const char *listen = config_text(app->config, SET_LISTEN);
    if (net_addr_parse(listen, &server.bind))
        return fault_set(fault, ERR_INVALID, "service.listen: '%.80s' is no address:port", listen);
    enum err err = own_url_check(app->config, fault);
    if (!err)
        err = app_tls_open(app, &server.bind, fault);
    server.tls = app->tls;
    if (!err)
        err = listen_on(app, &server, fault);
    if (err)
        tls_context_free(app->tls);
    else
        make_urls(app);
    return err;
}

static void close_http(struct app *app)
{
    if (app->http)
        http_server_close(app->http);
    tls_context_free(app->tls);
}

static bool is_serving(void *arg)
{
    const struct app *app = arg;
    return app->state == APP_SERVING;
}

static enum err open_api(struct app *app, struct fault *fault)
{
    const struct api_deps deps = {
        .control = app->control,
        .pool = app->pool,
        .config = app->config,
        .store = app->store,
        .catalog = app->engines.catalog,
        .resolver = app->net.resolver,
        .http = app->net.http,
        .calls = app->calls,
        .registry = app->engines.registry,
        .know = app->know,
        .delivery = app->delivery.deliverer,
        .signer = &app->tokens.signer,
        .livekit_url = app->urls.rooms,
        .public_url = app->urls.own,
        .is_ready = is_serving,
        .arg = app,
    };
    enum err err = api_open(&deps, &app->api, fault);
    if (!err)
        room_directory_on_failure(app->rooms, api_on_failure, app->api);
    return err;
}

static void close_api(struct app *app)
{
    api_close(app->api);
}

/* Opened in this order and closed in the other: a row uses only what stands above it. What one
 * above must know of it is told by a function once both are there (room_directory_on_failure()). */
static const struct part {
    enum err (*open)(struct app *app, struct fault *fault);
    void (*close)(struct app *app);
} parts[] = {
    {open_control, close_control},         /* loops of control and delivery */
    {app_signals_open, app_signals_close}, /* before any thread is started */
    {open_network, close_network},         /* names, guard, TLS, HTTP: the way out */
    {open_store, close_store},             /* and the key of join tokens */
    {open_media, close_media},             /* loops that carry calls, their ports and rooms */
    {open_engines, close_engines},         /* and the catalog */
    {open_know, close_know},               /* documents, which a model may write cards for */
    {open_http, close_http},               /* the way in; nothing is read before the loop runs */
    {open_calls, close_calls},             /* knows the public URL */
    {open_delivery, close_delivery},       /* webhooks */
    {open_api, close_api},                 /* asks all of the above */
    {app_show_open, app_show_close},       /* earshot show */
};

enum err app_open_parts(struct app *app, struct fault *fault)
{
    enum err err = OK;
    while (app->opened < ARRAY_LEN(parts) && !err) {
        err = parts[app->opened].open(app, fault);
        app->opened += !err;
    }
    return err;
}

void app_close_parts(struct app *app)
{
    while (app->opened > 0)
        parts[--app->opened].close(app);
}
