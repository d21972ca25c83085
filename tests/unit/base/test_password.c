/* Passwords as they are kept. */
#include <string.h>

#include "base/password.h"
#include "test.h"

TEST(password_fits_its_own_hash_alone)
{
    char hash[PASSWORD_HASH_SIZE], again[PASSWORD_HASH_SIZE];
    CHECK(password_hash("correct horse", hash) == OK &&
          password_hash("correct horse", again) == OK);
    CHECK(strncmp(hash, "$argon2id$", 10) == 0);
    CHECK(strcmp(hash, again) != 0); /* salted */
    CHECK(password_fits("correct horse", hash));
    CHECK(!password_fits("correct horsf", hash));
    CHECK(!password_fits("", hash));
    CHECK(!password_fits("correct horse", ""));
}
