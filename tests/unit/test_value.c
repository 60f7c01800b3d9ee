#include "suite.h"

#include "base/err.h"
#include "policy/keys.h"

/* Words and numbers of every shape; what a key does not take it must refuse, what it takes it must give back.
 */
static const char *const samples[] = {
    "no",    "yes",  "inherit",         "soft",  "peak",    "unlimited", "fail",    "clamp",
    "warn",  "keep", "close",           "0",     "1",       "256",       "1048576", "18446744073709551615",
    "50%",   "0%",   "1000%",           "+0",    "+200",    "0s",        "500ms",   "90s",
    "24h",   "2d",   "/run/fdfit/peak", "web",   "a b",     "TERM",      "143:0",   "child",
    "group", "tree", "TERM:INT",        "HUP:0", "RTMIN+2", "HUP",
};

static bool same(const struct value *a, const struct value *b)
{
    if (a->kind != b->kind)
        return false;
    return a->kind == VALUE_TEXT ? strcmp(a->text, b->text) == 0 : a->number == b->number;
}

static void parse_format_parse(const struct key *key, const char *sample)
{
    char buffer[256], bad[TEXT_LINE], bad_again[TEXT_LINE];
    struct value value, again;
    TEXT_ON(t, buffer);
    TEXT_UNTOUCHED(err, bad);
    TEXT_UNTOUCHED(err_again, bad_again);

    if (value_parse(sample, &key->rule, &value, &err) < 0)
        return;
    ck_assert_str_eq(err.at, UNTOUCHED);
    value_format(&value, &t);
    ck_assert_msg(value_parse(t.at, &key->rule, &again, &err_again) == 0, "%s: %s became %s: %s", key->name,
                  sample, t.at, err_again.at);
    ck_assert_msg(same(&value, &again), "%s: %s became %s", key->name, sample, t.at);
}

START_TEST(format_is_the_inverse_of_parse_for_every_key)
{
    for (unsigned id = 0; id < KEY_COUNT; id++)
        for (size_t i = 0; i < COUNT(samples); i++)
            parse_format_parse(key_row((enum key_id)id), samples[i]);
}
END_TEST

START_TEST(every_key_takes_one_of_the_samples)
{
    for (unsigned id = 0; id < KEY_COUNT; id++) {
        const struct key *key = key_row((enum key_id)id);
        char bad[TEXT_LINE];
        struct value value;
        size_t taken = 0;

        for (size_t i = 0; i < COUNT(samples); i++) {
            TEXT_ON(err, bad);
            taken += value_parse(samples[i], &key->rule, &value, &err) == 0;
        }
        ck_assert_msg(taken > 0, "no sample for %s", key->name);
    }
}
END_TEST

START_TEST(every_default_is_a_value_of_its_key)
{
    for (unsigned id = 0; id < KEY_COUNT; id++) {
        const struct key *key = key_row((enum key_id)id);
        const struct value fallback = key_fallback((enum key_id)id);
        char buffer[64], bad[TEXT_LINE];
        struct value again;
        TEXT_ON(t, buffer);
        TEXT_ON(err, bad);

        value_format(&fallback, &t);
        if (fallback.kind == VALUE_NONE) {
            ck_assert_str_eq(t.at, "-");
            continue;
        }
        ck_assert_msg(value_parse(t.at, &key->rule, &again, &err) == 0, "%s: %s", key->name, err.at);
        ck_assert_msg(same(&fallback, &again), "%s: %s", key->name, t.at);
    }
}
END_TEST

START_TEST(a_long_text_is_given_back_whole)
{
    const struct value_rule rule = {.words = 0, .kinds = KIND_BIT(VALUE_TEXT)};
    char path[200], buffer[512], bad[TEXT_LINE];
    struct value value;
    TEXT_ON(t, buffer);
    TEXT_ON(err, bad);

    memset(path, 'p', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    ck_assert_int_eq(value_parse(path, &rule, &value, &err), 0);
    ck_assert_ptr_eq(value.text, path);
    value_format(&value, &t);
    ck_assert_str_eq(t.at, path);
}
END_TEST

START_TEST(refusals_name_the_value_and_what_is_right)
{
    static const struct {
        enum key_id key;
        const char *value, *reason;
    } rows[] = {
        {KEY_SOFT, "", "the value is empty, but should be a number, 'inherit', 'peak' or 'unlimited'"},
        {KEY_SOFT, "-1", "'-1' is not a number, 'inherit', 'peak' or 'unlimited'"},
        {KEY_SOFT, "Peak", "'Peak' is not a number, 'inherit', 'peak' or 'unlimited'"},
        {KEY_SOFT, "soft", "'soft' is not a number, 'inherit', 'peak' or 'unlimited'"},
        {KEY_HARD, "peak", "'peak' is not a number, 'inherit', 'soft' or 'unlimited'"},
        {KEY_PEAK, "0x7f", "'0x7f' is not a number"},
        {KEY_PEAK, "18446744073709551616", "'18446744073709551616' is too large for a number"},
        {KEY_HEADROOM, "50", "'50' is not a percentage (50%) or an addition (+200)"},
        {KEY_HEADROOM, "-5%", "'-5%' is not a percentage (50%) or an addition (+200)"},
        {KEY_HEADROOM, "+-5", "'+-5' is not a percentage (50%) or an addition (+200)"},
        {KEY_HEADROOM, "%", "'%' is not a percentage (50%) or an addition (+200)"},
        {KEY_HEADROOM, "99999999999999999999%",
         "'99999999999999999999%' is too large for a percentage (50%) or an addition (+200)"},
        {KEY_SETTLE, "1 day", "'1 day' is not a duration (500ms, 90s, 24h)"},
        {KEY_WHEN_DENIED, "maybe", "'maybe' is not 'fail' or 'clamp'"},
        {KEY_INHERITED_FDS, "yes", "'yes' is not 'warn', 'keep' or 'close'"},
        {KEY_QUIET, "1", "'1' is not 'no' or 'yes'"},
        {KEY_PEAK_FILE, "", "the value is empty, but should be a text"},
        {KEY_FLOOR, "\033[31m", "'\\x1b[31m' is not a number"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct value value = {.kind = VALUE_NUMBER, .number = 77};
        char bad[TEXT_LINE];
        TEXT_ON(err, bad);

        ck_assert_int_eq(value_parse(rows[i].value, &key_row(rows[i].key)->rule, &value, &err), -EINVAL);
        ck_assert_str_eq(err.at, rows[i].reason);
        ck_assert_uint_eq(value.number, 77);
    }
}
END_TEST

START_TEST(value_is_looks_at_the_kind_too)
{
    struct value number = {.kind = VALUE_NUMBER, .number = WORD_PEAK};
    struct value word = {.kind = VALUE_WORD, .number = WORD_PEAK};

    ck_assert(!value_is(&number, WORD_PEAK));
    ck_assert(value_is(&word, WORD_PEAK));
    ck_assert(!value_is(&word, WORD_SOFT));
}
END_TEST

SUITE("value", format_is_the_inverse_of_parse_for_every_key, every_key_takes_one_of_the_samples,
      every_default_is_a_value_of_its_key, a_long_text_is_given_back_whole,
      refusals_name_the_value_and_what_is_right, value_is_looks_at_the_kind_too)
