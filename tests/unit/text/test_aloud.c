#include <stdio.h>
#include <string.h>
#include <unicode/udat.h>
#include <unicode/ustring.h>

#include "test.h"
#include "text/aloud.h"
#include "text/plain.h"

static void check(const char *text, const char *iso, const char *wanted)
{
    AUTO_BUF out = BUF_INIT(4000);
    aloud_write(text, iso, &out);
    CHECK_TEXT(out.data, wanted);
}

TEST(addresses_telephones_and_dates_are_written_as_they_are_said)
{
    static const struct {
        const char *iso, *text, *aloud;
    } rows[] = {
        {"en", "Write to asha_k@shop.test.", "Write to asha underscore k at shop dot test."},
        {"en", "(a.b+c@x-y.co.uk)", "(a dot b plus c at x dash y dot co dot uk)"},
        {"en", "See shop.com, or www.a.museum!", "See shop dot com, or www dot a dot museum!"},
        {"en", "At shop.test/help_me/now.", "At shop dot test slash help underscore me slash now."},
        {"en", "The end.Next one", "The end.Next one"},
        {"en", "Version 2.0.1 of it", "Version 2.0.1 of it"},
        {"en", "Call +49 30 1234567 now", "Call plus 4 9, 3 0, 1 2 3 4 5 6 7 now"},
        {"en", "Call (030) 123-4567.", "Call 0 3 0, 1 2 3, 4 5 6 7."},
        {"en", "It is 9876543210.", "It is 9 8 7 6 5 4 3 2 1 0."},
        {"en", "1,250,000 or 1 250 000 or 12345678", "1,250,000 or 1 250 000 or 12345678"},
        {"en", "14:30, $12.50, 250 rooms, 20%", "14:30, $12.50, 250 rooms, 20%"},
        {"en", "On 2026-03-05, at 9.", "On 5 March 2026, at 9."},
        {"en", "2026-13-05, 05/03/2026 10 am, 5.3.26, 10000-20000",
         "2026-13-05, 05/03/2026 10 am, 5.3.26, 10000-20000"},
        {"hi", "asha@shop.test पर लिखिए", "asha ऐट shop डॉट test पर लिखिए"},
        {"hi", "2026-01-09 को", "9 जनवरी 2026 को"},
        {"es", "a-b@c.es el 2026-05-01", "a guion b arroba c punto es el 1 de mayo de 2026"},
        {"fr", "a@b.fr ou 01 23 45 67 89", "a arobase b point fr ou 0 1, 2 3, 4 5, 6 7, 8 9"},
        {"de", "a_b@c.de am 2026-12-24", "a Unterstrich b at c Punkt de am 24. Dezember 2026"},
        {"it", "a@b.it", "a chiocciola b punto it"},
        {"pt", "a@b.pt, 2026-03-05", "a arroba b ponto pt, 5 de março de 2026"},
        {"nl", "a@b.nl", "a apenstaartje b punt nl"},
        {"pl", "a@b.pl, 2026-02-03", "a małpa b kropka pl, 3 lutego 2026"},
        {"ru", "a@b.ru, 2026-02-03", "a собака b точка ru, 3 февраля 2026"},
        {"ta", "a@b.test, 2026-02-03", "a@b.test, 2026-02-03"},
        {"en", "", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check(rows[i].text, rows[i].iso, rows[i].aloud);
}

TEST(months_are_those_of_icu)
{
    static const char *const isos[] = {"en", "hi", "es", "fr", "de", "it", "pt", "nl", "pl", "ru"};
    for (size_t i = 0; i < ARRAY_LEN(isos); i++) {
        UErrorCode error = U_ZERO_ERROR;
        UDateFormat *format = udat_open(UDAT_LONG, UDAT_LONG, isos[i], NULL, 0, NULL, 0, &error);
        REQUIRE(U_SUCCESS(error));
        for (int month = 0; month < 12; month++) {
            UChar wide[64];
            char name[128], text[16];
            AUTO_BUF out = BUF_INIT(200);
            int32_t len = udat_getSymbols(format, UDAT_MONTHS, month, wide, 64, &error);
            u_strToUTF8(name, sizeof(name), NULL, wide, len, &error);
            REQUIRE(U_SUCCESS(error));
            snprintf(text, sizeof(text), "2026-%02d-07", month + 1);
            aloud_write(text, isos[i], &out);
            if (!CHECK(strstr(out.data, name) != NULL))
                test_fail(__FILE__, __LINE__, "%s: %s is %s", isos[i], out.data, name);
        }
        udat_close(format);
    }
}

TEST(an_address_reaches_the_voice_whole)
{
    AUTO_BUF plain = BUF_INIT(400);
    plain_speech("Write to **asha_k@shop_x.test** or first_name.", &plain);
    CHECK_TEXT(plain.data, "Write to asha_k@shop x.test or first name.");
}

TEST(what_goes_leaves_no_space_before_a_stop)
{
    AUTO_BUF plain = BUF_INIT(400);
    plain_speech("It worked \xf0\x9f\x8e\x89. See .NET \xf0\x9f\x91\x8d, too.", &plain);
    CHECK_TEXT(plain.data, "It worked. See .NET, too.");
}
