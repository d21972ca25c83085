/* earshot doctor: runs the checks and prints what they found. */
#include "cli/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/print.h"

/* In the order in which one puts things right. */
static const struct {
    const char *subject;
    doctor_check_fn *run;
} checks[] = {
    {"data directory", doctor_check_data},
    {"running service", doctor_check_running},
    {"master key", doctor_check_master_key},
    {"database", doctor_check_database},
    {"dead letters", doctor_check_dead_letters},
    {"listen", doctor_check_listen},
    {"certificate", doctor_check_certificate},
    {"public address", doctor_check_public_url},
    {"audio ports", doctor_check_audio_ports},
    {"outgoing", doctor_check_egress},
    {"engines", doctor_check_engines},
    {"programs", doctor_check_programs},
    {"clock", doctor_check_clock},
    {"limits", doctor_check_limits},
    {"load", doctor_check_load},
};

static const char *const level_names[] = {"good", "warning", "fault"};

void doctor_find(struct doctor *doctor, enum finding_level level, const char *format, ...)
{
    if (doctor->count == FINDINGS_MAX)
        return;
    struct finding *finding = &doctor->findings[doctor->count++];
    finding->level = level;
    finding->subject = doctor->subject;
    va_list args;
    va_start(args, format);
    vsnprintf(finding->text, sizeof(finding->text), format, args);
    va_end(args);
}

static int print_json(const struct doctor *doctor)
{
    AUTO_BUF line = BUF_INIT(PRINT_MAX_BYTES);
    struct js_out out;
    js_out_init(&out, &line);
    js_out_object(&out);
    js_out_key(&out, "findings");
    js_out_array(&out);
    for (size_t i = 0; i < doctor->count; i++) {
        const struct finding *finding = &doctor->findings[i];
        js_out_object(&out);
        PRINT_MEMBER(&out, "level", text, level_names[finding->level]);
        PRINT_MEMBER(&out, "subject", text, finding->subject);
        PRINT_MEMBER(&out, "text", text, finding->text);
        js_out_object_end(&out);
    }
    js_out_array_end(&out);
    js_out_object_end(&out);
    return print_line(&line);
}

static void print_text(const struct doctor *doctor)
{
    for (size_t i = 0; i < doctor->count; i++) {
        const struct finding *finding = &doctor->findings[i];
        AUTO_MEM char *text = print_tamed(finding->text);
        printf("%-8s %-16s %s\n", level_names[finding->level], finding->subject, text);
    }
}

static int run_doctor(const struct invocation *call)
{
    struct doctor doctor = {.config = call->config};
    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        doctor.subject = checks[i].subject;
        checks[i].run(&doctor);
    }
    size_t faults = 0;
    for (size_t i = 0; i < doctor.count; i++)
        faults += doctor.findings[i].level == FINDING_FAULT;
    if (invocation_has(call, "json"))
        print_json(&doctor);
    else
        print_text(&doctor);
    return faults ? EXIT_FAILURE : EXIT_SUCCESS;
}

static const struct option options[] = {{"json", NULL, "Print JSON.", false}};
const struct command command_doctor = {"doctor", "Explains every fault of an installation.",
                                       options,  ARRAY_LEN(options),
                                       true,     run_doctor};
