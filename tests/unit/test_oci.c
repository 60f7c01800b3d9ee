#include "fixture.h"

#include "base/err.h"
#include "inspect/oci.h"

static struct assignments read_limits(const char *text, int wanted, size_t wanted_problems)
{
    struct assignments list = {0};
    struct problems problems = {0};
    struct fixture f;

    setup(&f);
    put_text(&f, "/run/config.json", text);
    ck_assert_int_eq(oci_read_limits(&f.root, "/run/config.json", &list, &problems), wanted);
    ck_assert_uint_eq(problems.count, wanted_problems);
    problems_deinit(&problems);
    teardown(&f);
    return list;
}

static void assert_none(const char *text)
{
    struct assignments list = read_limits(text, 0, 0);

    ck_assert_uint_eq(list.count, 0);
}

START_TEST(the_limit_has_its_line)
{
    struct assignments list =
        read_limits("{\"ociVersion\": \"1.0.2\",\n\"process\": {\n \"rlimits\": [\n"
                    "  {\"type\": \"RLIMIT_CORE\", \"hard\": 1, \"soft\": 1},\n"
                    "  {\n   \"type\": \"RLIMIT_NOFILE\",\n   \"hard\": 18446744073709551615,\n"
                    "   \"soft\": 1048576}]}}",
                    0, 0);
    const struct assignment *a = assignments_last(&list);

    ck_assert_uint_eq(list.count, 1);
    ck_assert_str_eq(a->file, "/run/config.json");
    ck_assert_uint_eq(a->line, 5);
    ck_assert_str_eq(a->text, "1048576:18446744073709551615");
    ck_assert_uint_eq(a->limit.soft, 1048576);
    ck_assert_uint_eq(a->limit.hard, UINT64_MAX);
    assignments_deinit(&list);
}
END_TEST

START_TEST(none_is_inherited)
{
    assert_none("{}");
    assert_none("{\"process\": null}");
    assert_none("{\"process\": {\"rlimits\": []}}");
    assert_none("{\"process\": {\"rlimits\": {\"type\": \"RLIMIT_NOFILE\"}}}");
    assert_none("{\"process\": {\"rlimits\": [7, null, {}, {\"type\": 7}, {\"type\": \"RLIMIT_NPROC\"}]}}");
    assert_none("[]");
}
END_TEST

START_TEST(the_last_counts_and_a_bad_one_does_not)
{
    struct assignments list = read_limits(
        "{\"process\": {\"rlimits\": [\n{\"type\": \"RLIMIT_NOFILE\", \"soft\": 1, \"hard\": 2},\n"
        "{\"type\": \"RLIMIT_NOFILE\", \"soft\": 3, \"hard\": 4},\n"
        "{\"type\": \"RLIMIT_NOFILE\", \"soft\": 6, \"hard\": 5},\n"
        "{\"type\": \"RLIMIT_NOFILE\", \"soft\": -1, \"hard\": \"\\u001b\"},\n"
        "{\"type\": \"RLIMIT_NOFILE\", \"soft\": 9}]}}",
        0, 0);

    ck_assert_uint_eq(list.count, 5);
    ck_assert_int_eq(list.at[0].state, ASSIGNMENT_OVERRIDDEN);
    ck_assert_uint_eq(assignments_last(&list)->line, 3);
    ck_assert_uint_eq(assignments_last(&list)->limit.hard, 4);
    for (size_t i = 2; i < 5; i++) {
        ck_assert_int_eq(list.at[i].state, ASSIGNMENT_BAD);
        ck_assert_ptr_nonnull(list.at[i].problem);
    }
    ck_assert_str_eq(list.at[3].text, "-1:\"\\x5cu001b\"");
    assignments_deinit(&list);
}
END_TEST

START_TEST(what_cannot_be_read)
{
    struct assignments list = read_limits("{\"process\":", -EBADMSG, 1);
    struct problems problems = {0};
    struct fixture f;

    ck_assert_uint_eq(list.count, 0);
    setup(&f);
    ck_assert_int_eq(oci_read_limits(&f.root, "/no", &list, &problems), -ENOENT);
    ck_assert_uint_eq(problems.count + list.count, 0);
    teardown(&f);
}
END_TEST

START_TEST(too_many_entries_are_a_problem)
{
    char text[8192] = "{\"process\": {\"rlimits\": [0";

    for (size_t i = 0; i < 70; i++)
        strcat(text, ",\n{\"type\": \"RLIMIT_NOFILE\", \"soft\": 1, \"hard\": 2}");
    strcat(text, "]}}");
    ck_assert_uint_eq(read_limits(text, 0, 1).count, 0);
}
END_TEST

SUITE("oci", the_limit_has_its_line, none_is_inherited, the_last_counts_and_a_bad_one_does_not,
      what_cannot_be_read, too_many_entries_are_a_problem)
