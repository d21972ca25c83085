/* Who makes a document for the word index: one at a time, by its exact id, so that no document
 * waits for another one. Thread: any. */
#include <string.h>
#include <time.h>

#include "store/word_file.h"

void word_claims_init(struct word_index *index)
{
    pthread_condattr_t attr;
    pthread_mutex_init(&index->claims_mutex, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&index->claim_given, &attr);
    pthread_condattr_destroy(&attr);
}

void word_claims_clear(struct word_index *index)
{
    pthread_cond_destroy(&index->claim_given);
    pthread_mutex_destroy(&index->claims_mutex);
}

static bool is_claimed(const struct word_index *index, const char *document_id)
{
    for (const struct word_claim *claim = index->claims; claim; claim = claim->next)
        if (strcmp(claim->document_id, document_id) == 0)
            return true;
    return false;
}

bool word_claim_take(struct word_index *index, const char *document_id, int64_t until_us,
                     struct word_claim *out)
{
    const struct timespec until = {.tv_sec = until_us / 1000000,
                                   .tv_nsec = until_us % 1000000 * 1000};
    pthread_mutex_lock(&index->claims_mutex);
    int waited = 0;
    while (is_claimed(index, document_id) && !waited && !atomic_load(&index->is_stopping))
        waited = pthread_cond_timedwait(&index->claim_given, &index->claims_mutex, &until);
    bool is_mine = !is_claimed(index, document_id) && !atomic_load(&index->is_stopping);
    if (is_mine) {
        *out = (struct word_claim){.document_id = document_id, .next = index->claims};
        index->claims = out;
    }
    pthread_mutex_unlock(&index->claims_mutex);
    return is_mine;
}

void word_claim_give(struct word_index *index, struct word_claim *claim)
{
    pthread_mutex_lock(&index->claims_mutex);
    struct word_claim **at = &index->claims;
    while (*at != claim)
        at = &(*at)->next;
    *at = claim->next;
    pthread_cond_broadcast(&index->claim_given);
    pthread_mutex_unlock(&index->claims_mutex);
}

void word_index_stop(struct word_index *index)
{
    atomic_store(&index->is_stopping, true);
    pthread_mutex_lock(&index->claims_mutex);
    pthread_cond_broadcast(&index->claim_given);
    pthread_mutex_unlock(&index->claims_mutex);
}
