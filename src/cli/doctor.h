/* What `earshot doctor` looks at: each check is a row that leaves one finding or several.
 * Thread: the main thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"

struct config;

enum finding_level { FINDING_GOOD, FINDING_WARNING, FINDING_FAULT };
enum { FINDINGS_MAX = 64, FINDING_TEXT_SIZE = 300 };

struct finding {
    enum finding_level level;
    const char *subject; /* of its check */
    char text[FINDING_TEXT_SIZE];
};

struct doctor {
    const struct config *config;
    const char *subject;      /* of the check that runs */
    bool has_running_service; /* on this data directory */
    struct finding findings[FINDINGS_MAX];
    size_t count;
};

typedef void doctor_check_fn(struct doctor *doctor);

/* Adds a finding of the check that runs. What is wrong comes with what to do about it. */
void doctor_find(struct doctor *doctor, enum finding_level level, const char *format, ...)
    PRINTF(3, 4);

doctor_check_fn doctor_check_data, doctor_check_running, doctor_check_master_key,
    doctor_check_database, doctor_check_dead_letters, doctor_check_clock, doctor_check_limits;
doctor_check_fn doctor_check_listen, doctor_check_certificate, doctor_check_audio_ports,
    doctor_check_public_url, doctor_check_egress;
doctor_check_fn doctor_check_load, doctor_check_engines, doctor_check_programs;
