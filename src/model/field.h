/* The field-table engine: one table a resource defaults, parses, merges, checks, masks, writes and
 * describes it. What a row cannot say is a named function in it.
 *
 *   JSON body -> field_create() / field_merge() -> struct -> field_write() -> JSON answer
 *   store     -> field_read()                   -> struct -> field_write(FIELD_VIEW_STORE) -> store
 *
 * Members: text is `const char *`, never NULL ("" when unset) but where FIELD_OPTIONAL says so, in
 * arena memory; numbers are int64_t or double; times are int64_t wall milliseconds (0: null); money
 * int64_t in 0.0001 USD; lists are {items, count}. Faults of input are data: all are collected,
 * with paths such as `voice.speed` or `params[2].key`. Thread: any; tables are constant. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/err.h"
#include "base/js.h"

struct catalog;

/* A list member of any resource; LIST_OF(struct x) declares one with typed items. */
struct any_list {
    void *items;
    size_t count;
};
#define LIST_OF(type)                                                                              \
    {                                                                                              \
        type *items;                                                                               \
        size_t count;                                                                              \
    }
struct text_list LIST_OF(const char *);

/* A name and its text: entries of FIELD_TEXT_MAP, an object whose values are strings. */
struct text_pair {
    const char *name, *text;
};
struct text_pair_list LIST_OF(struct text_pair);
const char *text_pairs_get(const struct text_pair_list *pairs, const char *name); /* or NULL */

enum field_kind {
    FIELD_TEXT,
    FIELD_INT,
    FIELD_REAL, /* NaN: null */
    FIELD_BOOL,
    FIELD_ENUM,  /* names[value] */
    FIELD_TIME,  /* 0: null */
    FIELD_MONEY, /* 0.0001 USD, a number of USD in JSON */
    FIELD_TEXTS, /* struct text_list */
    FIELD_TEXT_MAP,
    FIELD_OBJECT,     /* an embedded struct, merged field by field */
    FIELD_OBJECT_PTR, /* a pointer to a struct; NULL: null */
    FIELD_OBJECTS,    /* a list of structs, replaced as a whole */
    FIELD_MAP,        /* a list of structs whose first member is its key, an object in JSON */
    FIELD_JSON,       /* JSON text kept as it is */
};

enum field_flag {
    FIELD_REQUIRED = 1 << 0,    /* must be sent on create; has no default */
    FIELD_READ_ONLY = 1 << 1,   /* ignored in bodies */
    FIELD_CREATE_ONLY = 1 << 2, /* in the body of an update it is a fault */
    FIELD_KEPT = 1 << 3,        /* ignored in the body of an update */
    FIELD_WRITE_ONLY = 1 << 4,  /* never in an answer */
    FIELD_SECRET = 1 << 5,      /* text: masked in answers, sealed in the store */
    FIELD_NULL_EMPTY = 1 << 6,  /* "", 0, or the first value of an enum is null in answers */
    FIELD_OMIT_EMPTY = 1 << 7,  /* left out of answers when "", 0, false, NULL or NaN */
    FIELD_NO_STORE = 1 << 8,    /* not in the store's settings: computed, or kept elsewhere */
    FIELD_OBJECT_ONLY = 1 << 9, /* FIELD_JSON: must be a JSON object */
    FIELD_BY_HANDLER = 1 << 11, /* in bodies, but read by the handler, not by the table */
    FIELD_OPTIONAL = 1 << 12,   /* text: NULL when it was not sent or is null */
};

/* What is left out of, or shown only in, a view. Views are sets. */
enum field_view {
    FIELD_VIEW_API = 1 << 0,    /* every answer */
    FIELD_VIEW_LIST = 1 << 1,   /* an entry of a list */
    FIELD_VIEW_AGENT = 1 << 2,  /* for an agent's own key */
    FIELD_VIEW_STORE = 1 << 3,  /* what the store keeps: secrets sealed */
    FIELD_VIEW_REVEAL = 1 << 4, /* secrets in full, once */
    FIELD_VIEW_PAGE = 1 << 5,   /* a list of which a page was asked for */
};

struct fault_row {
    const char *field, *message;
};
/* The faults of one body; at most FAULTS_MAX are kept. */
enum { FAULTS_MAX = 1000 };
struct faults {
    struct arena *arena;
    struct fault_row *items;
    size_t count, cap;
};
void faults_add(struct faults *faults, const char *path, const char *format, ...) PRINTF(3, 4);

/* What a body is read with. forbidden: paths that a closed table does not know. */
struct field_context {
    struct arena *arena;
    const struct catalog *catalog;
    struct faults faults, forbidden;
    bool has_key; /* asked with a key of the workspace or agent, not by the session of a member */
};
void field_context_init(struct field_context *context, struct arena *arena,
                        const struct catalog *catalog);

struct field;
/* Looks at a member that was just set and adds faults, or brings it into form. `object` is the
 * struct that the row belongs to. */
typedef void field_check_fn(struct field_context *context, const struct field *row, void *object,
                            const char *path);

struct field {
    const char *name;
    const char *about; /* one sentence, for the OpenAPI document */
    enum field_kind kind;
    unsigned flags;
    unsigned hide, only; /* views: hidden in any of `hide`; shown in one of `only` (0: all) */
    /* The store keeps it in this column of its own, not in the settings: a new one needs a step in
     * store/schema.c, or SELECTs fail on a database that is there already. */
    const char *column;
    size_t offset;
    int64_t min, max; /* code points, value, or number of entries */
    double real_min, real_max;
    int64_t standard;          /* FIELD_INT, BOOL, ENUM, MONEY */
    double standard_real;      /* FIELD_REAL */
    const char *standard_text; /* FIELD_TEXT, FIELD_JSON; NULL: "" or "null" */
    size_t entry_max;          /* FIELD_TEXTS, FIELD_TEXT_MAP: code points of an entry */
    size_t entry_min;
    bool is_pattern_name;     /* maps: keys are variable names */
    const char *const *names; /* FIELD_ENUM; FIELD_TEXT, FIELD_TEXTS: the words that are allowed */
    size_t name_count;
    const struct field_table *table; /* nested */
    field_check_fn *check;
    const char *format;  /* OpenAPI: uri, uuid, date */
    const char *pattern; /* OpenAPI: of the text or of each entry */
    const char *example; /* OpenAPI: JSON text */
};

struct field_table {
    const char *name; /* of the OpenAPI component */
    const char *about;
    size_t size;
    const struct field *rows;
    size_t count;
    bool is_closed;        /* an unknown name goes to context->forbidden */
    field_check_fn *check; /* of the whole; row is NULL */
};

#define FIELD_TABLE(symbol, type, name_, rows_, ...)                                               \
    const struct field_table symbol = {.name = (name_),                                            \
                                       .size = sizeof(type),                                       \
                                       .rows = (rows_),                                            \
                                       .count = ARRAY_LEN(rows_),                                  \
                                       __VA_ARGS__}

/* The offset of a member, and at compile time the claim that it has the type the row says. */
#define FIELD_AT(T, m, want)                                                                       \
    (offsetof(T, m) +                                                                              \
     0 * sizeof(struct {                                                                           \
         _Static_assert(__builtin_types_compatible_p(__typeof__(((T *)0)->m), want),               \
                        #T "." #m " is not " #want);                                               \
         char unused;                                                                              \
     }))
#define ROW_TEXT(T, m, key, ...)                                                                   \
    {                                                                                              \
        .name = (key), .kind = FIELD_TEXT, .offset = FIELD_AT(T, m, const char *), __VA_ARGS__     \
    }
#define ROW_INT(T, m, key, ...)                                                                    \
    {                                                                                              \
        .name = (key), .kind = FIELD_INT, .offset = FIELD_AT(T, m, int64_t), __VA_ARGS__           \
    }
#define ROW_REAL(T, m, key, ...)                                                                   \
    {                                                                                              \
        .name = (key), .kind = FIELD_REAL, .offset = FIELD_AT(T, m, double), __VA_ARGS__           \
    }
#define ROW_BOOL(T, m, key, ...)                                                                   \
    {                                                                                              \
        .name = (key), .kind = FIELD_BOOL, .offset = FIELD_AT(T, m, bool), __VA_ARGS__             \
    }
#define ROW_TIME(T, m, key, ...)                                                                   \
    {                                                                                              \
        .name = (key), .kind = FIELD_TIME, .offset = FIELD_AT(T, m, int64_t), __VA_ARGS__          \
    }
#define ROW_MONEY(T, m, key, ...)                                                                  \
    {                                                                                              \
        .name = (key), .kind = FIELD_MONEY, .offset = FIELD_AT(T, m, int64_t), __VA_ARGS__         \
    }
#define ROW_ENUM(T, m, key, type, names_, ...)                                                     \
    {                                                                                              \
        .name = (key), .kind = FIELD_ENUM, .offset = FIELD_AT(T, m, type), .names = (names_),      \
        .name_count = ARRAY_LEN(names_), __VA_ARGS__                                               \
    }
#define ROW_TEXTS(T, m, key, ...)                                                                  \
    {                                                                                              \
        .name = (key), .kind = FIELD_TEXTS, .offset = FIELD_AT(T, m, struct text_list),            \
        __VA_ARGS__                                                                                \
    }
#define ROW_TEXT_MAP(T, m, key, ...)                                                               \
    {                                                                                              \
        .name = (key), .kind = FIELD_TEXT_MAP, .offset = FIELD_AT(T, m, struct text_pair_list),    \
        __VA_ARGS__                                                                                \
    }
#define ROW_OBJECT(T, m, key, type, table_, ...)                                                   \
    {                                                                                              \
        .name = (key), .kind = FIELD_OBJECT, .offset = FIELD_AT(T, m, type), .table = (table_),    \
        __VA_ARGS__                                                                                \
    }
#define ROW_OBJECT_PTR(T, m, key, type, table_, ...)                                               \
    {                                                                                              \
        .name = (key), .kind = FIELD_OBJECT_PTR, .offset = FIELD_AT(T, m, type *),                 \
        .table = (table_), __VA_ARGS__                                                             \
    }
#define ROW_OBJECTS(T, m, key, type, table_, ...)                                                  \
    {                                                                                              \
        .name = (key), .kind = FIELD_OBJECTS, .offset = FIELD_AT(T, m, type), .table = (table_),   \
        __VA_ARGS__                                                                                \
    }
#define ROW_MAP(T, m, key, type, table_, ...)                                                      \
    {                                                                                              \
        .name = (key), .kind = FIELD_MAP, .offset = FIELD_AT(T, m, type), .table = (table_),       \
        __VA_ARGS__                                                                                \
    }
#define ROW_JSON(T, m, key, ...)                                                                   \
    {                                                                                              \
        .name = (key), .kind = FIELD_JSON, .offset = FIELD_AT(T, m, const char *), __VA_ARGS__     \
    }

/* Sets every member that a row names to its default (zeroed memory is not enough: texts are ""). */
void field_defaults(const struct field_table *table, void *object);

/* Create: defaults, then what the body sends; null counts as left out; what is required and absent
 * is a fault. Merge (PATCH, PUT): only what is sent; null restores the default or is a fault; a
 * masked secret leaves the stored one. `body` that is no object is a fault at `path` ("" at the
 * top). Text is copied into context->arena. */
void field_create(const struct field_table *table, void *object, const struct js *body,
                  struct field_context *context, const char *path);
void field_merge(const struct field_table *table, void *object, const struct js *body,
                 struct field_context *context, const char *path);

/* Appends the object as JSON. master_key: for FIELD_VIEW_STORE, seals secrets (context
 * "<table>.<field>"); NULL in all other views. */
void field_write(const struct field_table *table, const void *object, unsigned views,
                 const uint8_t *master_key, struct js_out *out);
/* The same, but the list `last` comes after all other members, and is left open with the object:
 * its entries, js_out_array_end() and js_out_object_end() are the caller's, in its own time. */
void field_write_open(const struct field_table *table, const void *object, unsigned views,
                      const char *last, struct js_out *out);
/* The store view as text in the arena. */
const char *field_store_text(const struct field_table *table, const void *object,
                             const uint8_t *master_key, struct arena *arena);

/* Reads back what FIELD_VIEW_STORE wrote: defaults first, then every stored member (unknown ones
 * ignored, bounds not checked). ERR_INVALID: no JSON, or a sealed secret does not open. */
enum err field_read(const struct field_table *table, void *object, const char *json, size_t len,
                    const uint8_t *master_key, struct arena *arena) MUST_USE;

/* A copy whose texts, lists and nested parts live in the arena. */
void field_copy(const struct field_table *table, const void *from, void *to, struct arena *arena);

/* A member as the one column that keeps it: a number, or text (an enum's word, a list of texts as
 * JSON). */
struct field_cell {
    int64_t number;
    const char *text; /* NULL: null */
};
bool field_has_text_cell(const struct field *row);
struct field_cell field_cell(const struct field *row, const void *object, struct arena *arena);
/* The text is borrowed as long as the object lives. False: a word that is none of the row's. */
bool field_set_cell(const struct field *row, void *object, const struct field_cell *cell,
                    struct arena *arena) MUST_USE;

/* "********" and the last 4 characters (of 8 or fewer: none), "" for "". */
const char *secret_mask(const char *secret, struct arena *arena);
bool secret_is_masked(const char *text);
