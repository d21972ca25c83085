#include "text/sentence.h"

#include "test.h"

/* Feeds text in steps of `step` bytes; the pieces come joined by '|'. */
static void split(const char *text, size_t step, bool cuts_clauses, struct buf *out)
{
    struct splitter splitter;
    splitter_init(&splitter, cuts_clauses);
    size_t len = strlen(text);
    buf_reset(out);
    for (size_t at = 0; at <= len; at += step) {
        if (at < len)
            CHECK_INT(splitter_push(&splitter, text + at, MIN(step, len - at)), OK);
        if (at + step > len)
            splitter_finish(&splitter);
        for (const char *piece; (piece = splitter_next(&splitter));)
            (void)buf_printf(out, "%s%s", out->len ? "|" : "", piece);
    }
    splitter_clear(&splitter);
}

static const struct {
    const char *text, *pieces;
} rows[] = {
    {"", NULL},
    {"  \n ", NULL},
    {"Hello", "Hello"},
    {"We open at nine. We close at five.", "We open at nine.|We close at five."},
    {"Really?! Yes! Good.", "Really?!|Yes!|Good."},
    {"Dr. Smith and Mrs. Jones are in. Come.", "Dr. Smith and Mrs. Jones are in.|Come."},
    {"It costs 3.50 dollars. Or 4.", "It costs 3.50 dollars.|Or 4."},
    {"See example.com for more. Bye.", "See example.com for more.|Bye."},
    {"J. R. R. Tolkien wrote it. So I said.", "J. R. R. Tolkien wrote it.|So I said."},
    {"Bring pens, paper, etc. Then wait.", "Bring pens, paper, etc.|Then wait."},
    {"Open 9 a.m. to 5 p.m. daily. Yes.", "Open 9 a.m. to 5 p.m. daily.|Yes."},
    {"He said \"stop.\" Then he left.", "He said \"stop.\"|Then he left."},
    {"Steps:\n1. Open it.\n2. Close it.", "Steps:|1. Open it.|2. Close it."},
    {"नमस्ते। आप कैसे हैं? ठीक है।", "नमस्ते।|आप कैसे हैं?|ठीक है।"},
    {"डॉ. शर्मा आज नहीं हैं। कल आइए।", "डॉ. शर्मा आज नहीं हैं।|कल आइए।"},
    {"こんにちは。元気ですか？はい。", "こんにちは。|元気ですか？|はい。"},
    {"کیا حال ہے؟ اچھا۔ شکریہ", "کیا حال ہے؟|اچھا۔|شکریہ"},
    {"Wait... what? Fine.", "Wait... what?|Fine."},
    {"One,two", "One,two"},
    {"Er ist am 22. November um 14.30 Uhr. Bis dann.",
     "Er ist am 22. November um 14.30 Uhr.|Bis dann."},
    {"Ab 1. Mai 2026. Im 3. Stock.", "Ab 1. Mai 2026.|Im 3. Stock."},
    {"Es sind 12. Mehr nicht.", "Es sind 12.|Mehr nicht."},
    {"It is 12. Maybe 13. March on.", "It is 12.|Maybe 13.|March on."},
    {"Am 3. Ma", "Am 3.|Ma"},
    {"Brot, z.B. Roggen, ca. 5 Stück.", "Brot, z.B. Roggen, ca. 5 Stück."},
    {"La Sra. Ruiz vive en la calle Mayor, núm. 5.",
     "La Sra. Ruiz vive en la calle Mayor, núm. 5."},
};

TEST(sentence_cuts_alike_whatever_the_deltas)
{
    static const size_t steps[] = {1, 2, 3, 7, 1000};
    struct buf out = BUF_INIT(4096);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (size_t k = 0; k < ARRAY_LEN(steps); k++) {
            split(rows[i].text, steps[k], false, &out);
            CHECK_TEXT(out.len ? out.data : NULL, rows[i].pieces);
        }
    buf_clear(&out);
}

TEST(sentence_gives_a_first_clause_early)
{
    struct buf out = BUF_INIT(4096);
    split("We are open from nine to five, and on Saturday, until noon, too. Come in, please, do.",
          5, true, &out);
    CHECK_TEXT(out.data,
               "We are open from nine to five,|and on Saturday, until noon, too.|Come in, "
               "please, do.");
    split("Yes, we are. Good, then.", 5, true, &out);
    CHECK_TEXT(out.data, "Yes, we are.|Good, then.");
    split("Let me look that up for you now:", 5, true, &out);
    CHECK_TEXT(out.data, "Let me look that up for you now:");
    split("Your table is booked for March 3rd, 2026, at three.", 1, true, &out);
    CHECK_TEXT(out.data, "Your table is booked for March 3rd, 2026,|at three.");
    split("The price is around 1,250 dollars and a few cents, more or less.", 3, true, &out);
    CHECK_TEXT(out.data, "The price is around 1,250 dollars and a few cents,|more or less.");
    buf_clear(&out);
}

TEST(sentence_does_not_wait_for_the_end_of_the_reply)
{
    struct splitter splitter;
    splitter_init(&splitter, true);
    CHECK_INT(splitter_push(&splitter, "Yes. W", 6), OK);
    CHECK_TEXT(splitter_next(&splitter), "Yes.");
    CHECK(splitter_next(&splitter) == NULL);
    splitter_reset(&splitter);
    CHECK_INT(splitter_push(&splitter, "New.\n", 5), OK);
    CHECK_TEXT(splitter_next(&splitter), "New.");
    splitter_clear(&splitter);
}

TEST(sentence_cuts_what_never_ends)
{
    struct splitter splitter;
    splitter_init(&splitter, false);
    for (int i = 0; i < 1000; i++)
        CHECK_INT(splitter_push(&splitter, "word ", 5), OK);
    int pieces = 0;
    for (const char *piece; (piece = splitter_next(&splitter)); pieces++)
        CHECK(strlen(piece) <= SPLITTER_PIECE_MAX_CHARS && piece[strlen(piece) - 1] == 'd');
    CHECK(pieces >= 12);
    splitter_clear(&splitter);
    splitter_init(&splitter, false);
    static char solid[SPLITTER_TEXT_MAX_BYTES + 1];
    memset(solid, 'x', sizeof(solid));
    CHECK_INT(splitter_push(&splitter, solid, sizeof(solid)), ERR_LIMIT);
    CHECK_INT(splitter_push(&splitter, solid, 1000), OK);
    CHECK_INT(strlen(splitter_next(&splitter)), SPLITTER_PIECE_MAX_CHARS);
    splitter_clear(&splitter);
}
