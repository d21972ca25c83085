/* Checks of the engines and of the programs that are started. */
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/config.h"
#include "base/mem.h"
#include "base/sandbox.h"
#include "cli/doctor.h"
#include "cli/programs.h"
#include "engine/registry.h"
#include "vendor/vendor.h"

enum { NAMES_MAX_BYTES = 200 };

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

void doctor_check_engines(struct doctor *doctor)
{
    AUTO_MEM char *voice = program_voice(doctor->config);
    const struct vendor_config config = {.voice_path = voice, .voice_workers = 1};
    AUTO(vendor) vendor = vendor_new(&config);
    AUTO(registry) registry = NULL;
    struct fault fault = {0};
    if (registry_new(doctor->config, vendor_adapters, vendor_adapter_count, vendor, &registry,
                     &fault)) {
        doctor_find(doctor, FINDING_FAULT, "%s", fault.text);
        return;
    }
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        find_kind(doctor, registry, k);
}

static void check_sandbox(struct doctor *doctor)
{
    struct sandbox_state can = sandbox_support();
    if (can.has_paths && can.has_filter)
        doctor_find(doctor, FINDING_GOOD, "embedded speech is locked in (Landlock, seccomp)");
    else
        doctor_find(
            doctor, FINDING_WARNING, "embedded speech is not locked in: the kernel has no %s%s%s",
            can.has_paths ? "" : "Landlock", can.has_paths || can.has_filter ? "" : " and no ",
            can.has_filter ? "" : "seccomp filter");
}

void doctor_check_programs(struct doctor *doctor)
{
    AUTO_MEM char *voice = program_voice(doctor->config);
    if (access(voice, X_OK) != 0) {
        doctor_find(doctor, FINDING_WARNING,
                    "%s is not there: embedded speech (flite, espeak, pocketsphinx) is off", voice);
        return;
    }
    doctor_find(doctor, FINDING_GOOD, "%s", voice);
    check_sandbox(doctor);
}
