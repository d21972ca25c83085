/* A question that goes on from the one before it ("and on Sundays?") is searched together with what
 * it goes on from. It does when it is short and begins with a word that joins ("and", "और", "aur",
 * "மற்றும்", "আর", "what about"), or stands for what was named ("how much is it"). Thread: its
 * owner's. */
#pragma once

/* Zeroed: nothing was asked yet. */
struct follow {
    char *asked;    /* last, as it was */
    char *searched; /* for it */
    char *before;   /* what was searched before it */
};

/* What to search for a question, until the next call. A question that begins as the last one did is
 * the same, heard further. */
const char *follow_up(struct follow *follow, const char *question);
void follow_clear(struct follow *follow);
