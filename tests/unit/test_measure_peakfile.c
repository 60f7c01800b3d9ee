/* The peak file: merging, formatting as the inverse of parsing, and what counts as torn. */
#include "measure/peakfile.h"

#include "base/err.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct peak_record record(const char *label, uint64_t need, uint64_t bound, uint64_t observed)
{
    struct peak_record r = {.need = need, .bound = bound, .observed = observed, .at = need + 1};

    strcpy(r.label, label);
    strcpy(r.by, need % 2 ? "odd" : "even");
    return r;
}

static int parse(const char *bytes, size_t n, struct peak_file *ret)
{
    char buffer[TEXT_LINE];
    TEXT_ON(error, buffer);
    int r = peakfile_parse(bytes, n, ret, &error);

    ck_assert_int_eq(r<0, error.len> 0);
    return r;
}

START_TEST(merge_keeps_the_larger)
{
    struct peak_file file = {.count = 0};
    struct peak_record a = record("a", 127, 128, 10), less = record("a", 90, 4096, 5),
                       more = record("a", 200, 256, 1);

    ck_assert_int_eq(peakfile_merge(&file, &a, false), 0);
    ck_assert_int_eq(peakfile_merge(&file, &less, false), 0);
    ck_assert_uint_eq(file.count, 1);
    ck_assert_uint_eq(file.record[0].need, 127);
    ck_assert_uint_eq(file.record[0].at, 128);
    ck_assert_uint_eq(file.record[0].bound, 4096);
    ck_assert_uint_eq(file.record[0].observed, 15);
    ck_assert_str_eq(file.record[0].by, "odd");
    ck_assert_int_eq(peakfile_merge(&file, &more, false), 0);
    ck_assert_uint_eq(file.record[0].need, 200);
    ck_assert_uint_eq(file.record[0].at, 201);
    ck_assert_uint_eq(file.record[0].bound, 4096);
    ck_assert_str_eq(file.record[0].by, "even");
}
END_TEST

START_TEST(merge_stays_measured_and_does_not_wrap)
{
    struct peak_file file = {.count = 0};
    struct peak_record a = record("a", 1, 64, UINT64_MAX - 1), again = record("a", 1, 64, 5);

    a.measured = true;
    peakfile_merge(&file, &a, false);
    peakfile_merge(&file, &again, false);
    ck_assert(file.record[0].measured);
    ck_assert_uint_eq(file.record[0].observed, UINT64_MAX);
}
END_TEST

START_TEST(reset_takes_the_place_of_one_label)
{
    struct peak_file file = {.count = 0};
    struct peak_record a = record("a", 500, 512, 9), b = record("b", 400, 512, 9),
                       anew = record("a", 20, 64, 1);

    peakfile_merge(&file, &a, false);
    peakfile_merge(&file, &b, false);
    ck_assert_int_eq(peakfile_merge(&file, &anew, true), 0);
    ck_assert_uint_eq(file.count, 2);
    ck_assert_uint_eq(file.record[0].need, 20);
    ck_assert_uint_eq(file.record[0].bound, 64);
    ck_assert_uint_eq(file.record[0].observed, 1);
    ck_assert_uint_eq(file.record[1].need, 400);
}
END_TEST

START_TEST(without_a_need_only_time_is_added)
{
    struct peak_file file = {.count = 0};
    struct peak_record nothing = record("a", 0, 64, 7), a = record("a", 5, 64, 1);

    ck_assert_int_eq(peakfile_merge(&file, &nothing, false), 0);
    ck_assert_int_eq(peakfile_merge(&file, &nothing, true), 0);
    ck_assert_uint_eq(file.count, 0);
    peakfile_merge(&file, &a, false);
    peakfile_merge(&file, &nothing, true);
    ck_assert_uint_eq(file.record[0].need, 5);
    peakfile_merge(&file, &nothing, false);
    ck_assert_uint_eq(file.record[0].observed, 8);
}
END_TEST

static void fill(struct peak_file *file)
{
    char label[] = "aa";

    for (size_t i = 0; i < PEAKFILE_MAX_RECORDS; i++) {
        struct peak_record r;

        label[0] = (char)('a' + i / 26);
        label[1] = (char)('a' + i % 26);
        r = record(label, i + 1, 64, i);
        ck_assert_int_eq(peakfile_merge(file, &r, false), 0);
    }
}

START_TEST(a_full_file_takes_known_labels_only)
{
    struct peak_file file = {.count = 0};
    struct peak_record known = record("ab", 900, 1024, 1), unknown = record("zz", 900, 1024, 1);

    fill(&file);
    ck_assert_int_eq(peakfile_merge(&file, &unknown, false), PEAKFILE_FULL);
    ck_assert_int_eq(peakfile_merge(&file, &unknown, true), PEAKFILE_FULL);
    ck_assert_int_eq(peakfile_merge(&file, &known, false), 0);
    ck_assert_uint_eq(file.record[1].need, 900);
}
END_TEST

START_TEST(format_is_the_inverse_of_parse)
{
    struct peak_file file = {.count = 0}, back = {.count = 0};
    char bytes[PEAKFILE_MAX_BYTES + 1], again[PEAKFILE_MAX_BYTES + 1];
    TEXT_ON(first, bytes);
    TEXT_ON(second, again);

    fill(&file);
    file.record[3].measured = true;
    file.record[4].by[0] = '\0';
    memset(file.record[5].label, 'x', PEAKFILE_LABEL);
    memset(file.record[5].by, 'y', PEAKFILE_NAME);
    file.record[5].need = file.record[5].bound = file.record[5].observed = file.record[5].at = UINT64_MAX;
    strcpy(file.record[6].label, "end");
    peakfile_format(&file, &first);
    ck_assert_int_eq(parse(first.at, first.len, &back), 0);
    ck_assert_uint_eq(back.count, file.count);
    for (size_t i = 0; i < file.count; i++) {
        ck_assert_str_eq(back.record[i].label, file.record[i].label);
        ck_assert_str_eq(back.record[i].by, file.record[i].by);
        ck_assert_uint_eq(back.record[i].need, file.record[i].need);
        ck_assert_uint_eq(back.record[i].bound, file.record[i].bound);
        ck_assert_uint_eq(back.record[i].observed, file.record[i].observed);
        ck_assert_uint_eq(back.record[i].at, file.record[i].at);
        ck_assert_int_eq(back.record[i].measured, file.record[i].measured);
    }
    peakfile_format(&back, &second);
    ck_assert_str_eq(first.at, second.at);
}
END_TEST

START_TEST(the_longest_file_fits)
{
    struct peak_file file = {.count = PEAKFILE_MAX_RECORDS}, back;
    char bytes[PEAKFILE_MAX_BYTES + 1];
    TEXT_ON(text, bytes);

    for (size_t i = 0; i < file.count; i++) {
        struct peak_record *r = &file.record[i];

        memset(r, 0, sizeof(*r));
        memset(r->label, 'a' + (int)i % 26, PEAKFILE_LABEL);
        memset(r->by, 'y', PEAKFILE_NAME);
        r->need = r->bound = r->observed = r->at = UINT64_MAX;
        r->measured = true;
    }
    peakfile_format(&file, &text);
    ck_assert_uint_lt(text.len, PEAKFILE_MAX_BYTES);
    ck_assert_int_eq(parse(text.at, text.len, &back), 0);
}
END_TEST

START_TEST(words_stay_words)
{
    struct peak_file file = {.count = 0}, back;
    struct peak_record odd = record("a b=\n\x7f\xff", 3, 64, 1), same = record("a_b____", 9, 64, 1);
    char bytes[PEAKFILE_MAX_BYTES + 1];
    TEXT_ON(text, bytes);

    strcpy(odd.by, "two words");
    peakfile_merge(&file, &odd, false);
    peakfile_format(&file, &text);
    ck_assert_int_eq(parse(text.at, text.len, &back), 0);
    ck_assert_str_eq(back.record[0].label, "a_b____");
    ck_assert_str_eq(back.record[0].by, "two_words");
    /* The label of the next start is compared as it stands in the file. */
    peakfile_merge(&back, &odd, false);
    peakfile_merge(&back, &same, false);
    ck_assert_uint_eq(back.count, 1);
    ck_assert_uint_eq(back.record[0].need, 9);
}
END_TEST

static const struct {
    const char *bytes;
    size_t n;
    int error;
} damaged[] = {
#define CASE(text, error)                                                                                    \
    {                                                                                                        \
        text, sizeof(text) - 1, error                                                                        \
    }
    CASE("", -EBADMSG),
    CASE("f", -EBADMSG),
    CASE("fdfit-peak 1", -EBADMSG),
    CASE("fdfit-peak 1\n", -EBADMSG),
    CASE("fdfit-peak 1\na need=5\n", -EBADMSG),
    CASE("fdfit-peak 1\na need=5\nend 2\n", -EBADMSG),
    CASE("fdfit-peak 1\na need=5x\nend 1\n", -EBADMSG),
    CASE("fdfit-peak 1\na bound=5\nend 1\n", -EBADMSG),
    CASE("fdfit-peak 1\na need=5\0\nend 1\n", -EBADMSG),
    CASE("\0\0\0\0", -EBADMSG),
    CASE("fdfit-peak 2\n", -EINVAL),
    CASE("fdfit-peak 10\nend 0\n", -EINVAL),
    CASE("fdfit-peak 2\nhalf", -EINVAL),
    CASE("fdfit-peak x\n", -EINVAL),
    CASE("fdfit_peak 1\nend 0\n", -EINVAL),
    CASE("hello", -EINVAL),
    CASE("hello\n", -EINVAL),
    CASE("\0\0\0x", -EINVAL),
};

START_TEST(torn_or_foreign)
{
    struct peak_file file = {.count = 77};

    ck_assert_int_eq(parse(damaged[_i].bytes, damaged[_i].n, &file), damaged[_i].error);
    ck_assert_uint_eq(file.count, 77);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("measure_peakfile");
    TCase *cases = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_test(cases, merge_keeps_the_larger);
    tcase_add_test(cases, merge_stays_measured_and_does_not_wrap);
    tcase_add_test(cases, reset_takes_the_place_of_one_label);
    tcase_add_test(cases, without_a_need_only_time_is_added);
    tcase_add_test(cases, a_full_file_takes_known_labels_only);
    tcase_add_test(cases, format_is_the_inverse_of_parse);
    tcase_add_test(cases, the_longest_file_fits);
    tcase_add_test(cases, words_stay_words);
    tcase_add_loop_test(cases, torn_or_foreign, 0, (int)(sizeof(damaged) / sizeof(damaged[0])));
    suite_add_tcase(suite, cases);
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
