/* The metrics: rows of atomics. A label's value takes a slot the first time that it is seen; slots
 * are never given back, so that counters only rise. */
#include "base/metrics.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/attr.h"
#include "base/mem.h"

enum metric_kind { COUNTER, GAUGE, HISTOGRAM };

enum {
    LABELS_MAX = 64,
    OTHER = LABELS_MAX - 1, /* the slot of all values that found none */
};

/* Upper bounds of a histogram: from the half millisecond of a warm read to a stuck client. */
static const int64_t bounds_us[] = {500,    1000,   2500,   5000,    10000,   25000,   50000,
                                    100000, 250000, 500000, 1000000, 2500000, 10000000};
enum { BOUNDS = ARRAY_LEN(bounds_us) };

static const struct row {
    enum metric_kind kind;
    const char *name, *label, *help;
} rows[METRIC_COUNT] = {
#define METRIC(id, kind, name, label, help) {kind, name, label, help},
#include "base/metrics.def"
#undef METRIC
};

struct histogram {
    _Atomic int64_t buckets[BOUNDS + 1], sum_us, count;
};

/* Slots fill from the front; slot 0 serves a metric without a label. */
struct cells {
    const char *_Atomic names[LABELS_MAX];
    _Atomic int64_t values[LABELS_MAX];
    struct histogram *_Atomic histograms[LABELS_MAX];
};

static struct cells all[METRIC_COUNT];
static pthread_mutex_t naming = PTHREAD_MUTEX_INITIALIZER; /* taken to make a slot only */

static size_t find_slot(struct cells *cells, const char *value, size_t *out_free)
{
    size_t i = 0;
    for (; i < OTHER; i++) {
        const char *name = atomic_load_explicit(&cells->names[i], memory_order_acquire);
        if (!name)
            break;
        if (strcmp(name, value) == 0)
            return i;
    }
    *out_free = i;
    return OTHER + 1;
}

static size_t slot_of(struct cells *cells, const char *value)
{
    size_t free_slot = 0, slot = find_slot(cells, value, &free_slot);
    if (slot <= OTHER)
        return slot;
    pthread_mutex_lock(&naming);
    slot = find_slot(cells, value, &free_slot);
    if (slot > OTHER) {
        slot = free_slot;
        if (!atomic_load(&cells->names[slot]))
            atomic_store_explicit(&cells->names[slot], mem_strdup(slot == OTHER ? "other" : value),
                                  memory_order_release);
    }
    pthread_mutex_unlock(&naming);
    return slot;
}

static void add(_Atomic int64_t *to, int64_t n)
{
    atomic_fetch_add_explicit(to, n, memory_order_relaxed);
}

void metric_add(enum metric metric, int64_t n)
{
    add(&all[metric].values[0], n);
}

void metric_set(enum metric metric, int64_t value)
{
    atomic_store_explicit(&all[metric].values[0], value, memory_order_relaxed);
}

void metric_add_label(enum metric metric, const char *value, int64_t n)
{
    add(&all[metric].values[slot_of(&all[metric], value)], n);
}

void metric_set_label(enum metric metric, const char *value, int64_t n)
{
    atomic_store_explicit(&all[metric].values[slot_of(&all[metric], value)], n,
                          memory_order_relaxed);
}

static struct histogram *histogram_at(struct cells *cells, size_t slot)
{
    struct histogram *histogram = atomic_load(&cells->histograms[slot]);
    if (histogram)
        return histogram;
    struct histogram *made = mem_new(struct histogram);
    if (atomic_compare_exchange_strong(&cells->histograms[slot], &histogram, made))
        return made;
    mem_free(made);
    return histogram;
}

static void observe(enum metric metric, size_t slot, int64_t us)
{
    struct histogram *histogram = histogram_at(&all[metric], slot);
    size_t bucket = 0;
    while (bucket < BOUNDS && us > bounds_us[bucket])
        bucket++;
    add(&histogram->buckets[bucket], 1);
    add(&histogram->sum_us, us);
    add(&histogram->count, 1);
}

void metric_observe_us(enum metric metric, int64_t us)
{
    observe(metric, 0, us);
}

void metric_observe_label_us(enum metric metric, const char *value, int64_t us)
{
    observe(metric, slot_of(&all[metric], value), us);
}

int64_t metric_read(enum metric metric)
{
    int64_t sum = 0;
    for (size_t i = 0; i < LABELS_MAX; i++)
        sum += atomic_load_explicit(&all[metric].values[i], memory_order_relaxed);
    return sum;
}

static void print_series(struct buf *out, const struct row *row, const char *suffix,
                         const char *value, const char *le)
{
    buf_printf(out, "%s%s", row->name, suffix);
    if (!value && !le)
        return;
    buf_append_char(out, '{');
    if (value)
        buf_printf(out, "%s=\"%s\"%s", row->label, value, le ? "," : "");
    if (le)
        buf_printf(out, "le=\"%s\"", le);
    buf_append_char(out, '}');
}

static void print_histogram(struct buf *out, const struct row *row, struct histogram *histogram,
                            const char *value)
{
    int64_t below = 0;
    for (size_t i = 0; i <= BOUNDS; i++) {
        AUTO_MEM char *le =
            i < BOUNDS ? mem_printf("%g", (double)bounds_us[i] / 1e6) : mem_strdup("+Inf");
        below += atomic_load(&histogram->buckets[i]);
        print_series(out, row, "_bucket", value, le);
        buf_printf(out, " %" PRId64 "\n", below);
    }
    print_series(out, row, "_sum", value, NULL);
    buf_printf(out, " %.6f\n", (double)atomic_load(&histogram->sum_us) / 1e6);
    print_series(out, row, "_count", value, NULL);
    buf_printf(out, " %" PRId64 "\n", below);
}

static void print_cell(struct buf *out, const struct row *row, struct cells *cells, size_t slot,
                       const char *value)
{
    struct histogram *histogram = atomic_load(&cells->histograms[slot]);
    if (histogram)
        print_histogram(out, row, histogram, value);
    if (row->kind == HISTOGRAM)
        return;
    print_series(out, row, "", value, NULL);
    buf_printf(out, " %" PRId64 "\n", atomic_load(&cells->values[slot]));
}

void metrics_print(struct buf *out)
{
    static const char *const kinds[] = {"counter", "gauge", "histogram"};
    for (size_t m = 0; m < METRIC_COUNT; m++) {
        const struct row *row = &rows[m];
        buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", row->name, row->help, row->name,
                   kinds[row->kind]);
        if (!row->label)
            print_cell(out, row, &all[m], 0, NULL);
        for (size_t i = 0; row->label && i < LABELS_MAX; i++) {
            const char *value = atomic_load(&all[m].names[i]);
            if (value)
                print_cell(out, row, &all[m], i, value);
        }
    }
}
