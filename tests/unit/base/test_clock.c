#include "base/clock.h"

#include "base/attr.h"
#include "test.h"

TEST(clock_goes_on)
{
    int64_t a = clock_now_us(), b = clock_now_us();
    CHECK(a > 0 && b >= a);
    CHECK(clock_wall_ms() > 1700000000000);
}

TEST(clock_can_be_simulated)
{
    clock_fake_set(5, 7);
    CHECK_INT(clock_now_us(), 5);
    CHECK_INT(clock_wall_ms(), 7);
    clock_fake_off();
    CHECK(clock_wall_ms() > 1700000000000);
}

TEST(clock_writes_iso)
{
    char iso[CLOCK_ISO_SIZE];
    clock_iso(1795189527123, iso);
    CHECK_TEXT(iso, "2026-11-20T15:45:27.123Z");
    clock_iso(0, iso);
    CHECK_TEXT(iso, "1970-01-01T00:00:00.000Z");
    clock_iso(-1, iso);
    CHECK_TEXT(iso, "1969-12-31T23:59:59.999Z");
}

TEST(clock_parses_iso)
{
    static const struct {
        const char *text;
        int64_t wall_ms;
    } good[] = {
        {"2026-11-20T15:45:27.123Z", 1795189527123},
        {"2026-11-20T15:45:27Z", 1795189527000},
        {"2026-11-20T15:45:27.1Z", 1795189527100},
        {"2026-11-20T15:45:27.123456Z", 1795189527123},
        {"2026-11-20T21:15:27.123+05:30", 1795189527123},
        {"1970-01-01T00:00:00.000Z", 0},
        {"2024-02-29T00:00:00Z", 1709164800000},
    };
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        int64_t got = -1;
        CHECK(clock_parse_iso(good[i].text, &got));
        CHECK_INT(got, good[i].wall_ms);
    }
    static const char *const bad[] = {
        "",
        "2026-11-20",
        "2026-11-20T15:45:27",
        "2026-11-20 15:45:27Z",
        "2026-11-20T15:45:27.Z",
        "2026-11-20T15:45:27ZZ",
        "2026-13-20T15:45:27Z",
        "2026-02-29T15:45:27Z",
        "2026-11-20T24:45:27Z",
        "2026-11-20T15:60:27Z",
        "2026-11-20T15:45:27+0530",
        "2026-11-20T15:45:27+05:",
        "26-11-20T15:45:27Z",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        int64_t got = -1;
        if (clock_parse_iso(bad[i], &got))
            test_fail(__FILE__, __LINE__, "accepted: %s", bad[i]);
        CHECK_INT(got, -1);
    }
}
