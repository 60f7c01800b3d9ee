#include "suite.h"

#include "base/err.h"
#include "policy/settings.h"

static const struct origin from_file = {ORIGIN_FILE, 3}, from_env = {ORIGIN_ENV, 0},
                           from_arg = {ORIGIN_ARG, 0};

static void put(struct settings *s, enum key_id id, const char *value, struct origin origin)
{
    char bad[TEXT_LINE];
    TEXT_UNTOUCHED(err, bad);

    ck_assert_msg(settings_put(s, id, value, origin, &err) == 0, "%s: %s", value, err.at);
    ck_assert_str_eq(err.at, UNTOUCHED);
}

static void refused(struct settings *s, enum key_id id, const char *value, const char *reason)
{
    struct settings before = *s;
    char bad[TEXT_LINE];
    TEXT_ON(err, bad);

    ck_assert_int_eq(settings_put(s, id, value, from_arg, &err), -EINVAL);
    ck_assert_str_eq(err.at, reason);
    ck_assert(value_is(&s->value[KEY_SOFT], WORD_PEAK));
    ck_assert_mem_eq(&s->value[KEY_HARD], &before.value[KEY_HARD], sizeof(before.value[KEY_HARD]));
}

static void pair_is(const char *pair, const char *soft, const char *hard)
{
    struct settings s;
    char one[64], two[64];
    TEXT_ON(got_soft, one);
    TEXT_ON(got_hard, two);

    settings_init(&s);
    put(&s, KEY_NOFILE, pair, from_arg);
    value_format(&s.value[KEY_SOFT], &got_soft);
    value_format(&s.value[KEY_HARD], &got_hard);
    ck_assert_msg(strcmp(got_soft.at, soft) == 0 && strcmp(got_hard.at, hard) == 0, "%s is %s:%s", pair,
                  got_soft.at, got_hard.at);
}

START_TEST(all_begins_at_the_defaults)
{
    struct settings s;

    settings_init(&s);
    for (unsigned id = 0; id < KEY_COUNT; id++) {
        ck_assert_int_eq(s.origin[id].kind, ORIGIN_DEFAULT);
        ck_assert_int_eq(s.value[id].kind, key_row((enum key_id)id)->fallback.kind);
    }
    ck_assert_int_eq(s.value[KEY_SOFT].kind, VALUE_NONE);
    ck_assert_uint_eq(s.value[KEY_FLOOR].number, 256);
    ck_assert_uint_eq(s.value[KEY_SETTLE].number, 86400000);
}
END_TEST

START_TEST(argument_beats_variable_beats_file)
{
    static const struct origin origins[] = {{ORIGIN_FILE, 3}, {ORIGIN_ENV, 0}, {ORIGIN_ARG, 0}};
    static const char *const values[] = {"100", "200", "300"};

    for (size_t a = 0; a < 3; a++)
        for (size_t b = 0; b < 3; b++) {
            size_t wins = b >= a ? b : a;
            struct settings s;

            settings_init(&s);
            put(&s, KEY_SOFT, values[a], origins[a]);
            put(&s, KEY_SOFT, values[b], origins[b]);
            ck_assert_uint_eq(s.value[KEY_SOFT].number, (wins + 1) * 100);
            ck_assert_int_eq(s.origin[KEY_SOFT].kind, origins[wins].kind);
        }
}
END_TEST

START_TEST(the_same_origin_again_replaces)
{
    struct settings s;

    settings_init(&s);
    put(&s, KEY_SOFT, "1", from_arg);
    put(&s, KEY_SOFT, "2", from_arg);
    ck_assert_uint_eq(s.value[KEY_SOFT].number, 2);
}
END_TEST

START_TEST(what_is_overruled_is_checked_all_the_same)
{
    struct settings s;
    char bad[TEXT_LINE];
    TEXT_ON(err, bad);

    settings_init(&s);
    put(&s, KEY_FLOOR, "5", from_arg);
    ck_assert_int_eq(settings_put(&s, KEY_FLOOR, "five", from_file, &err), -EINVAL);
    ck_assert_str_eq(err.at, "'five' is not a number");
    ck_assert_uint_eq(s.value[KEY_FLOOR].number, 5);
}
END_TEST

START_TEST(a_pair_is_read_as_prlimit_reads_it)
{
    pair_is("1024", "1024", "1024");
    pair_is("256:1024", "256", "1024");
    pair_is("256:", "256", "inherit");
    pair_is(":1024", "inherit", "1024");
    pair_is("unlimited", "unlimited", "unlimited");
    pair_is("unlimited:", "unlimited", "inherit");
    pair_is(":unlimited", "inherit", "unlimited");
    pair_is("256:unlimited", "256", "unlimited");
    pair_is("0:0", "0", "0");
    pair_is("18446744073709551615", "18446744073709551615", "18446744073709551615");
}
END_TEST

START_TEST(a_bad_pair_changes_nothing)
{
    struct settings s;

    settings_init(&s);
    put(&s, KEY_SOFT, "peak", from_file);
    put(&s, KEY_HARD, "soft", from_file);
    refused(&s, KEY_NOFILE, "", "the value is empty, but should be a text");
    refused(&s, KEY_NOFILE, ":", "no limit in it; write SOFT, SOFT:HARD, SOFT: or :HARD");
    refused(&s, KEY_NOFILE, "1:2:3", "'2:3' is not a number or 'unlimited'");
    refused(&s, KEY_NOFILE, "1:x", "'x' is not a number or 'unlimited'");
    refused(&s, KEY_NOFILE, "-1", "'-1' is not a number or 'unlimited'");
    refused(&s, KEY_NOFILE, "1024 :2048", "'1024 ' is not a number or 'unlimited'");
    refused(&s, KEY_NOFILE, "inherit", "'inherit' is not a number or 'unlimited'");
    refused(&s, KEY_NOFILE, "18446744073709551616",
            "'18446744073709551616' is too large for a number or 'unlimited'");
    refused(&s, KEY_NOFILE, "1:00000000000000000000000000000001",
            "the hard limit '00000000000000000000000000000001' is too long");
}
END_TEST

START_TEST(a_pair_respects_precedence_half_by_half)
{
    struct settings s;

    settings_init(&s);
    put(&s, KEY_HARD, "5000", from_arg);
    put(&s, KEY_NOFILE, "100:200", from_env);
    ck_assert_uint_eq(s.value[KEY_SOFT].number, 100);
    ck_assert_uint_eq(s.value[KEY_HARD].number, 5000);
}
END_TEST

START_TEST(origins_are_named)
{
    const struct origin none = {ORIGIN_DEFAULT, 0};
    const struct {
        const struct origin *origin;
        enum key_id id;
        const char *text;
    } rows[] = {
        {&none, KEY_SOFT, "default"},
        {&from_arg, KEY_SOFT, "argument"},
        {&from_env, KEY_PEAK_FILE, "FDFIT_PEAK_FILE"},
        {&from_file, KEY_SOFT, "/etc/fdfit/web.conf:3"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char buffer[64];
        TEXT_ON(t, buffer);

        origin_format(rows[i].origin, rows[i].id, "/etc/fdfit/web.conf", &t);
        ck_assert_str_eq(t.at, rows[i].text);
    }
}
END_TEST

START_TEST(a_variable_is_found_under_the_name_that_origins_give)
{
    for (unsigned id = 0; id < KEY_COUNT; id++) {
        char buffer[64];
        TEXT_ON(t, buffer);

        if (!(key_row((enum key_id)id)->places & IN_ENV))
            continue;
        origin_format(&from_env, (enum key_id)id, NULL, &t);
        ck_assert_uint_eq(key_find_env(t.at + strlen("FDFIT_"), t.len - strlen("FDFIT_")), id);
    }
}
END_TEST

SUITE("settings", all_begins_at_the_defaults, argument_beats_variable_beats_file,
      the_same_origin_again_replaces, what_is_overruled_is_checked_all_the_same,
      a_pair_is_read_as_prlimit_reads_it, a_bad_pair_changes_nothing, a_pair_respects_precedence_half_by_half,
      origins_are_named, a_variable_is_found_under_the_name_that_origins_give)
