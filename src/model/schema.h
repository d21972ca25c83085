/* JSON Schemas (2020-12, as OpenAPI 3.1 has them) printed from field tables. Thread: any. */
#pragma once

#include "model/field.h"

enum schema_use {
    SCHEMA_ANSWER, /* what the API writes: component "Agent" */
    SCHEMA_BODY,   /* what a create reads: "AgentBody" */
    SCHEMA_PATCH,  /* what an update reads: "AgentPatch" */
};

/* The components that references have named so far. */
enum { SCHEMA_SET_MAX = 256 };
struct schema_set {
    struct {
        const struct field_table *table;
        enum schema_use use;
    } items[SCHEMA_SET_MAX];
    size_t count;
};

/* Writes {"$ref": ...} and remembers the component. */
void schema_ref(struct schema_set *set, const struct field_table *table, enum schema_use use,
                struct js_out *out);
/* Writes the schema of one row's value. */
void schema_value(struct schema_set *set, const struct field *row, enum schema_use use,
                  struct js_out *out);
/* Writes every remembered component as a member of the object that is open, those included that
 * turn up on the way. */
void schema_components(struct schema_set *set, struct js_out *out);
/* An example of a body: the rows that have one. */
void schema_example(const struct field_table *table, struct js_out *out);
bool schema_has_example(const struct field_table *table);
