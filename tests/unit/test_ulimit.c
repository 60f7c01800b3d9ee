#include "suite.h"

#include "base/err.h"
#include "inspect/ulimit.h"

#include <stdio.h>

START_TEST(limits_are_read_as_go_units_reads_them)
{
    static const struct {
        const char *text;
        uint64_t soft, hard;
    } cases[] = {
        {"nofile=1024:2048", 1024, 2048},
        {"nofile=1024", 1024, 1024},
        {"nofile=+5:+6", 5, 6},
        {"nofile=0:0", 0, 0},
        {"nofile=-1:-1", UINT64_MAX, UINT64_MAX},
        {"nofile=64:infinity", 64, UINT64_MAX},
        {"nofile=infinity", UINT64_MAX, UINT64_MAX},
        {"nofile=9223372036854775807", INT64_MAX, INT64_MAX},
        {"nofile=-3:-2", UINT64_MAX - 2, UINT64_MAX - 1},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char reason[TEXT_LINE];
        TEXT_UNTOUCHED(why, reason);
        struct nofile limit = {0};

        ck_assert_int_eq(ulimit_parse(cases[i].text, &limit, &why), 0);
        ck_assert_uint_eq(limit.soft, cases[i].soft);
        ck_assert_uint_eq(limit.hard, cases[i].hard);
        ck_assert_str_eq(reason, UNTOUCHED);
    }
}
END_TEST

START_TEST(another_resource_is_none_of_ours)
{
    struct nofile limit = {7, 7};
    char reason[TEXT_LINE];
    TEXT_UNTOUCHED(why, reason);

    ck_assert_int_eq(ulimit_parse("nproc=1:2", &limit, &why), ULIMIT_OTHER);
    ck_assert_int_eq(ulimit_parse("core=-1", &limit, &why), ULIMIT_OTHER);
    ck_assert_uint_eq(limit.soft, 7);
    ck_assert_str_eq(reason, UNTOUCHED);
}
END_TEST

START_TEST(what_go_units_refuses)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"nofile", "'nofile' is no limit (NAME=SOFT:HARD)"},
        {"", "'' is no limit (NAME=SOFT:HARD)"},
        {"files=1", "'files=1' names no resource"},
        {"=1", "'=1' names no resource"},
        {"NOFILE=1", "'NOFILE=1' names no resource"},
        {"nofile=", "'nofile=' has no number as its soft limit"},
        {"nofile=1k", "'nofile=1k' has no number as its soft limit"},
        {"nofile= 1", "'nofile= 1' has no number as its soft limit"},
        {"nofile=0x10", "'nofile=0x10' has no number as its soft limit"},
        {"nofile=unlimited", "'nofile=unlimited' has no number as its soft limit"},
        {"nofile=9223372036854775808", "'nofile=9223372036854775808' has no number as its soft limit"},
        {"nofile=:1", "'nofile=:1' has no number as its soft limit"},
        {"nofile=1:", "'nofile=1:' has no number as its hard limit"},
        {"nofile=1:2:3", "'nofile=1:2:3' has no number as its hard limit"},
        {"nofile=2:1", "'nofile=2:1' has a soft limit above the hard one"},
        {"nofile=-1:1", "'nofile=-1:1' has a soft limit above the hard one"},
        {"nproc=2:1", "'nproc=2:1' has a soft limit above the hard one"},
        {"nofile=\x1b", "'nofile=\\x1b' has no number as its soft limit"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct nofile limit = {7, 7};
        char reason[TEXT_LINE];
        TEXT_ON(why, reason);

        ck_assert_int_eq(ulimit_parse(cases[i].text, &limit, &why), -EINVAL);
        ck_assert_str_eq(reason, cases[i].why);
        ck_assert_uint_eq(limit.soft, 7);
    }
}
END_TEST

SUITE("ulimit", limits_are_read_as_go_units_reads_them, another_resource_is_none_of_ours,
      what_go_units_refuses)
