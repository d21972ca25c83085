/* A speech program that each line ends: it tells whose it is, as earshot-voice does, and dies of a
 * fault of its own ("die") or of a signal from without. The workspace it tells is never true. */
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/attr.h"
#include "vendor/voice_wire.h"

enum { MOST_BYTES = 64 * 1024 };

static void die(const struct voice_frame *line)
{
    AUTO_BUF out = BUF_INIT(MOST_BYTES);
    struct voice_frame saying = {VOICE_SAYING, line->session, line->gen, "usr_none", 8};
    bool is_told = voice_frame_write(&saying, &out) == OK &&
                   write(STDOUT_FILENO, out.data, out.len) == (ssize_t)out.len;
    bool is_fault = line->len == 3 && memcmp(line->body, "die", 3) == 0;
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    raise(is_told && is_fault ? SIGABRT : SIGKILL);
}

int main(void)
{
    AUTO_BUF in = BUF_INIT(MOST_BYTES);
    char data[4096];
    for (;;) {
        ssize_t got = read(STDIN_FILENO, data, sizeof(data));
        if (got < 0) { /* the descriptor does not block */
            usleep(1000);
            continue;
        }
        if (got == 0 || buf_append(&in, data, (size_t)got) != OK)
            return 0;
        struct voice_frame frame;
        size_t used = 0;
        while (voice_frame_read(in.data, in.len, &frame, &used) == OK) {
            if (frame.kind == VOICE_SPEAK)
                die(&frame);
            buf_consume(&in, used);
        }
    }
}
