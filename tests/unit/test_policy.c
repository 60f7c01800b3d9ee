#include "suite.h"

#include "base/err.h"
#include "policy/policy.h"

static char buffer[POLICY_MAX_BYTES + 1];

/* The parser gets exactly n bytes and one more: the sanitizers see it when it goes past them. Text values
 * point into the copy, so it lives until the case ends, and with it the case's process. */
static int parse(const char *bytes, size_t n, struct settings *settings, struct text *err)
{
    static char *copy;

    free(copy);
    copy = malloc(n + 1);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, bytes, n);
    copy[n] = '#';
    settings_init(settings);
    return policy_parse(copy, n, "web.conf", settings, err);
}

static void accepted(const char *bytes, struct settings *settings)
{
    char bad[TEXT_LINE];
    TEXT_UNTOUCHED(err, bad);

    ck_assert_msg(parse(bytes, strlen(bytes), settings, &err) == 0, "%s", err.at);
    ck_assert_str_eq(err.at, UNTOUCHED);
}

static void refused(const char *bytes, size_t n, const char *reason)
{
    struct settings settings;
    char bad[TEXT_LINE];
    TEXT_ON(err, bad);

    ck_assert_int_eq(parse(bytes, n, &settings, &err), -EINVAL);
    ck_assert_str_eq(err.at, reason);
}

START_TEST(lines_are_settings)
{
    struct settings s;

    accepted(
        "# limits of the web service\n\nsoft = peak\n\tfallback=4096 # until measured\nheadroom = +200\n",
        &s);
    ck_assert(value_is(&s.value[KEY_SOFT], WORD_PEAK));
    ck_assert_uint_eq(s.origin[KEY_SOFT].line, 3);
    ck_assert_int_eq(s.origin[KEY_SOFT].kind, ORIGIN_FILE);
    ck_assert_uint_eq(s.value[KEY_FALLBACK].number, 4096);
    ck_assert_uint_eq(s.origin[KEY_FALLBACK].line, 4);
    ck_assert_int_eq(s.value[KEY_HEADROOM].kind, VALUE_EXTRA);
    ck_assert_int_eq(s.origin[KEY_HARD].kind, ORIGIN_DEFAULT);
}
END_TEST

START_TEST(an_empty_policy_sets_nothing)
{
    struct settings s;

    accepted("", &s);
    accepted("\n\n", &s);
    accepted("# only a comment", &s);
    accepted(" \t \r\n", &s);
    for (unsigned id = 0; id < KEY_COUNT; id++)
        ck_assert_int_eq(s.origin[id].kind, ORIGIN_DEFAULT);
}
END_TEST

START_TEST(the_last_newline_may_be_missing)
{
    struct settings s;

    accepted("soft = 1024", &s);
    ck_assert_uint_eq(s.value[KEY_SOFT].number, 1024);
}
END_TEST

START_TEST(crlf_is_a_line_end)
{
    struct settings s;

    accepted("soft = 1024\r\nhard = 2048\r\n# x\r\n\r\nfloor = 5\r", &s);
    ck_assert_uint_eq(s.value[KEY_SOFT].number, 1024);
    ck_assert_uint_eq(s.value[KEY_HARD].number, 2048);
    ck_assert_uint_eq(s.value[KEY_FLOOR].number, 5);
}
END_TEST

START_TEST(a_hash_inside_a_word_is_no_comment)
{
    struct settings s;

    accepted("peak-file = /var/lib/a#b/peak = x #c", &s);
    ck_assert_str_eq(s.value[KEY_PEAK_FILE].text, "/var/lib/a#b/peak = x");
}
END_TEST

START_TEST(bad_lines_are_named)
{
    static const struct {
        const char *bytes, *reason;
    } rows[] = {
        {"soft\n", "web.conf:1: no '=' in the line; write key = value"},
        {"soft = 5\n\n= 5\n", "web.conf:3: unknown key ''"},
        {"soft =\n",
         "web.conf:1: soft: the value is empty, but should be a number, 'inherit', 'peak' or 'unlimited'"},
        {"soft = # 5\n", "web.conf:1: soft: the value is empty, but should be a number, 'inherit', 'peak' or "
                         "'unlimited'"},
        {"floor = 5 6\n", "web.conf:1: floor: '5 6' is not a number"},
        {"floor = 5\r6\n", "web.conf:1: floor: '5\\x0d6' is not a number"},
        {"floor = =5\n", "web.conf:1: floor: '=5' is not a number"},
        {"floor = 5\nfloor = 5\n", "web.conf:2: floor stands twice; first on line 1"},
        {"sotf = 5\n", "web.conf:1: unknown key 'sotf'; did you mean 'soft'?"},
        {"policy = other\n", "web.conf:1: unknown key 'policy'"},
        {"explain = yes\n", "web.conf:1: unknown key 'explain'"},
        {"FDFIT_SOFT = 5\n", "web.conf:1: unknown key 'FDFIT_SOFT'"},
        {"\xef\xbb\xbfsoft = 5\n", "web.conf:1: unknown key '\\xef\\xbb\\xbfsoft'"},
        {"[limits]\n", "web.conf:1: no '=' in the line; write key = value"},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        refused(rows[i].bytes, strlen(rows[i].bytes), rows[i].reason);
}
END_TEST

START_TEST(a_nul_byte_is_refused_even_in_a_comment)
{
    refused("soft = 5\n#\0\n", 12, "web.conf:2: a NUL byte");
    refused("soft = 5\0", 9, "web.conf:1: a NUL byte");
    refused("soft = 1\0"
            "024\n",
            13, "web.conf:1: a NUL byte");
}
END_TEST

START_TEST(a_line_is_bounded)
{
    struct settings s;
    char bad[TEXT_LINE];
    TEXT_ON(err, bad);

    memset(buffer, '#', POLICY_MAX_LINE + 1);
    ck_assert_int_eq(parse(buffer, POLICY_MAX_LINE, &s, &err), 0);
    refused(buffer, POLICY_MAX_LINE + 1, "web.conf:1: the line is longer than 4096 bytes");
    buffer[10] = '\n';
    ck_assert_int_eq(parse(buffer, POLICY_MAX_LINE + 1, &s, &err), 0);
}
END_TEST

START_TEST(an_argument_is_not_overruled)
{
    struct settings s;
    char bad[TEXT_LINE], bytes[] = "soft = 5\nhard = 6\n";
    TEXT_ON(err, bad);

    settings_init(&s);
    ck_assert_int_eq(settings_put(&s, KEY_SOFT, "7", (struct origin){ORIGIN_ARG, 0}, &err), 0);
    ck_assert_int_eq(policy_parse(bytes, sizeof(bytes) - 1, "web.conf", &s, &err), 0);
    ck_assert_uint_eq(s.value[KEY_SOFT].number, 7);
    ck_assert_uint_eq(s.value[KEY_HARD].number, 6);
}
END_TEST

static void path_is(const char *what, const char *expected)
{
    char path[64], bad[TEXT_LINE];
    TEXT_ON(err, bad);

    ck_assert_msg(policy_path(what, path, sizeof(path), &err) == 0, "%s", err.at);
    ck_assert_str_eq(path, expected);
}

START_TEST(a_name_without_a_slash_is_in_etc)
{
    path_is("web", "/etc/fdfit/web.conf");
    path_is("web.conf", "/etc/fdfit/web.conf.conf");
    path_is("./web", "./web");
    path_is("/srv/web", "/srv/web");
}
END_TEST

START_TEST(names_that_are_no_path_are_refused)
{
    char path[32] = "before", bad[TEXT_LINE];
    TEXT_ON(err, bad);

    ck_assert_int_eq(policy_path("", path, sizeof(path), &err), -EINVAL);
    ck_assert_str_eq(err.at, "policy: the name is empty");
    text_init(&err, bad, sizeof(bad));
    ck_assert_int_eq(policy_path("0123456789abcdef", path, sizeof(path), &err), -ENAMETOOLONG);
    ck_assert_str_eq(err.at, "policy: the name is too long");
    ck_assert_str_eq(path, "before");
}
END_TEST

SUITE("policy", lines_are_settings, an_empty_policy_sets_nothing, the_last_newline_may_be_missing,
      crlf_is_a_line_end, a_hash_inside_a_word_is_no_comment, bad_lines_are_named,
      a_nul_byte_is_refused_even_in_a_comment, a_line_is_bounded, an_argument_is_not_overruled,
      a_name_without_a_slash_is_in_etc, names_that_are_no_path_are_refused)
