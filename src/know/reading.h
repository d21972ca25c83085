/* The reading of documents, in the background: which is next, several at once, fairly by workspace.
 *
 *   waiting rows --listed--> line of its workspace (know/lanes) --turn--> taken (write job)
 *     text: pieces (read job) ------------------------------------.
 *     file: pieces to a file --> extractor (extract/process.h) ---+--> passages (pool)
 *     --> cards by the model, where there is one (know/cards.h) --> stored
 *
 * Short texts, long ones and files have readers of their own; one that takes long makes way for
 * those who wait, and is read again beside them (know/lanes.h). Who had least of their time goes
 * next. What was under way when the process ended is read again (store_document_waiting()). Thread:
 * its loop. */
#pragma once

#include "know/know.h"

struct reading;

struct reading *reading_open(const struct know_config *config);
/* Extractors are killed; what is being stored is finished. */
void reading_close(struct reading *reading);
