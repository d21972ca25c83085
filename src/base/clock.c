/* The only reader of clocks, and the switch to simulated time. */
#include "base/clock.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifdef EARSHOT_STEPPED_CLOCK
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

/* Any thread reads these; a simulation writes them from its only thread. */
static _Atomic bool is_fake;
static _Atomic int64_t fake_now_us, fake_wall_ms, wall_step_ms;

static int64_t read_us(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

#ifdef EARSHOT_STEPPED_CLOCK
/* Sanitizers' builds only: the calendar is set by whoever writes eight bytes, milliseconds in this
 * machine's order, to the file that EARSHOT_TEST_CLOCK names. tests/chaos does. */
static const _Atomic int64_t *stepped_by;

__attribute__((constructor)) static void map_step(void)
{
    const char *path = getenv("EARSHOT_TEST_CLOCK");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *step = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    stepped_by = step == MAP_FAILED ? NULL : step;
}

static int64_t step_ms(void)
{
    return stepped_by ? atomic_load_explicit(stepped_by, memory_order_relaxed) : 0;
}
#else
static int64_t step_ms(void)
{
    return 0;
}
#endif

int64_t clock_now_us(void)
{
    if (atomic_load_explicit(&is_fake, memory_order_relaxed))
        return atomic_load(&fake_now_us);
    return read_us(CLOCK_MONOTONIC);
}

int64_t clock_wall_ms(void)
{
    if (atomic_load_explicit(&is_fake, memory_order_relaxed))
        return atomic_load(&fake_wall_ms);
    return read_us(CLOCK_REALTIME) / 1000 + step_ms() +
           atomic_load_explicit(&wall_step_ms, memory_order_relaxed);
}

void clock_step_wall(int64_t ms)
{
    atomic_fetch_add(&wall_step_ms, ms);
}

int64_t clock_cpu_us(void)
{
    return read_us(CLOCK_THREAD_CPUTIME_ID);
}

void clock_fake_set(int64_t now_us, int64_t wall_ms)
{
    atomic_store(&fake_now_us, now_us);
    atomic_store(&fake_wall_ms, wall_ms);
    atomic_store(&is_fake, true);
}

void clock_fake_off(void)
{
    atomic_store(&is_fake, false);
}

void clock_iso(int64_t wall_ms, char out[CLOCK_ISO_SIZE])
{
    int64_t ms = (wall_ms % 1000 + 1000) % 1000; /* also before 1970 */
    time_t seconds = (time_t)((wall_ms - ms) / 1000);
    struct tm tm;
    if (!gmtime_r(&seconds, &tm) || tm.tm_year < -1900 || tm.tm_year > 8099)
        memset(&tm, 0, sizeof(tm));
    char text[96]; /* what the compiler must assume of seven integers */
    snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900,
             tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)ms);
    memcpy(out, text, CLOCK_ISO_SIZE - 1);
    out[CLOCK_ISO_SIZE - 1] = '\0';
}

/* Reads as many digits as the pattern has 'd's; other characters of the pattern stand for
 * themselves. */
static const char *read_fields(const char *text, const char *pattern, int *fields)
{
    int *field = fields - 1;
    for (char before = '\0'; *pattern; before = *pattern++, text++) {
        if (*pattern != 'd') {
            if (*text != *pattern)
                return NULL;
            continue;
        }
        if (!isdigit((unsigned char)*text))
            return NULL;
        if (before != 'd')
            *++field = 0;
        *field = *field * 10 + (*text - '0');
    }
    return text;
}

static const char *read_fraction_ms(const char *text, int64_t *out_ms)
{
    int64_t ms = 0;
    int scale = 100;
    if (*text == '.') {
        if (!isdigit((unsigned char)*++text))
            return NULL;
        for (; isdigit((unsigned char)*text); text++, scale /= 10)
            ms += (*text - '0') * scale;
    }
    *out_ms = ms;
    return text;
}

static bool read_zone_s(const char *text, int64_t *out_s)
{
    *out_s = 0;
    if (strcmp(text, "Z") == 0)
        return true;
    if (*text != '+' && *text != '-')
        return false;
    int zone[2];
    const char *end = read_fields(text + 1, "dd:dd", zone);
    if (!end || *end || zone[0] > 23 || zone[1] > 59)
        return false;
    *out_s = (zone[0] * 3600 + zone[1] * 60) * (*text == '-' ? -1 : 1);
    return true;
}

bool clock_parse_iso(const char *text, int64_t *out_wall_ms)
{
    int f[6];
    int64_t ms, zone_s;
    const char *rest = read_fields(text, "dddd-dd-ddTdd:dd:dd", f);
    rest = rest ? read_fraction_ms(rest, &ms) : NULL;
    if (!rest || !read_zone_s(rest, &zone_s))
        return false;
    struct tm tm = {.tm_year = f[0] - 1900,
                    .tm_mon = f[1] - 1,
                    .tm_mday = f[2],
                    .tm_hour = f[3],
                    .tm_min = f[4],
                    .tm_sec = f[5]};
    struct tm normal = tm;
    int64_t seconds = timegm(&normal);
    if (normal.tm_mon != tm.tm_mon || normal.tm_mday != tm.tm_mday ||
        normal.tm_hour != tm.tm_hour || normal.tm_min != tm.tm_min || normal.tm_sec != tm.tm_sec)
        return false; /* 30 February, 25 o'clock */
    *out_wall_ms = (seconds - zone_s) * 1000 + ms;
    return true;
}
