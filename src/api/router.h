/* Finds the route of a method and path in the table of routes. Thread: any; constant. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "api/route.h"

extern const struct route routes[];
extern const size_t route_count;

struct route_match {
    const struct route *route; /* NULL: no path (allow is "") or no method fits */
    char params[ROUTE_PARAMS_MAX][64];
    char allow[64];    /* methods of the path, "" when there is no such path */
    bool is_for_pages; /* the path is, by whatever method */
};
/* HEAD finds the route of GET. An id over 63 characters is no path at all. */
void route_find(const char *method, const char *path, struct route_match *out);
