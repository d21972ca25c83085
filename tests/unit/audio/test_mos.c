#include "audio/mos.h"

#include "test.h"

/* G.107, annex B: a rating of 93.2 is a score of 4.41; its delay term takes 0.96 of it here. */
TEST(mos_is_best_without_loss_and_jitter)
{
    CHECK(mos_of(0, 0) > 4.3 && mos_of(0, 0) < 4.41);
}

TEST(mos_falls_with_loss_and_jitter_and_stays_a_score)
{
    double last = mos_of(0, 0);
    for (int percent = 1; percent <= 100; percent++) {
        double score = mos_of(percent / 100.0, 0);
        CHECK(score <= last && score >= 1);
        last = score;
    }
    CHECK(mos_of(0.01, 50) < mos_of(0.01, 5));
    CHECK(mos_of(1, 100000) == 1);
}
