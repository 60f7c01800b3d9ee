#include "fixture.h"

#include "base/err.h"
#include "inspect/json_file.h"

static struct json_file parse(const char *text, struct problems *problems, int wanted)
{
    struct json_file file = {0};

    ck_assert_int_eq(json_file_parse(strdup(text), strlen(text), "/a.json", &file, problems), wanted);
    return file;
}

/* Of a valid text: the line of the value behind the steps, and its text; "" when it is not there. */
static void assert_finds(const char *text, const struct json_step *steps, size_t count, unsigned line,
                         const char *wanted)
{
    struct problems problems = {0};
    struct json_file file = parse(text, &problems, 0);
    struct json_place place = {0};

    ck_assert_int_eq(json_file_find(&file, steps, count, &place), *wanted != '\0');
    ck_assert_uint_eq(place.line, line);
    ck_assert_uint_eq(place.n, strlen(wanted));
    ck_assert_mem_eq(place.at ? place.at : "", wanted, strlen(wanted));
    ck_assert_uint_eq(problems.count, 0);
    json_file_deinit(&file);
}

START_TEST(a_value_is_found_with_its_line)
{
    static const char text[] =
        "\n{\n \"x\": {\"b\": 0},\n\"a\" :\n\t{ \"z\":\"}\\\"]{\", \"b\"\r\n:\n[ 1,\n[2, {}],\n\n"
        "{\"c\": 3} , null ]}}\n";
    struct json_step steps[] = {{.key = "a"}, {.key = "b"}, {.index = 2}, {.key = "c"}};

    assert_finds(text, steps, 4, 10, "3");
    assert_finds(text, steps, 3, 10, "{\"c\": 3}");
    assert_finds(text, steps, 2, 7, "[ 1,\n[2, {}],\n\n{\"c\": 3} , null ]");
    steps[2].index = 1;
    assert_finds(text, steps, 3, 8, "[2, {}]");
    steps[2].index = 3;
    assert_finds(text, steps, 3, 10, "null");
    steps[2].index = 4;
    assert_finds(text, steps, 3, 0, "");
    steps[1].key = "c";
    assert_finds(text, steps, 2, 0, "");
    steps[1] = (struct json_step){.index = 0};
    assert_finds(text, steps, 2, 0, "");
}
END_TEST

START_TEST(the_last_of_the_same_keys_counts)
{
    static const struct json_step step = {.key = "kéy"};

    assert_finds("{\"kéy\": 1,\n\"kéy\": 2,\n\"kéy2\": 3}", &step, 1, 2, "2");
    assert_finds("{\"k\\u00e9y\": 1\n}", &step, 1, 1, "1");
    assert_finds("{\"kéy\": 1,\n\"k\\u00e9y\" : true}", &step, 1, 2, "true");
}
END_TEST

START_TEST(what_jansson_has_counts_is_what_the_scan_finds)
{
    static const char text[] = "{\"a\":{\"a\":1},\"a\":{\"b\":[7]}}";
    static const struct json_step steps[] = {{.key = "a"}, {.key = "b"}, {.index = 0}};
    struct problems problems = {0};
    struct json_file file = parse(text, &problems, 0);

    ck_assert_ptr_null(json_object_get(json_object_get(file.json, "a"), "a"));
    assert_finds(text, steps, 3, 1, "7");
    json_file_deinit(&file);
}
END_TEST

START_TEST(numbers_are_exact)
{
    static const struct {
        const char *text;
        int r;
        uint64_t value;
        bool negative;
    } cases[] = {
        {"[18446744073709551615]", 0, UINT64_MAX, false},
        {"[0]", 0, 0, false},
        {"[-1]", 0, 1, true},
        {"[18446744073709551616]", -ERANGE, 0, false},
        {"[1.0]", -EINVAL, 0, false},
        {"[1e3]", -EINVAL, 0, false},
        {"[\"1\"]", -EINVAL, 0, false},
        {"[null]", -EINVAL, 0, false},
    };
    static const struct json_step first = {0};

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct problems problems = {0};
        struct json_file file = parse(cases[i].text, &problems, 0);
        struct json_place place;
        uint64_t value = 0;
        bool negative = false;

        ck_assert(json_file_find(&file, &first, 1, &place));
        ck_assert_int_eq(json_file_u64(&place, &value, &negative), cases[i].r);
        ck_assert_int_eq(negative, cases[i].negative);
        if (cases[i].r == 0)
            ck_assert_uint_eq(value, cases[i].value);
        if (negative)
            ck_assert_int_eq(json_file_u64(&place, &value, NULL), -EINVAL);
        json_file_deinit(&file);
    }
}
END_TEST

START_TEST(what_is_no_json_is_a_problem_with_its_line)
{
    static const struct {
        const char *text;
        unsigned line;
    } cases[] = {
        {"{\n\"a\": 1,\n}", 3}, {"{\"a\": 1} x", 1}, {"[1,\n2", 2}, {"{\"a\":\n\"\xff\x1b\"}", 2}, {"7", 1},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct problems problems = {0};

        parse(cases[i].text, &problems, -EBADMSG);
        ck_assert_uint_eq(problems.count, 1);
        ck_assert_str_eq(problems.at[0].file, "/a.json");
        ck_assert_uint_eq(problems.at[0].line, cases[i].line);
        ck_assert_ptr_eq(strstr(problems.at[0].text, "no JSON: "), problems.at[0].text);
        for (const char *s = problems.at[0].text; *s; s++)
            ck_assert(*s >= 0x20 && *s < 0x7f);
        problems_deinit(&problems);
    }
}
END_TEST

START_TEST(a_blank_file_and_a_byte_order_mark)
{
    static const struct json_step a = {.key = "a"};
    struct problems problems = {0};
    struct json_file file = parse(" \n\t\r\n", &problems, 0);
    struct json_place place;

    ck_assert_ptr_null(file.json);
    ck_assert(!json_file_find(&file, &a, 1, &place));
    json_file_deinit(&file);
    assert_finds("\xef\xbb\xbf{\n\"a\": 1}", &a, 1, 2, "1");
}
END_TEST

START_TEST(a_file_that_cannot_be_read)
{
    struct problems problems = {0};
    struct json_file file;
    struct fixture f;

    setup(&f);
    ck_assert_int_eq(json_file_read(&f.root, "/no.json", &file, &problems), -ENOENT);
    ck_assert_uint_eq(problems.count, 0);
    put_text(&f, "/a.json", "{}");
    ck_assert_int_eq(json_file_read(&f.root, "/a.json", &file, &problems), 0);
    ck_assert(json_is_object(file.json));
    json_file_deinit(&file);
    teardown(&f);
}
END_TEST

SUITE("json_file", a_value_is_found_with_its_line, the_last_of_the_same_keys_counts,
      what_jansson_has_counts_is_what_the_scan_finds, numbers_are_exact,
      what_is_no_json_is_a_problem_with_its_line, a_blank_file_and_a_byte_order_mark,
      a_file_that_cannot_be_read)
