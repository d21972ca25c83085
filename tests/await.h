/* For a test whose condition another thread or process makes true: it goes on as soon as that is
 * so, and fails when it never is. */
#pragma once

#include <stdbool.h>
#include <unistd.h>

#include "test.h"

/* Looks 1,000 times a second, for so many seconds; whether it has come true. */
#define AWAITED(cond, most_s)                                                                      \
    ({                                                                                             \
        for (int left_ms_ = (most_s)*1000; left_ms_ > 0 && !(cond); left_ms_--)                    \
            usleep(1000);                                                                          \
        (bool)(cond);                                                                              \
    })
#define AWAIT(cond, most_s) CHECK(AWAITED(cond, most_s))
