/* What the worst packets of a hostile caller cost. Arguments: a kind, and how many packets; without
 * them the kinds are listed. bench/abuse.py counts the instructions of measured() with callgrind:
 * they do not depend on what else the machine does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abuse_kinds.h"
#include "base/attr.h"

static const struct abuse_kind *kind_at(size_t i)
{
    return i < abuse_kind_count ? &abuse_kinds[i] : &abuse_room_kinds[i - abuse_kind_count];
}

static const struct abuse_kind *find(const char *name)
{
    for (size_t i = 0; i < abuse_kind_count + abuse_room_kind_count; i++)
        if (strcmp(kind_at(i)->name, name) == 0)
            return kind_at(i);
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
        for (size_t i = 0; i < abuse_kind_count + abuse_room_kind_count; i++)
            printf("%s\t%s\n", kind_at(i)->name, kind_at(i)->what);
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
