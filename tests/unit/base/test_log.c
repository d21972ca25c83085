#include "base/log.h"

#include <unistd.h>

#include "base/clock.h"
#include "test.h"

static int pipe_fds[2];

static void log_into_pipe(enum log_format format)
{
    if (pipe(pipe_fds))
        test_fail(__FILE__, __LINE__, "pipe");
    log_set(LOG_INFO, format, pipe_fds[1]);
    clock_fake_set(0, 1795189527123);
}

static const char *logged(void)
{
    static char line[4096];
    ssize_t n = read(pipe_fds[0], line, sizeof(line) - 1);
    line[n > 0 ? n : 0] = '\0';
    return line;
}

TEST(log_writes_logfmt)
{
    log_into_pipe(LOG_LOGFMT);
    log_scope("call-1", NULL);
    log_info("call.ended", LOG_S("reason", "user-left"), LOG_I("duration_s", 12),
             LOG_S("note", "two \"words\""), LOG_S("none", NULL));
    log_debug("not.shown");
    CHECK_TEXT(logged(), "time=2026-11-20T15:45:27.123Z level=info event=call.ended call=call-1 "
                         "reason=user-left duration_s=12 note=\"two \\\"words\\\"\" none=\"\"\n");
}

TEST(log_writes_json)
{
    log_into_pipe(LOG_JSON);
    log_scope(NULL, "req-9");
    log_warn("x", LOG_S("bytes", "a\xff\n"), LOG_I("n", -1));
    CHECK_TEXT(logged(),
               "{\"time\":\"2026-11-20T15:45:27.123Z\",\"level\":\"warn\",\"event\":\"x\","
               "\"request\":\"req-9\",\"bytes\":\"a\xef\xbf\xbd\\n\",\"n\":-1}\n");
}

TEST(log_takes_no_fields)
{
    log_into_pipe(LOG_LOGFMT);
    log_error("alone");
    CHECK_TEXT(logged(), "time=2026-11-20T15:45:27.123Z level=error event=alone\n");
}
