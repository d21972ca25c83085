#include "vendor/utter.h"

#include <string.h>

#include "base/crypto.h"
#include "base/mem.h"
#include "engine/registry.h"
#include "vendor/ask.h"
#include "vendor/internal.h"
#include "vendor/lane.h"

enum {
    TARGET_MAX_BYTES = 8192,
    MESSAGES_MAX_BYTES = 512 * 1024,
    SOUND_MAX_BYTES = 4 * 1024 * 1024, /* of one message */
    IDLE_US = 60 * 1000 * 1000,        /* vendors count connections */
};

struct utter {
    struct speaker *speaker;
    const struct utter_engine *engine;
    struct trunk_seat seat;
    uint32_t id;           /* under way; 0: none */
    struct lane *lane;     /* of sentences over a shared connection; NULL: of connections */
    struct lane_seat turn; /* in it */
    char *text;            /* that waits for its turn */
    struct timer crowded;  /* told from the loop */
    bool is_hopeless;      /* the vendor refuses us: told once, for the whole session */
};

static void leave_lane(struct utter *utter)
{
    mem_free(TAKE(utter->text));
    timer_stop(&utter->crowded);
    if (utter->lane)
        lane_leave(utter->lane, &utter->turn);
}

/* The sentence is over, or wanted no more. Its id. */
static uint32_t end_sentence(struct utter *utter, bool is_given_up)
{
    uint32_t id = utter->id;
    utter->id = 0;
    leave_lane(utter);
    trunk_end(&utter->seat, is_given_up);
    return id;
}

/* For the dialects. */

bool utter_wants_opus(const struct speaker *speaker)
{
    const struct utter_engine *engine = speaker->engine->state;
    return engine->wants_opus && speaker_wants_opus(speaker);
}

void utter_sound(struct utter *utter, const char *base64)
{
    AUTO_BUF sound = BUF_INIT(SOUND_MAX_BYTES);
    if (!base64 || !*base64 || utter->id == 0)
        return;
    if (base64_decode(base64, strlen(base64), &sound) == OK)
        speaker_sound(utter->speaker, utter->id, sound.data, sound.len);
    else
        utter_failed(utter, ENGINE_PROTOCOL, "its sound is no base64");
}

void utter_done(struct utter *utter)
{
    if (utter->id)
        speaker_done(utter->speaker, end_sentence(utter, false));
}

void utter_failed(struct utter *utter, enum engine_error error, const char *message)
{
    char clean[ASK_MESSAGE_SIZE];
    if (utter->id == 0)
        return;
    ask_clean(&utter->engine->account, message, clean);
    speaker_failed(utter->speaker, end_sentence(utter, false), error, clean, false);
}

/* The connection. */

static void connect_trunk(struct utter *utter)
{
    const struct utter_dialect *dialect = utter->engine->dialect;
    AUTO_BUF url = BUF_INIT(TARGET_MAX_BYTES);
    (void)buf_append_str(&url, utter->engine->account.url);
    dialect->write_target(utter->speaker, &url);
    struct socket_plan plan = {
        .url = url.data,
        .headers = {dialect->key_header, utter->engine->authorization, dialect->fixed[0],
                    dialect->fixed[1]},
        .workspace = utter->speaker->config.workspace,
        .quiet_text = dialect->quiet_text,
        .quiet_us = dialect->quiet_us,
        .codes = dialect->codes,
    };
    trunk_enter(&utter->seat, &utter->engine->trunk, utter->speaker->loop, &plan);
}

static void on_message(void *owner, const struct js *message)
{
    struct utter *utter = owner;
    utter->engine->dialect->read(utter, message);
}

/* A vendor that refuses us before anything was to be said is told at once: the call has time to
 * take another voice. */
static void on_ended(void *owner, enum engine_error error, const char *message, bool has_lived)
{
    struct utter *utter = owner;
    bool is_refused = error == ENGINE_AUTH || error == ENGINE_BAD_REQUEST || error == ENGINE_QUOTA;
    if (utter->id) {
        utter_failed(utter, error, message);
    } else if (is_refused && !has_lived && !utter->is_hopeless) {
        utter->is_hopeless = true;
        speaker_failed(utter->speaker, 0, error, message, true);
    } else if (has_lived) {
        connect_trunk(utter);
    }
}

/* The wire. */

static void send_lines(struct utter *utter, char *lines)
{
    for (char *line = lines; line && *line;) {
        char *end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        trunk_send(&utter->seat, line);
        line = end;
    }
}

/* It is this sentence's turn. */
static void on_turn(void *arg)
{
    struct utter *utter = arg;
    AUTO_BUF messages = BUF_INIT(MESSAGES_MAX_BYTES);
    AUTO_MEM char *text = TAKE(utter->text);
    if (!utter->seat.trunk)
        connect_trunk(utter);
    const char *context = trunk_begin(&utter->seat);
    utter->engine->dialect->write_say(utter->speaker, context, text, &messages);
    send_lines(utter, messages.data);
}

static void on_crowded(void *arg)
{
    utter_failed(arg, ENGINE_CROWDED, "too many sentences of this workspace wait");
}

static void *open_utter(struct speaker *speaker)
{
    struct utter *utter = mem_new(struct utter);
    const struct utter_engine *engine = speaker->engine->state;
    const struct account *account = &engine->account;
    struct vendor_loop *here = vendor_loop_of(account->vendor, speaker->loop);
    utter->speaker = speaker;
    utter->engine = engine;
    utter->seat.owner = utter;
    utter->turn = (struct lane_seat){.go = on_turn, .arg = utter};
    timer_init(&utter->crowded, speaker->loop, on_crowded, utter);
    if (engine->dialect->calls_max > 1 && here)
        utter->lane = vendor_lane(account->vendor, here, account->engine, &account->limits);
    speaker_rate(speaker, engine->dialect->rate_hz);
    speaker->sound.is_file = utter_wants_opus(speaker);
    speaker->sound.is_packets = speaker->sound.is_file && engine->is_raw;
    connect_trunk(utter);
    return utter;
}

static void say(void *wire, uint32_t id, const char *text)
{
    struct utter *utter = wire;
    const char *workspace = utter->speaker->config.workspace;
    utter->id = id;
    utter->text = mem_strdup(text);
    if (!utter->lane)
        on_turn(utter);
    else if (lane_enter(utter->lane, workspace ? workspace : "", &utter->turn) != OK)
        timer_set_after(&utter->crowded, 0);
}

static void stop(void *wire, uint32_t id)
{
    struct utter *utter = wire;
    AUTO_BUF message = BUF_INIT(TARGET_MAX_BYTES);
    if (utter->id != id)
        return;
    if (*utter->seat.context)
        utter->engine->dialect->write_stop(utter->seat.context, &message);
    send_lines(utter, message.data);
    if (!utter->speaker->is_closed)
        (void)end_sentence(utter, true);
}

static void close_utter(void *wire)
{
    struct utter *utter = wire;
    utter->id = 0;
    leave_lane(utter);
    trunk_leave(&utter->seat);
    loop_defer(utter->speaker->loop, mem_free, utter);
}

static struct tts *utter_open(const struct engine *engine, struct loop *loop,
                              const struct tts_config *config, tts_event_fn *on_event, void *arg)
{
    static const struct speaker_wire wire = {
        .open = open_utter, .say = say, .stop = stop, .close = close_utter};
    return speaker_open(engine, loop, config, on_event, arg, &wire);
}

const struct tts_ops utter_ops = {utter_open, speaker_speak, speaker_cancel, speaker_close};

/* The engine. */

bool utter_configure(void *env, const struct config *config, const struct engine_info *info,
                     const struct utter_dialect *dialect, void **out_state)
{
    const struct account_plan plan = {dialect->standard_url, ACCOUNT_NEEDS_KEY};
    struct utter_engine *engine = mem_new(struct utter_engine);
    if (!account_read(&engine->account, env, config, info, &plan)) {
        mem_free(engine);
        return false;
    }
    engine->dialect = dialect;
    engine->trunk = (struct trunk_kind){.account = &engine->account,
                                        .seats_max = dialect->calls_max,
                                        .contexts_max = dialect->contexts_max,
                                        .idle_us = IDLE_US,
                                        .farewell = dialect->farewell,
                                        .context_of = dialect->context_of,
                                        .on_message = on_message,
                                        .on_ended = on_ended};
    engine->authorization = mem_printf("%s%s", dialect->key_prefix, engine->account.key);
    AUTO_MEM char *format = account_option(config, info, "format");
    engine->is_raw = strcmp(format, "opus-raw") == 0;
    engine->wants_opus = dialect->has_opus && (engine->is_raw || strcmp(format, "opus") == 0);
    *out_state = engine;
    return true;
}

void utter_unconfigure(void *state)
{
    struct utter_engine *engine = state;
    account_clear(&engine->account);
    mem_free(engine->authorization);
    mem_free(engine);
}
