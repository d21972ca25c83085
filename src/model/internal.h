/* What the parts of the field engine share. */
#pragma once

#include <string.h>

#include "model/field.h"

static inline void *field_member(const struct field *row, const void *object)
{
    return (char *)(uintptr_t)object + row->offset;
}

static inline const char *field_text(const struct field *row, const void *object)
{
    const char *text = *(const char *const *)field_member(row, object);
    return text ? text : "";
}

/* Any list member, whatever its items; copied, so that no rule of aliasing is bent. */
static inline struct any_list field_list(const struct field *row, const void *object)
{
    struct any_list list;
    memcpy(&list, field_member(row, object), sizeof list);
    return list;
}

static inline void field_list_set(const struct field *row, void *object, void *items, size_t count)
{
    struct any_list list = {.items = items, .count = count};
    memcpy(field_member(row, object), &list, sizeof list);
}

static inline int field_enum(const struct field *row, const void *object)
{
    int value;
    memcpy(&value, field_member(row, object), sizeof value);
    return value;
}

/* The allowed entries of a list of event types (model/event.h). */
#define SUBSCRIBABLE .names = subscribable_names, .name_count = EVENT_TYPE_COUNT + 1

/* The context that a sealed secret is bound to: "Tool.authToken". */
void field_secret_context(const struct field_table *table, const struct field *row, char *out,
                          size_t size);

/* One row back to its default. */
void field_default(const struct field *row, void *object);
