#include "text/clause.h"

#include <stdio.h>

#include "base/attr.h"
#include "test.h"

TEST(clause_is_open_dictated_or_whole)
{
    static const struct {
        const char *text, *iso;
        enum clause_mark mark;
        enum clause want;
    } rows[] = {
        {"", "en", CLAUSE_NO_MARK, CLAUSE_WHOLE},
        {"what time is it", "en", CLAUSE_NO_MARK, CLAUSE_SAID},
        {"I would like to", "en", CLAUSE_NO_MARK, CLAUSE_OPEN},
        {"I want to come in.", "en", CLAUSE_STOP, CLAUSE_SAID}, /* a full stop: it may be its end */
        {"I want tea and.", "en", CLAUSE_STOP, CLAUSE_OPEN},    /* no sentence ends so */
        {"tea or", "en", CLAUSE_NO_MARK, CLAUSE_OPEN},
        {"it was my", "en", CLAUSE_NO_MARK, CLAUSE_OPEN},
        {"मुझे पिज़्ज़ा और", "hi", CLAUSE_NO_MARK, CLAUSE_OPEN},
        {"मुझे पिज़्ज़ा चाहिए", "hi", CLAUSE_NO_MARK, CLAUSE_WHOLE},
        {"mujhe pizza chahiye lekin", "hi", CLAUSE_NO_MARK, CLAUSE_OPEN},
        {"mera order because", "hi", CLAUSE_NO_MARK, CLAUSE_OPEN}, /* Hinglish */
        {"quiero una mesa para", "es", CLAUSE_NO_MARK, CLAUSE_OPEN},
        {"quiero una mesa y", "es", CLAUSE_NO_MARK, CLAUSE_OPEN},
        {"sí", "es", CLAUSE_STOP, CLAUSE_WHOLE},
        {"quiero una mesa", "es", CLAUSE_NO_MARK, CLAUSE_WHOLE},
        {"je voudrais une table pour", "fr", CLAUSE_NO_MARK, CLAUSE_OPEN},
        {"je voudrais parce", "fr", CLAUSE_NO_MARK, CLAUSE_OPEN},
        {"ich hätte gern einen", "de", CLAUSE_NO_MARK, CLAUSE_OPEN},
        {"ruf mich an", "de", CLAUSE_NO_MARK, CLAUSE_WHOLE},
        {"vorrei un tavolo ma", "it", CLAUSE_NO_MARK, CLAUSE_OPEN},
        {"queria uma mesa mas", "pt", CLAUSE_NO_MARK, CLAUSE_OPEN},
        {"ik wil graag een", "nl", CLAUSE_NO_MARK, CLAUSE_OPEN},
        {"chciałbym stolik i", "pl", CLAUSE_NO_MARK, CLAUSE_OPEN},
        {"я хочу столик и", "ru", CLAUSE_NO_MARK, CLAUSE_OPEN},
        {"私は", "ja", CLAUSE_NO_MARK, CLAUSE_WHOLE}, /* nothing is known of it */
        {"my number is nine eight seven", "en", CLAUSE_NO_MARK, CLAUSE_DICTATED},
        {"my number is 98 765", "en", CLAUSE_STOP, CLAUSE_DICTATED},
        {"my number is 98765", "en", CLAUSE_STOP, CLAUSE_DICTATED},
        {"my number is 98765 43210", "en", CLAUSE_STOP, CLAUSE_SAID},
        {"nine eight seven six five four three two one zero", "en", CLAUSE_NO_MARK, CLAUSE_WHOLE},
        {"it costs 12.50", "en", CLAUSE_STOP, CLAUSE_SAID},
        {"at 10:30", "en", CLAUSE_NO_MARK, CLAUSE_WHOLE},
        {"in 2024", "en", CLAUSE_NO_MARK, CLAUSE_WHOLE},
        {"a table for two", "en", CLAUSE_NO_MARK, CLAUSE_WHOLE},
        {"नौ आठ सात", "hi", CLAUSE_NO_MARK, CLAUSE_DICTATED},
        {"nau aath saat", "hi", CLAUSE_NO_MARK, CLAUSE_DICTATED},
        {"null eins sieben", "de", CLAUSE_NO_MARK, CLAUSE_DICTATED},
        {"zéro six", "fr", CLAUSE_NO_MARK, CLAUSE_DICTATED},
        {"S M I", "en", CLAUSE_STOP, CLAUSE_DICTATED},
        {"S-M-I", "en", CLAUSE_NO_MARK, CLAUSE_DICTATED},
        {"it is b as in boy", "en", CLAUSE_NO_MARK, CLAUSE_DICTATED},
        {"b for boy", "hi", CLAUSE_NO_MARK, CLAUSE_DICTATED},
        {"b wie Berta", "de", CLAUSE_NO_MARK, CLAUSE_DICTATED},
        {"with vitamin b for my mother", "en", CLAUSE_NO_MARK, CLAUSE_WHOLE},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (!CHECK_INT(clause_end(rows[i].text, rows[i].iso, rows[i].mark), rows[i].want))
            fprintf(stderr, "      in %s: %s\n", rows[i].iso, rows[i].text);
}

TEST(a_clause_is_said_or_asked_by_its_mark_or_its_form)
{
    static const struct {
        const char *text, *iso;
        enum clause want;
    } rows[] = {
        {"What does it cost?", "en", CLAUSE_ASKED},
        {"tomorrow?", "en", CLAUSE_ASKED},
        {"Is it your?", "en", CLAUSE_OPEN}, /* whatever the mark */
        {"Thank you very much.", "en", CLAUSE_ASKED},
        {"okay bye", "en", CLAUSE_ASKED},
        {"We will be four people.", "en", CLAUSE_SAID},
        {"Yes.", "en", CLAUSE_WHOLE}, /* often more follows */
        {"We will be four people", "en", CLAUSE_WHOLE},
        {"and is there any parking", "en", CLAUSE_SAID},
        {"can you", "en", CLAUSE_WHOLE},
        {"can you send it to", "en", CLAUSE_OPEN},
        {"tomorrow I can come at nine", "en", CLAUSE_WHOLE}, /* it does not begin as a question */
        {"That is odd. did you get my letter", "en", CLAUSE_SAID},
        {"did you get it. no not the letter", "en", CLAUSE_WHOLE}, /* the last sentence counts */
        {"क्या रविवार को खुला रहता है?", "hi", CLAUSE_ASKED},
        {"मैंने कल फ़ोन किया था", "hi", CLAUSE_SAID}, /* the verb comes last */
        {"मेरा नंबर है", "hi", CLAUSE_WHOLE},
        {"paise bhi kat gaye", "hi", CLAUSE_SAID},
        {"paise bhi kat gaye aur", "hi", CLAUSE_OPEN},
        {"quand est ce qu'il arrive", "fr", CLAUSE_SAID},
        {"cuánto van a tardar ustedes", "es", CLAUSE_SAID},
        {"kann man mit Karte zahlen", "de", CLAUSE_SAID},
        {"quanto ci mettete da Roma", "it", CLAUSE_SAID},
        {"qual é o prazo final", "pt", CLAUSE_SAID},
        {"hoe lang duurt het ongeveer", "nl", CLAUSE_SAID},
        {"czy mogą państwo przyjechać", "pl", CLAUSE_SAID},
        {"сколько это будет стоить", "ru", CLAUSE_SAID},
        {"いつ開きますか？", "ja", CLAUSE_ASKED}, /* the marks are everyone's */
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (!CHECK_INT(clause_end(rows[i].text, rows[i].iso, clause_mark(rows[i].text)),
                       rows[i].want))
            fprintf(stderr, "      in %s: %s\n", rows[i].iso, rows[i].text);
}
