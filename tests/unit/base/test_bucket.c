#include "base/bucket.h"

#include "test.h"

TEST(a_bucket_gives_what_it_holds_and_then_what_comes_back)
{
    struct bucket bucket = {0};
    int64_t now_us = 5000000;
    for (int i = 0; i < 5; i++)
        CHECK(bucket_take(&bucket, 1000, 5, 1, now_us));
    CHECK(!bucket_take(&bucket, 1000, 5, 1, now_us + 999));
    CHECK(bucket_take(&bucket, 1000, 5, 1, now_us + 1000));
    CHECK(!bucket_take(&bucket, 1000, 5, 1, now_us + 1000));
    now_us += 1000000; /* nobody saves up */
    CHECK(!bucket_take(&bucket, 1000, 5, 6, now_us));
    CHECK(bucket_take(&bucket, 1000, 5, 5, now_us));
    CHECK(!bucket_take(&bucket, 1000, 5, 1, now_us));
}
