#include "base/ids.h"

#include <ctype.h>

#include "base/clock.h"
#include "test.h"

TEST(id_sorts_by_time)
{
    char early[ID_SIZE], late[ID_SIZE];
    clock_fake_set(0, 1795189527123);
    id_new("ua_", early);
    clock_fake_set(0, 1795189527124);
    id_new("ua_", late);
    CHECK(strcmp(early, late) < 0);
    CHECK_INT(strlen(early), 3 + 20);
    CHECK(strncmp(early, "ua_", 3) == 0);
}

TEST(uuid_is_version_7)
{
    char a[ID_SIZE], b[ID_SIZE];
    uuid_new(a);
    uuid_new(b);
    CHECK(uuid_is_valid(a));
    CHECK_INT(a[14], '7');
    CHECK(strchr("89ab", a[19]) != NULL);
    CHECK(strcmp(a, b) != 0);
    CHECK(!uuid_is_valid("0193"));
    CHECK(!uuid_is_valid("0193-"));
    CHECK(!uuid_is_valid("01934a6e-0000-7000-8000-00000000000g"));
    CHECK(uuid_is_valid("01934A6E-0000-7000-8000-00000000000F"));
}

TEST(key_carries_a_checksum)
{
    static const char *const prefixes[] = {"sk_", "ak_", "pk_"};
    for (size_t i = 0; i < 3; i++) {
        char key[KEY_SIZE];
        key_new(prefixes[i], key);
        CHECK_INT(strlen(key), 3 + 32 + 6);
        CHECK(key_is_valid(key));
        key[10] = key[10] == 'x' ? 'y' : 'x';
        CHECK(!key_is_valid(key));
    }
    char key[KEY_SIZE];
    key_new("zz_", key);
    CHECK(!key_is_valid(key));
    CHECK(!key_is_valid(""));
    CHECK(!key_is_valid("sk_short"));
    CHECK(!key_is_valid(NULL));
}

TEST(random_base62_has_the_length)
{
    char text[101];
    random_base62(text, 100);
    CHECK_INT(strlen(text), 100);
    for (int i = 0; i < 100; i++)
        CHECK(isalnum((unsigned char)text[i]));
}
