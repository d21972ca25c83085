/* Checks of the engines and of the programs that are started. */
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/config.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/sandbox.h"
#include "cli/doctor.h"
#include "cli/engine_trial.h"
#include "cli/programs.h"
#include "engine/registry.h"
#include "extract/kind.h"
#include "net/dial.h"
#include "net/http_client.h"
#include "net/resolver.h"
#include "net/tls.h"
#include "vendor/vendor.h"

enum { NAMES_MAX_BYTES = 200, SOUND_MAX_BYTES = 1024 * 1024 };

static const struct {
    enum engine_kind kind;
    const char *verb;
} kinds[] = {
    {ENGINE_STT, "hear"},
    {ENGINE_LLM, "answer"},
    {ENGINE_TTS, "speak"},
};

/* Which engines of a kind are on: without one there are no calls. */
static void find_kind(struct doctor *doctor, const struct registry *registry, size_t k)
{
    AUTO_BUF on = BUF_INIT(NAMES_MAX_BYTES), off = BUF_INIT(NAMES_MAX_BYTES);
    const struct engine_info *info;
    for (size_t i = 0; (info = registry_at(registry, kinds[k].kind, i)); i++) {
        struct buf *list = info->is_enabled ? &on : &off;
        buf_printf(list, "%s%s", list->len ? ", " : "", info->id);
    }
    if (on.len)
        doctor_find(doctor, FINDING_GOOD, "to %s: %s%s%s", kinds[k].verb, on.data,
                    off.len ? "; off: " : "", off.len ? off.data : "");
    else
        doctor_find(doctor, FINDING_FAULT,
                    "none to %s: install earshot-voice, or set [engine.<id>] url or key",
                    kinds[k].verb);
}

/* Trying them. */

/* What engines need of a loop. */
struct bench {
    struct loop *loop;
    struct guard *guard;
    struct resolver *resolver;
    struct tls_context *tls;
    struct http_client *http;
    struct dialer *dialer;
};

static enum err bench_open(struct bench *bench, const struct config *config, struct fault *fault)
{
    const char *ca = config_text(config, SET_EGRESS_CA);
    bench->loop = loop_new("doctor");
    enum err err = guard_new(config_text(config, SET_EGRESS_ALLOW), &bench->guard, fault);
    if (!err)
        err = resolver_new(bench->loop, bench->guard, NULL, &bench->resolver, fault);
    if (!err)
        err = tls_client_new(*ca ? ca : NULL, &bench->tls, fault);
    if (err)
        return err;
    const struct http_client_config http = {.resolver = bench->resolver, .tls = bench->tls};
    bench->http = http_client_new(bench->loop, &http);
    bench->dialer = dialer_new(bench->resolver, bench->tls);
    return OK;
}

static void bench_close(struct bench *bench)
{
    http_client_free(bench->http);
    dialer_free(bench->dialer);
    tls_context_free(bench->tls);
    resolver_free(bench->resolver);
    guard_free(bench->guard);
    loop_free(bench->loop);
}

static void tell_trial(struct doctor *doctor, const struct engine *engine,
                       const struct trial *trial)
{
    static const char *const did[] = {[ENGINE_STT] = "heard",
                                      [ENGINE_LLM] = "answered",
                                      [ENGINE_TTS] = "spoke",
                                      [ENGINE_EMBED] = "made"};
    enum engine_kind kind = engine->info.kind;
    int ms = (int)((trial->first_us >= 0 ? trial->first_us : trial->all_us) / 1000);
    if (trial->error)
        doctor_find(doctor, FINDING_FAULT, "%s: %s (%.160s)", engine->info.id,
                    engine_error_name(trial->error), trial->message);
    else if (kind == ENGINE_TTS)
        doctor_find(doctor, FINDING_GOOD, "%s: %s %.1f s of sound, the first after %d ms",
                    engine->info.id, did[kind],
                    (double)trial->sound.len / sizeof(int16_t) / TTS_RATE_HZ, ms);
    else if (trial->text.len == 0)
        doctor_find(doctor, FINDING_WARNING, "%s: %s nothing, after %d ms", engine->info.id,
                    did[kind], ms);
    else
        doctor_find(doctor, FINDING_GOOD, "%s: %s \"%.80s\" after %d ms", engine->info.id,
                    did[kind], trial->text.data, ms);
}

/* Voices first: the first that speaks lends its sound to the recognisers. */
static void try_engines(struct doctor *doctor, const struct registry *registry,
                        const struct bench *bench)
{
    static const enum engine_kind order[] = {ENGINE_TTS, ENGINE_STT, ENGINE_LLM, ENGINE_EMBED};
    const struct engine_info *info;
    AUTO_BUF sound = BUF_INIT(SOUND_MAX_BYTES);
    for (size_t k = 0; k < ARRAY_LEN(order); k++)
        for (size_t i = 0; (info = registry_at(registry, order[k], i)); i++) {
            struct trial trial;
            if (!info->is_enabled)
                continue;
            const struct engine *engine = registry_find(registry, order[k], info->id);
            engine_try(engine, bench->loop, &sound, &trial);
            tell_trial(doctor, engine, &trial);
            if (sound.len == 0)
                (void)buf_append(&sound, trial.sound.data, trial.sound.len);
            trial_clear(&trial);
        }
}

void doctor_check_engines(struct doctor *doctor)
{
    AUTO_MEM char *voice = program_voice(doctor->config);
    const struct vendor_config config = {.voice_path = voice, .voice_workers = 1};
    struct vendor *vendor = vendor_new(&config);
    struct registry *registry = NULL;
    struct fault fault = {0}, bench_fault = {0};
    struct bench bench = {0};
    bool can_try = !bench_open(&bench, doctor->config, &bench_fault);
    if (can_try)
        vendor_add_loop(vendor, bench.loop, bench.http, bench.dialer);
    enum err err = registry_new(doctor->config, vendor_adapters, vendor_adapter_count, vendor,
                                &registry, &fault);
    for (size_t k = 0; !err && k < ARRAY_LEN(kinds); k++)
        find_kind(doctor, registry, k);
    if (err)
        doctor_find(doctor, FINDING_FAULT, "%s", fault.text);
    else if (can_try)
        try_engines(doctor, registry, &bench);
    else /* the check of outgoing connections calls it a fault */
        doctor_find(doctor, FINDING_WARNING, "not tried: %.160s", bench_fault.text);
    registry_free(registry);
    vendor_free(vendor);
    bench_close(&bench);
}

static void check_sandbox(struct doctor *doctor)
{
    struct sandbox_state can = sandbox_support();
    if (can.has_paths && can.has_filter)
        doctor_find(doctor, FINDING_GOOD,
                    "embedded speech and readers of files are locked in (Landlock, seccomp)");
    else
        doctor_find(
            doctor, FINDING_WARNING,
            "embedded speech and readers of files are not locked in: the kernel has no %s%s%s",
            can.has_paths ? "" : "Landlock", can.has_paths || can.has_filter ? "" : " and no ",
            can.has_filter ? "" : "seccomp filter");
}

static void check_documents(struct doctor *doctor)
{
    if (pdf_is_possible())
        doctor_find(doctor, FINDING_GOOD, "PDF documents can be read (pdftotext)");
    else
        doctor_find(doctor, FINDING_WARNING,
                    "pdftotext is not there: PDF documents fail; install poppler-utils");
}

void doctor_check_programs(struct doctor *doctor)
{
    check_documents(doctor);
    AUTO_MEM char *voice = program_voice(doctor->config);
    if (access(voice, X_OK) != 0) {
        doctor_find(doctor, FINDING_WARNING,
                    "%s is not there: embedded speech (flite, espeak, pocketsphinx) is off", voice);
        return;
    }
    doctor_find(doctor, FINDING_GOOD, "%s", voice);
    check_sandbox(doctor);
}
