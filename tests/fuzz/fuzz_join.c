/* The query of a join: base64, gzip, protobuf and a description inside one another. */
#include "fuzz.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "room/join.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *query = malloc(size + 1);
    memcpy(query, data, size);
    query[size] = 0;
    for (int is_v1 = 0; is_v1 <= 1; is_v1++) {
        struct join_request request = {0};
        struct fault fault = {0};
        enum err err = join_parse(query, is_v1, &request, &fault);
        assert(err == OK || fault.text[0]);
        assert(strlen(request.participant_sid) < ID_SIZE);
        join_clear(&request);
    }
    free(query);
    return 0;
}
