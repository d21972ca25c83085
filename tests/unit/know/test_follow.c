/* Which questions are searched with the one before them. */
#include <string.h>

#include "know/follow.h"
#include "test.h"

TEST(question_that_goes_on_is_searched_with_the_one_before)
{
    static const struct {
        const char *before, *question;
        bool goes_on;
    } rows[] = {
        {"When does the pool open?", "And on Sundays?", true},
        {"When does the pool open?", "what about children", true},
        {"Is there a garage?", "how much is it", true},
        {"पूल कब खुलता है?", "और रविवार को?", true},
        {"pool kab khulta hai", "aur itvaar ko", true},
        {"குளம் எப்போது திறக்கும்", "மற்றும் ஞாயிறு?", true},
        {"পুল কখন খোলে", "আর রবিবার?", true},
        {"When does the pool open?", "Where can I park my car?", false},
        {"When does the pool open?",
         "And now something else: I would like to know whether there is a place for my car", false},
        {NULL, "And on Sundays?", false},
        {"When does the pool open?", "", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct follow follow = {0};
        if (rows[i].before)
            CHECK_TEXT(follow_up(&follow, rows[i].before), rows[i].before);
        const char *asked = follow_up(&follow, rows[i].question);
        CHECK_INT(strcmp(asked, rows[i].question) != 0, rows[i].goes_on);
        CHECK(strstr(asked, rows[i].question) != NULL);
        if (rows[i].goes_on)
            CHECK(strstr(asked, rows[i].before) == asked);
        follow_clear(&follow);
    }
}

TEST(question_heard_further_follows_what_it_followed)
{
    struct follow follow = {0};
    CHECK_TEXT(follow_up(&follow, "When does the pool open?"), "When does the pool open?");
    CHECK_TEXT(follow_up(&follow, "and on"), "When does the pool open? and on");
    CHECK_TEXT(follow_up(&follow, "and on Sundays"), "When does the pool open? and on Sundays");
    CHECK_TEXT(follow_up(&follow, "and in May"),
               "When does the pool open? and on Sundays and in May");
    CHECK_TEXT(follow_up(&follow, "Where can I park?"), "Where can I park?");
    follow_clear(&follow);
}
