#include "suite.h"

#include "policy/keys.h"

static enum key_id find(const char *name, enum key_place place)
{
    return key_find(name, strlen(name), place);
}

static enum key_id nearest(const char *name, enum key_place place)
{
    return key_nearest(name, strlen(name), place);
}

START_TEST(every_row_is_found_where_it_may_stand_and_nowhere_else)
{
    static const enum key_place places[] = {IN_ARG, IN_ENV, IN_FILE};

    for (unsigned id = 0; id < KEY_COUNT; id++)
        for (size_t i = 0; i < COUNT(places); i++) {
            const struct key *key = key_row((enum key_id)id);
            unsigned expected = key->places & places[i] ? id : KEY_COUNT;

            ck_assert_msg(find(key->name, places[i]) == expected, "%s in place %u", key->name, places[i]);
        }
}
END_TEST

START_TEST(names_are_lower_case_and_fit_a_variable)
{
    for (unsigned id = 0; id < KEY_COUNT; id++) {
        const char *name = key_row((enum key_id)id)->name;

        ck_assert_uint_eq(strspn(name, "abcdefghijklmnopqrstuvwxyz-"), strlen(name));
        ck_assert_uint_lt(strlen(name), 32);
    }
}
END_TEST

START_TEST(letters_are_found_and_each_is_used_once)
{
    for (unsigned id = 0; id < KEY_COUNT; id++) {
        char letter = key_row((enum key_id)id)->letter;

        if (letter)
            ck_assert_uint_eq(key_find_letter(letter), id);
    }
    ck_assert_uint_eq(key_find_letter('Z'), KEY_COUNT);
    ck_assert_uint_eq(key_find_letter('\0'), KEY_COUNT);
}
END_TEST

START_TEST(only_the_whole_name_is_found)
{
    ck_assert_uint_eq(find("sof", IN_ARG), KEY_COUNT);
    ck_assert_uint_eq(find("soft ", IN_ARG), KEY_COUNT);
    ck_assert_uint_eq(find("Soft", IN_ARG), KEY_COUNT);
    ck_assert_uint_eq(find("", IN_ARG), KEY_COUNT);
    ck_assert_uint_eq(key_find("softness", 4, IN_ARG), KEY_SOFT);
}
END_TEST

START_TEST(variables_are_upper_case_with_underscores)
{
    static const struct {
        const char *name;
        enum key_id id;
    } rows[] = {
        {"SOFT", KEY_SOFT},
        {"PEAK_FILE", KEY_PEAK_FILE},
        {"INHERITED_FDS", KEY_INHERITED_FDS},
        {"POLICY", KEY_POLICY},
        {"soft", KEY_COUNT},
        {"PEAK-FILE", KEY_COUNT},
        {"PORT", KEY_COUNT},
        {"", KEY_COUNT},
        {"EXPLAIN", KEY_COUNT},
        {"NOFILE", KEY_COUNT},
        {"SOFT_", KEY_COUNT},
        {"_SOFT", KEY_COUNT},
        {"AVERYLONGNAMETHATNOKEYHASANDTHATDOESNOTFIT", KEY_COUNT},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        ck_assert_msg(key_find_env(rows[i].name, strlen(rows[i].name)) == rows[i].id, "%s", rows[i].name);
}
END_TEST

START_TEST(the_nearest_name_is_one_slip_away)
{
    ck_assert_uint_eq(nearest("sotf", IN_FILE), KEY_SOFT);
    ck_assert_uint_eq(nearest("Soft", IN_FILE), KEY_SOFT);
    ck_assert_uint_eq(nearest("peakfile", IN_FILE), KEY_PEAK_FILE);
    ck_assert_uint_eq(nearest("peak_file", IN_FILE), KEY_PEAK_FILE);
    ck_assert_uint_eq(nearest("head-room", IN_FILE), KEY_HEADROOM);
    ck_assert_uint_eq(nearest("cieling", IN_FILE), KEY_CEILING);
    ck_assert_uint_eq(nearest("fall-back", IN_FILE), KEY_FALLBACK);
    ck_assert_uint_eq(nearest("when_denied", IN_FILE), KEY_WHEN_DENIED);
    ck_assert_uint_eq(nearest("inherited-fd", IN_FILE), KEY_INHERITED_FDS);
}
END_TEST

START_TEST(what_is_far_from_all_has_no_nearest)
{
    ck_assert_uint_eq(nearest("", IN_FILE), KEY_COUNT);
    ck_assert_uint_eq(nearest("limit-of-descriptors", IN_FILE), KEY_COUNT);
    ck_assert_uint_eq(nearest("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", IN_FILE), KEY_COUNT);
}
END_TEST

START_TEST(the_nearest_is_one_that_may_stand_there)
{
    ck_assert_uint_eq(nearest("polcy", IN_ARG), KEY_POLICY);
    ck_assert_uint_eq(nearest("polcy", IN_FILE), KEY_COUNT);
}
END_TEST

START_TEST(unknown_names_are_told_with_the_nearest)
{
    char buffer[256];
    TEXT_ON(t, buffer);

    key_unknown("key", "", "sotf", 4, IN_FILE, &t);
    ck_assert_str_eq(t.at, "unknown key 'sotf'; did you mean 'soft'?");
    text_init(&t, buffer, sizeof(buffer));
    key_unknown("option", "--", "explian=", 7, IN_ARG, &t);
    ck_assert_str_eq(t.at, "unknown option '--explian'; did you mean '--explain'?");
    text_init(&t, buffer, sizeof(buffer));
    key_unknown("key", "", "\r\n", 2, IN_FILE, &t);
    ck_assert_str_eq(t.at, "unknown key '\\x0d\\x0a'");
}
END_TEST

SUITE("keys", every_row_is_found_where_it_may_stand_and_nowhere_else, names_are_lower_case_and_fit_a_variable,
      letters_are_found_and_each_is_used_once, only_the_whole_name_is_found,
      variables_are_upper_case_with_underscores, the_nearest_name_is_one_slip_away,
      what_is_far_from_all_has_no_nearest, the_nearest_is_one_that_may_stand_there,
      unknown_names_are_told_with_the_nearest)
