#include "suite.h"

#include "base/err.h"
#include "launcher/options.h"

#define ARGV(...) ((char *[]){"fdfit", __VA_ARGS__, NULL})

static int count(char *const *argv)
{
    int n = 0;

    while (argv[n])
        n++;
    return n;
}

static void accepted(char *const *argv, struct settings *s, int command)
{
    char bad[TEXT_LINE];
    TEXT_UNTOUCHED(err, bad);
    int got = 77;

    settings_init(s);
    ck_assert_msg(options_parse(count(argv), argv, s, &got, &err) == 0, "%s: %s", argv[1], err.at);
    ck_assert_str_eq(err.at, UNTOUCHED);
    ck_assert_int_eq(got, command);
}

static void refused(char *const *argv, const char *reason)
{
    struct settings s;
    char bad[TEXT_LINE];
    TEXT_ON(err, bad);
    int got = 77;

    settings_init(&s);
    ck_assert_int_eq(options_parse(count(argv), argv, &s, &got, &err), -EINVAL);
    ck_assert_str_eq(err.at, reason);
    ck_assert_int_eq(got, 77);
}

START_TEST(values_stand_apart_or_joined)
{
    char *const *const forms[] = {ARGV("--soft", "512", "cmd", "arg"), ARGV("--soft=512", "--quiet", "cmd"),
                                  ARGV("-n512:600", "-q", "cmd"),      ARGV("-n", "512:600", "--", "cmd"),
                                  ARGV("-qn512", "-v", "cmd"),         ARGV("-vqn", "512", "cmd")};
    static const int commands[] = {3, 3, 3, 4, 3, 3};

    for (size_t i = 0; i < COUNT(forms); i++) {
        struct settings s;

        accepted(forms[i], &s, commands[i]);
        ck_assert_uint_eq(s.value[KEY_SOFT].number, 512);
        ck_assert_int_eq(s.origin[KEY_SOFT].kind, ORIGIN_ARG);
    }
}
END_TEST

START_TEST(options_end_at_the_command)
{
    struct settings s;

    accepted(ARGV("cmd", "-n", "5", "--nonsense"), &s, 1);
    ck_assert_int_eq(s.value[KEY_SOFT].kind, VALUE_NONE);
    accepted(ARGV("--", "-n", "5"), &s, 2);
    accepted(ARGV("--", "--", "5"), &s, 2);
    accepted(ARGV("-", "-n"), &s, 1);
    accepted(ARGV("", "-n"), &s, 1);
    accepted(ARGV("-q"), &s, 2);
    accepted(ARGV("-q", "--"), &s, 3);
}
END_TEST

START_TEST(flags_mean_yes_and_can_be_taken_back)
{
    struct settings s;

    accepted(ARGV("--quiet", "x"), &s, 2);
    ck_assert(value_is(&s.value[KEY_QUIET], WORD_YES));
    accepted(ARGV("-qv", "--quiet=no", "x"), &s, 3);
    ck_assert(value_is(&s.value[KEY_QUIET], WORD_NO));
    ck_assert(value_is(&s.value[KEY_VERBOSE], WORD_YES));
}
END_TEST

START_TEST(the_last_of_two_counts)
{
    struct settings s;

    accepted(ARGV("--soft=1", "--soft=2", "x"), &s, 3);
    ck_assert_uint_eq(s.value[KEY_SOFT].number, 2);
    accepted(ARGV("-n5:9", "--soft=2", "x"), &s, 3);
    ck_assert_uint_eq(s.value[KEY_SOFT].number, 2);
    ck_assert_uint_eq(s.value[KEY_HARD].number, 9);
}
END_TEST

START_TEST(bad_options_are_named)
{
    refused(ARGV("--sotf=5", "x"), "unknown option '--sotf'; did you mean '--soft'?");
    refused(ARGV("--zebra", "x"), "unknown option '--zebra'");
    refused(ARGV("--=5", "x"), "unknown option '--'");
    refused(ARGV("-qZ", "x"), "unknown option '-Z'; fdfit --help lists them");
    refused(ARGV("-\033", "x"), "unknown option '-\\x1b'; fdfit --help lists them");
    refused(ARGV("--soft", "--", "x"), "--soft: '--' is not a number, 'inherit', 'peak' or 'unlimited'");
    refused(ARGV("--soft"), "--soft needs a value: N|inherit|peak|unlimited");
    refused(ARGV("-qn"), "-n needs a value: SOFT[:HARD]");
    refused(ARGV("--soft=", "x"),
            "--soft: the value is empty, but should be a number, 'inherit', 'peak' or 'unlimited'");
    refused(ARGV("-n=5", "x"), "--nofile: '=5' is not a number or 'unlimited'");
    refused(ARGV("--quiet=maybe", "x"), "--quiet: 'maybe' is not 'no' or 'yes'");
}
END_TEST

static void environment_is(char **environment, const char *expected)
{
    char joined[256];
    TEXT_ON(t, joined);

    for (; *environment; environment++)
        text_join(&t, *environment, ";", NULL);
    ck_assert_str_eq(t.at, expected);
}

START_TEST(variables_that_are_keys_are_read_and_taken_out)
{
    char *environment[] = {"A=1", "FDFIT_SOFT=512",       "FDFIT_PORT=tcp://10.0.0.1:80",
                           "B=",  "FDFIT_PEAK_FILE=/p=q", NULL};
    struct settings s;
    char bad[TEXT_LINE];
    TEXT_UNTOUCHED(err, bad);

    settings_init(&s);
    ck_assert_int_eq(options_environment(environment, &s, &err), 0);
    environment_is(environment, "A=1;FDFIT_PORT=tcp://10.0.0.1:80;B=;");
    ck_assert_uint_eq(s.value[KEY_SOFT].number, 512);
    ck_assert_int_eq(s.origin[KEY_SOFT].kind, ORIGIN_ENV);
    ck_assert_str_eq(s.value[KEY_PEAK_FILE].text, "/p=q");
}
END_TEST

START_TEST(of_two_variables_the_first_counts)
{
    char *environment[] = {"FDFIT_SOFT=1", "FDFIT_SOFT=2", "A=1", NULL};
    struct settings s;
    char bad[TEXT_LINE];
    TEXT_ON(err, bad);

    settings_init(&s);
    ck_assert_int_eq(options_environment(environment, &s, &err), 0);
    ck_assert_uint_eq(s.value[KEY_SOFT].number, 1);
    environment_is(environment, "A=1;");
}
END_TEST

START_TEST(a_variable_that_is_overruled_is_taken_out_too)
{
    char *environment[] = {"FDFIT_SOFT=1", NULL};
    struct settings s;
    char bad[TEXT_LINE];
    TEXT_ON(err, bad);

    accepted(ARGV("--soft=9", "x"), &s, 2);
    ck_assert_int_eq(options_environment(environment, &s, &err), 0);
    ck_assert_uint_eq(s.value[KEY_SOFT].number, 9);
    environment_is(environment, "");
}
END_TEST

START_TEST(a_bad_variable_is_named)
{
    char *environment[] = {"FDFIT_PEAK=many", NULL};
    struct settings s;
    char bad[TEXT_LINE];
    TEXT_ON(err, bad);

    settings_init(&s);
    ck_assert_int_eq(options_environment(environment, &s, &err), -EINVAL);
    ck_assert_str_eq(err.at, "FDFIT_PEAK: 'many' is not a number");
}
END_TEST

START_TEST(foreign_variables_are_listed)
{
    char *environment[] = {"A=1", "FDFIT_PORT=x", "FDFIT_", "XFDFIT_A=1", "FDFIT_soft=3", NULL};
    char names[128];
    TEXT_ON(t, names);

    options_foreign(environment, &t);
    ck_assert_str_eq(t.at, "FDFIT_PORT FDFIT_ FDFIT_soft");
}
END_TEST

START_TEST(help_names_each_option_and_ends_whole)
{
    static char buffer[8192]; /* as large as main's */
    static const char end[] = "See fdfit(1) and fdfit.conf(5).\n";
    TEXT_ON(t, buffer);

    options_help(&t);
    for (unsigned id = 0; id < KEY_COUNT; id++) {
        char option[64];
        TEXT_ON(name, option);

        text_join(&name, "--", key_row((enum key_id)id)->name, NULL);
        if (key_row((enum key_id)id)->places & IN_ARG)
            ck_assert_msg(strstr(t.at, name.at) != NULL, "%s", name.at);
    }
    /* Compared without printing: the lines of a text are none of TAP's. */
    ck_assert(strcmp(t.at + t.len - strlen(end), end) == 0);
}
END_TEST

SUITE("options", values_stand_apart_or_joined, options_end_at_the_command,
      flags_mean_yes_and_can_be_taken_back, the_last_of_two_counts, bad_options_are_named,
      variables_that_are_keys_are_read_and_taken_out, of_two_variables_the_first_counts,
      a_variable_that_is_overruled_is_taken_out_too, a_bad_variable_is_named, foreign_variables_are_listed,
      help_names_each_option_and_ends_whole)
