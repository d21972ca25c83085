/* What the worst packets of a hostile caller cost. Arguments: a kind, and how many packets; without
 * them the kinds are listed. bench/abuse.py counts the instructions of measured() with callgrind:
 * they do not depend on what else the machine does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abuse_kinds.h"
#include "base/attr.h"

static const struct abuse_kind *find(const char *name)
{
    for (size_t i = 0; i < abuse_kind_count; i++)
        if (strcmp(abuse_kinds[i].name, name) == 0)
            return &abuse_kinds[i];
    return NULL;
}

/* Collection is switched on while this runs. */
__attribute__((noipa)) static void measured(const struct abuse_kind *kind, void *state)
{
    kind->give(state);
}

int main(int argc, char **argv)
{
    const struct abuse_kind *kind = argc > 2 ? find(argv[1]) : NULL;
    if (!kind) {
        for (size_t i = 0; i < abuse_kind_count; i++)
            printf("%s\t%s\n", abuse_kinds[i].name, abuse_kinds[i].what);
        return argc > 2;
    }
    int count = atoi(argv[2]);
    void *state = kind->begin();
    for (int i = 0; i < count; i++) {
        kind->prepare(state);
        measured(kind, state);
    }
    kind->end(state);
    return 0;
}
