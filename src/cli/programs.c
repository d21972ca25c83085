/* Finds earshot-voice: installed or built, it lies beside this binary. */
#include "cli/programs.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/mem.h"

char *program_own(void)
{
    char own[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", own, sizeof(own) - 1);
    own[len > 0 ? len : 0] = '\0';
    return mem_strdup(own);
}

char *program_voice(const struct config *config)
{
    const char *set = config_text(config, SET_VOICE_PROGRAM);
    if (*set)
        return mem_strdup(set);
    AUTO_MEM char *own = program_own();
    const char *slash = strrchr(own, '/');
    return mem_printf("%.*s/earshot-voice", slash ? (int)(slash - own) : 0, own);
}
