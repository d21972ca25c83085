/* The kinds of field that are one number: integers, reals, booleans, enums, times, money.
 * Thread: any. */
#include <math.h>

#include "base/clock.h"
#include "base/enum.h"
#include "model/internal.h"

static int64_t *int_of(const struct field *row, const void *object)
{
    return field_member(row, object);
}

static void set_int(const struct field *row, void *object)
{
    *int_of(row, object) = row->standard;
}

static bool is_zero(const struct field *row, const void *object)
{
    return *int_of(row, object) == 0;
}

static struct field_cell int_cell(const struct field *row, const void *object, struct arena *arena)
{
    (void)arena;
    return (struct field_cell){.number = *int_of(row, object)};
}

static bool set_int_cell(const struct field *row, void *object, const struct field_cell *cell,
                         struct arena *arena)
{
    (void)arena;
    *int_of(row, object) = cell->number;
    return true;
}

static bool is_trusted(const struct reading *at)
{
    return at->mode == PARSE_STORED;
}

/* Integers. */

static bool parse_int(const struct reading *at, const struct js *js)
{
    double real = js_real(js, 0);
    bool is_whole = js_type(js) == JS_INT ||
                    (js_type(js) == JS_REAL && floor(real) == real && fabs(real) < 9e15);
    if (!is_whole)
        return reading_fault(at, "must be an integer");
    int64_t value = js_type(js) == JS_INT ? js_int(js, 0) : (int64_t)real;
    if (!is_trusted(at) && (value < at->row->min || value > at->row->max))
        return reading_fault(at, "must be %lld to %lld", (long long)at->row->min,
                             (long long)at->row->max);
    *int_of(at->row, at->object) = value;
    return true;
}

static void write_int(const struct writer *w, const struct field *row, const void *object)
{
    js_out_int(w->out, *int_of(row, object));
}

static void write_range(const struct schema_place *at, double min, double max)
{
    if (at->use == SCHEMA_ANSWER)
        return;
    schema_number(at->out, "minimum", min);
    schema_number(at->out, "maximum", max);
}

static void write_int_bounds(const struct schema_place *at, const struct field *row)
{
    write_range(at, (double)row->min, (double)row->max);
}

static void write_int_default(const struct field *row, struct js_out *out)
{
    if (row->standard >= row->min) /* under it: it stands for something else */
        schema_int(out, "default", row->standard);
}

const struct kind kind_int = {.type = "integer",
                              .set_default = set_int,
                              .parse = parse_int,
                              .is_empty = is_zero,
                              .write = write_int,
                              .cell = int_cell,
                              .set_cell = set_int_cell,
                              .write_bounds = write_int_bounds,
                              .write_default = write_int_default};

/* Reals: NaN is null. */

static double *real_of(const struct field *row, const void *object)
{
    return field_member(row, object);
}

static void set_real(const struct field *row, void *object)
{
    *real_of(row, object) = row->standard_real;
}

static bool parse_real(const struct reading *at, const struct js *js)
{
    if (js_type(js) != JS_INT && js_type(js) != JS_REAL)
        return reading_fault(at, "must be a number");
    double value = js_real(js, 0);
    if (!is_trusted(at) && !(value >= at->row->real_min && value <= at->row->real_max))
        return reading_fault(at, "must be %g to %g", at->row->real_min, at->row->real_max);
    *real_of(at->row, at->object) = value;
    return true;
}

static bool is_nan(const struct field *row, const void *object)
{
    return isnan(*real_of(row, object));
}

static void write_real(const struct writer *w, const struct field *row, const void *object)
{
    if (is_nan(row, object))
        js_out_null(w->out);
    else
        js_out_real(w->out, *real_of(row, object));
}

static void write_real_bounds(const struct schema_place *at, const struct field *row)
{
    write_range(at, row->real_min, row->real_max);
}

static void write_real_default(const struct field *row, struct js_out *out)
{
    if (!isnan(row->standard_real))
        schema_number(out, "default", row->standard_real);
}

const struct kind kind_real = {.type = "number",
                               .set_default = set_real,
                               .parse = parse_real,
                               .is_empty = is_nan,
                               .write = write_real,
                               .write_bounds = write_real_bounds,
                               .write_default = write_real_default};

/* Money: 0.0001 USD, a number of USD in JSON. */

static bool parse_money(const struct reading *at, const struct js *js)
{
    if (js_type(js) != JS_INT && js_type(js) != JS_REAL)
        return reading_fault(at, "must be a number");
    double usd4 = js_real(js, 0) * 10000, min = (double)at->row->min, max = (double)at->row->max;
    bool is_finite = usd4 >= -9e15 && usd4 <= 9e15;
    if (!is_finite || (!is_trusted(at) && (usd4 < min || usd4 > max)))
        return reading_fault(at, "must be %g to %g", min / 10000, max / 10000);
    *int_of(at->row, at->object) = llround(usd4);
    return true;
}

static void write_money(const struct writer *w, const struct field *row, const void *object)
{
    js_out_usd4(w->out, *int_of(row, object));
}

static void write_money_bounds(const struct schema_place *at, const struct field *row)
{
    write_range(at, (double)row->min / 10000, (double)row->max / 10000);
}

static void write_money_default(const struct field *row, struct js_out *out)
{
    js_out_key(out, "default");
    js_out_usd4(out, row->standard);
}

const struct kind kind_money = {.type = "number",
                                .set_default = set_int,
                                .parse = parse_money,
                                .is_empty = is_zero,
                                .write = write_money,
                                .cell = int_cell,
                                .set_cell = set_int_cell,
                                .write_bounds = write_money_bounds,
                                .write_default = write_money_default};

/* Booleans. */

static bool *bool_of(const struct field *row, const void *object)
{
    return field_member(row, object);
}

static void set_bool(const struct field *row, void *object)
{
    *bool_of(row, object) = row->standard != 0;
}

static bool parse_bool(const struct reading *at, const struct js *js)
{
    if (js_type(js) != JS_BOOL)
        return reading_fault(at, "must be true or false");
    *bool_of(at->row, at->object) = js_bool(js, false);
    return true;
}

static bool is_false(const struct field *row, const void *object)
{
    return !*bool_of(row, object);
}

static void write_bool(const struct writer *w, const struct field *row, const void *object)
{
    js_out_bool(w->out, *bool_of(row, object));
}

static struct field_cell bool_cell(const struct field *row, const void *object, struct arena *arena)
{
    (void)arena;
    return (struct field_cell){.number = *bool_of(row, object)};
}

static bool set_bool_cell(const struct field *row, void *object, const struct field_cell *cell,
                          struct arena *arena)
{
    (void)arena;
    *bool_of(row, object) = cell->number != 0;
    return true;
}

static void write_bool_default(const struct field *row, struct js_out *out)
{
    js_out_key(out, "default");
    js_out_bool(out, row->standard != 0);
}

const struct kind kind_bool = {.type = "boolean",
                               .set_default = set_bool,
                               .parse = parse_bool,
                               .is_empty = is_false,
                               .write = write_bool,
                               .cell = bool_cell,
                               .set_cell = set_bool_cell,
                               .write_default = write_bool_default};

/* Enums: names[value]. */

static int enum_of(const struct field *row, const void *object)
{
    int value;
    memcpy(&value, field_member(row, object), sizeof(value));
    return value;
}

static void set_enum(const struct field *row, void *object, int value)
{
    memcpy(field_member(row, object), &value, sizeof(value));
}

static void set_enum_default(const struct field *row, void *object)
{
    set_enum(row, object, (int)row->standard);
}

static bool parse_enum(const struct reading *at, const struct js *js)
{
    int value = enum_find(at->row->names, at->row->name_count, js_text(js));
    if (value < 0)
        return reading_word_fault(at);
    set_enum(at->row, at->object, value);
    return true;
}

static bool is_first(const struct field *row, const void *object)
{
    return enum_of(row, object) == 0;
}

static void write_enum(const struct writer *w, const struct field *row, const void *object)
{
    js_out_text(w->out, row->names[enum_of(row, object)]);
}

static struct field_cell enum_cell(const struct field *row, const void *object, struct arena *arena)
{
    (void)arena;
    return (struct field_cell){.text = row->names[enum_of(row, object)]};
}

static bool set_enum_cell(const struct field *row, void *object, const struct field_cell *cell,
                          struct arena *arena)
{
    (void)arena;
    int value = enum_find(row->names, row->name_count, cell->text);
    if (value >= 0)
        set_enum(row, object, value);
    return value >= 0;
}

static void write_enum_bounds(const struct schema_place *at, const struct field *row)
{
    schema_names(row, schema_is_nullable(row, at->use), at->out);
}

static void write_enum_default(const struct field *row, struct js_out *out)
{
    schema_text(out, "default", row->names[row->standard]);
}

const struct kind kind_enum = {.type = "string",
                               .set_default = set_enum_default,
                               .parse = parse_enum,
                               .is_empty = is_first,
                               .write = write_enum,
                               .is_text_cell = true,
                               .cell = enum_cell,
                               .set_cell = set_enum_cell,
                               .write_bounds = write_enum_bounds,
                               .write_default = write_enum_default};

/* Times: wall milliseconds, 0 is null. */

static bool parse_time(const struct reading *at, const struct js *js)
{
    int64_t wall_ms;
    if (!js_text(js) || !clock_parse_iso(js_text(js), &wall_ms))
        return reading_fault(at, "must be an ISO 8601 time");
    *int_of(at->row, at->object) = wall_ms;
    return true;
}

static void write_time(const struct writer *w, const struct field *row, const void *object)
{
    js_out_time(w->out, *int_of(row, object));
}

static void write_time_bounds(const struct schema_place *at, const struct field *row)
{
    (void)row;
    schema_text(at->out, "format", "date-time");
}

const struct kind kind_time = {.type = "string",
                               .set_default = set_int,
                               .parse = parse_time,
                               .is_empty = is_zero,
                               .write = write_time,
                               .cell = int_cell,
                               .set_cell = set_int_cell,
                               .write_bounds = write_time_bounds};
