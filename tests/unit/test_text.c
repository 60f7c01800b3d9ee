#include "suite.h"

START_TEST(parts_are_put_together)
{
    char buffer[64];
    TEXT_ON(t, buffer);

    ck_assert_str_eq(t.at, "");
    text_str(&t, "a");
    text_char(&t, '=');
    text_u64(&t, 0);
    text_bytes(&t, ";xyz", 2);
    text_u64(&t, UINT64_MAX);
    text_join(&t, "(", "b", ")", NULL);
    text_number(&t, " pid ", 17);
    ck_assert_str_eq(t.at, "a=0;x18446744073709551615(b) pid 17");
    ck_assert_uint_eq(t.len, strlen(t.at));
}
END_TEST

START_TEST(what_does_not_fit_is_cut_off)
{
    char frame[10] = "#########";
    struct text t;

    text_init(&t, frame + 1, 5);
    text_join(&t, "abc", "defg", "h", NULL);
    text_char(&t, 'i');
    text_u64(&t, 123);
    text_quoted(&t, "j", 1);
    ck_assert_str_eq(t.at, "abcd");
    ck_assert_uint_eq(t.len, 4);
    ck_assert_int_eq(frame[0], '#');
    ck_assert_str_eq(frame + 6, "###");
}
END_TEST

START_TEST(one_byte_holds_the_empty_text)
{
    char frame[2] = "##";
    struct text t;

    text_init(&t, frame, 1);
    text_str(&t, "x");
    ck_assert_int_eq(frame[0], '\0');
    ck_assert_int_eq(frame[1], '#');
    ck_assert_uint_eq(t.len, 0);
}
END_TEST

START_TEST(foreign_bytes_are_escaped)
{
    static const char odd[] = "a\033[2J\n\\\x7f\xc3\xa9~ \0z";
    char buffer[128];
    TEXT_ON(t, buffer);

    text_escaped(&t, odd, sizeof(odd) - 1);
    ck_assert_str_eq(t.at, "a\\x1b[2J\\x0a\\x5c\\x7f\\xc3\\xa9~ \\x00z");
}
END_TEST

START_TEST(long_foreign_texts_are_shortened)
{
    char word[TEXT_SHOWN + 2], buffer[512];
    TEXT_ON(t, buffer);

    memset(word, 'w', sizeof(word));
    text_escaped(&t, word, TEXT_SHOWN);
    ck_assert_uint_eq(t.len, TEXT_SHOWN);
    text_init(&t, buffer, sizeof(buffer));
    text_quoted(&t, word, TEXT_SHOWN + 1);
    ck_assert_uint_eq(t.len, TEXT_SHOWN + 5);
    ck_assert_str_eq(t.at + TEXT_SHOWN, "w...'");
}
END_TEST

START_TEST(durations_are_read_by_people)
{
    static const struct {
        uint64_t ms;
        const char *text;
    } rows[] = {
        {0, "0"},           {1, "1ms"},
        {999, "999ms"},     {1000, "1s"},
        {1500, "1500ms"},   {2500, "2s 500ms"},
        {60000, "1m"},      {90000, "90s"},
        {150000, "2m 30s"}, {3600000, "1h"},
        {5400000, "90m"},   {9000000, "2h 30m"},
        {86400000, "24h"},  {90000000, "25h"},
        {172800000, "2d"},  {180000000, "2d 2h"},
        {172800001, "2d"},  {UINT64_MAX, "213503982334d 14h"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char buffer[64];
        TEXT_ON(t, buffer);

        text_duration(&t, rows[i].ms);
        ck_assert_str_eq(t.at, rows[i].text);
    }
}
END_TEST

START_TEST(a_prefix_is_told_from_what_only_resembles_it)
{
    ck_assert_str_eq(text_behind("FDFIT_SOFT=1", "FDFIT_"), "SOFT=1");
    ck_assert_str_eq(text_behind("FDFIT_", "FDFIT_"), "");
    ck_assert_str_eq(text_behind("any", ""), "any");
    ck_assert_ptr_null(text_behind("FDFIT", "FDFIT_"));
    ck_assert_ptr_null(text_behind("XFDFIT_", "FDFIT_"));
    ck_assert_ptr_null(text_behind("", "a"));
}
END_TEST

START_TEST(a_word_is_found_within_its_bytes_alone)
{
    static const char bytes[] = {'a', 'a', 'b', '\0', 'a', 'b', 'c'};

    ck_assert_ptr_eq(text_find(bytes, sizeof(bytes), "ab"), bytes + 1);
    ck_assert_ptr_eq(text_find(bytes, sizeof(bytes), "abc"), bytes + 4);
    ck_assert_ptr_eq(text_find(bytes, sizeof(bytes), "c"), bytes + 6);
    ck_assert_ptr_null(text_find(bytes, sizeof(bytes) - 1, "abc"));
    ck_assert_ptr_null(text_find(bytes, sizeof(bytes), "bc "));
    ck_assert_ptr_null(text_find(bytes, 0, "a"));
}
END_TEST

SUITE("text", a_prefix_is_told_from_what_only_resembles_it, a_word_is_found_within_its_bytes_alone,
      parts_are_put_together, what_does_not_fit_is_cut_off, one_byte_holds_the_empty_text,
      foreign_bytes_are_escaped, long_foreign_texts_are_shortened, durations_are_read_by_people)
