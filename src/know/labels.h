/* What marks questions and answers in a text: labels ("Q:", "Answer:", "प्रश्न:") in the languages of
 * the catalog, question marks. Thread: any. */
#pragma once

#include <stdbool.h>

/* What stands after "Q:", "3. Question -" and the like; NULL when the line does not begin so. */
const char *label_after_question(const char *line);
const char *label_after_answer(const char *line);
/* Ends it with a question mark of any script? */
bool label_is_question(const char *line);
/* What stands after the number of a list ("3.", "3)", "Q3."), or the line itself. */
const char *label_after_number(const char *line);
