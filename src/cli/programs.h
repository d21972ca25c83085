/* Programs that the service starts. Thread: any. */
#pragma once

struct config;

/* The path of earshot-voice: as set, else beside this binary. mem_free. */
char *program_voice(const struct config *config);
char *program_own(void); /* this binary's path */
