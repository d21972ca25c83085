#include "text/clause.h"

#include <stdio.h>

#include "base/attr.h"
#include "test.h"

TEST(clause_is_open_dictated_or_whole)
{
    static const struct {
        const char *text, *iso;
        bool is_stopped;
        enum clause want;
    } rows[] = {
        {"", "en", false, CLAUSE_WHOLE},
        {"what time is it", "en", false, CLAUSE_WHOLE},
        {"I would like to", "en", false, CLAUSE_OPEN},
        {"I want to come in.", "en", true, CLAUSE_WHOLE}, /* a full stop: it may be its end */
        {"I want tea and.", "en", true, CLAUSE_OPEN},     /* no sentence ends so */
        {"tea or", "en", false, CLAUSE_OPEN},
        {"it was my", "en", false, CLAUSE_OPEN},
        {"मुझे पिज़्ज़ा और", "hi", false, CLAUSE_OPEN},
        {"मुझे पिज़्ज़ा चाहिए", "hi", false, CLAUSE_WHOLE},
        {"mujhe pizza chahiye lekin", "hi", false, CLAUSE_OPEN},
        {"mera order because", "hi", false, CLAUSE_OPEN}, /* Hinglish */
        {"quiero una mesa para", "es", false, CLAUSE_OPEN},
        {"quiero una mesa y", "es", false, CLAUSE_OPEN},
        {"sí", "es", true, CLAUSE_WHOLE},
        {"quiero una mesa", "es", false, CLAUSE_WHOLE},
        {"je voudrais une table pour", "fr", false, CLAUSE_OPEN},
        {"je voudrais parce", "fr", false, CLAUSE_OPEN},
        {"ich hätte gern einen", "de", false, CLAUSE_OPEN},
        {"ruf mich an", "de", false, CLAUSE_WHOLE},
        {"vorrei un tavolo ma", "it", false, CLAUSE_OPEN},
        {"queria uma mesa mas", "pt", false, CLAUSE_OPEN},
        {"ik wil graag een", "nl", false, CLAUSE_OPEN},
        {"chciałbym stolik i", "pl", false, CLAUSE_OPEN},
        {"я хочу столик и", "ru", false, CLAUSE_OPEN},
        {"私は", "ja", false, CLAUSE_WHOLE}, /* nothing is known of it */
        {"my number is nine eight seven", "en", false, CLAUSE_DICTATED},
        {"my number is 98 765", "en", true, CLAUSE_DICTATED},
        {"my number is 98765", "en", true, CLAUSE_DICTATED},
        {"my number is 98765 43210", "en", true, CLAUSE_WHOLE},
        {"nine eight seven six five four three two one zero", "en", false, CLAUSE_WHOLE},
        {"it costs 12.50", "en", true, CLAUSE_WHOLE},
        {"at 10:30", "en", false, CLAUSE_WHOLE},
        {"in 2024", "en", false, CLAUSE_WHOLE},
        {"a table for two", "en", false, CLAUSE_WHOLE},
        {"नौ आठ सात", "hi", false, CLAUSE_DICTATED},
        {"nau aath saat", "hi", false, CLAUSE_DICTATED},
        {"null eins sieben", "de", false, CLAUSE_DICTATED},
        {"zéro six", "fr", false, CLAUSE_DICTATED},
        {"S M I", "en", true, CLAUSE_DICTATED},
        {"S-M-I", "en", false, CLAUSE_DICTATED},
        {"it is b as in boy", "en", false, CLAUSE_DICTATED},
        {"b for boy", "hi", false, CLAUSE_DICTATED},
        {"b wie Berta", "de", false, CLAUSE_DICTATED},
        {"with vitamin b for my mother", "en", false, CLAUSE_WHOLE},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (!CHECK_INT(clause_end(rows[i].text, rows[i].iso, rows[i].is_stopped), rows[i].want))
            fprintf(stderr, "      in %s: %s\n", rows[i].iso, rows[i].text);
}
