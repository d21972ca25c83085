/* See labels.h. Thread: any. */
#include "know/labels.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/attr.h"

/* Longer ones before those that they begin with. */
static const char *const questions[] = {
    "question",   "frage", "faq",   "pregunta", "domanda", "pergunta", "vraag",  "pytanie", "soru",
    "pertanyaan", "tanya", "sawal", "sawaal",   "prashn",  "вопрос",   "السؤال", "سؤال",    "प्रश्न",
    "सवाल",       "கேள்வி", "ప్రశ్న",  "ಪ್ರಶ್ನೆ",     "ചോദ്യം",   "প্রশ্ন",     "પ્રશ્ન",   "ਸਵਾਲ",    "ପ୍ରଶ୍ନ",
    "質問",       "질문",  "问题",  "问",       "問",      "q",        "प्र",     "கே",      "ప్ర",
    "ಪ್ರ",         "ചോ",    "প্র",    "પ્ર",       "ਪ੍ਰ",      "س",        "в",
};
static const char *const answers[] = {
    "answer",    "antwort", "respuesta", "réponse", "reponse", "risposta", "resposta", "antwoord",
    "odpowiedź", "cevap",   "jawaban",   "jawab",   "jawaab",  "uttar",    "ответ",    "الجواب",
    "جواب",      "उत्तर",    "जवाब",      "பதில்",    "విడై",      "జవాబు",     "సమాధానం",    "ಉತ್ತರ",
    "ഉത്തരം",     "উত্তর",    "જવાબ",      "ਜਵਾਬ",    "ଉତ୍ତର",    "回答",     "答え",     "답변",
    "답",        "答",      "ans",       "a",       "r",       "उ",        "ப",        "జ",
    "ಉ",         "ഉ",       "উ",         "જ",       "ਜ",       "ଉ",        "ج",        "о",
};
static const char *const marks[] = {"?", "？", "؟"};

static const char *skip_blank(const char *text)
{
    return text + strspn(text, " \t");
}

/* The sign after a label: ':', a full-width one, or '.', ')' or '-' and a space. */
static const char *after_sign(const char *at)
{
    static const char *const signs[] = {":", "：", ".", ")", "-", "–", "।"};
    at = skip_blank(at);
    for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
        size_t n = strlen(signs[i]);
        if (strncmp(at, signs[i], n) == 0 && (i < 2 || at[n] == ' '))
            return skip_blank(at + n);
    }
    return NULL;
}

static const char *after(const char *line, const char *const *labels, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t n = strlen(labels[i]);
        if (strncasecmp(line, labels[i], n) != 0)
            continue;
        const char *rest = after_sign(line + n + strspn(line + n, " 0123456789"));
        if (rest)
            return rest;
    }
    return NULL;
}

const char *label_after_question(const char *line)
{
    return after(label_after_number(line), questions, ARRAY_LEN(questions));
}

const char *label_after_answer(const char *line)
{
    return after(line, answers, ARRAY_LEN(answers));
}

const char *label_after_number(const char *line)
{
    size_t n = strspn(line, "0123456789");
    bool is_number = n > 0 && n <= 3 && (line[n] == '.' || line[n] == ')') && line[n + 1] == ' ';
    return is_number ? skip_blank(line + n + 1) : line;
}

bool label_is_question(const char *line)
{
    size_t len = strlen(line);
    while (len && strchr(" \t\"'*_)", line[len - 1]))
        len--;
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        size_t n = strlen(marks[i]);
        if (len >= n && memcmp(line + len - n, marks[i], n) == 0)
            return true;
    }
    return false;
}
