/* The report's text: what is left out, infinity, the escapes of label values. */
#include "measure/prometheus.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static char buffer[PROMETHEUS_MAX_BYTES];

static const char *report(const struct prometheus_report *r)
{
    TEXT_ON(text, buffer);

    prometheus_format(r, &text);
    ck_assert_uint_lt(text.len, text.cap - 1);
    return text.at;
}

static void expect(const char *text, const char *line)
{
    ck_assert_msg(strstr(text, line), "no '%s' in:\n%s", line, text);
}

START_TEST(without_measuring)
{
    const struct prometheus_report r = {.workload = "w", .label = "l", .soft = 256, .hard = UINT64_MAX};
    const char *text = report(&r);

    expect(text, "\nfdfit_nofile_hard{workload=\"w\",label=\"l\"} +Inf\n");
    expect(text, "fdfit_nofile_soft{workload=\"w\",label=\"l\"} 256\n");
    ck_assert_ptr_null(strstr(text, "fdfit_descriptors"));
    ck_assert_ptr_null(strstr(text, "fdfit_lock"));
}
END_TEST

START_TEST(with_everything)
{
    const struct peak_result peak = {
        .need = 1, .bound = 2, .open = 3, .processes = 4, .seen = 5, .at_limit = 6};
    const struct prometheus_report r = {
        .workload = "w", .label = "l", .peak = &peak, .current = 7, .has_lock = true, .lock_refusals = 8};
    const char *text = report(&r);

    expect(text, "fdfit_descriptors_peak{workload=\"w\",label=\"l\"} 1\n");
    expect(text, "fdfit_descriptors_bound{workload=\"w\",label=\"l\"} 2\n");
    expect(text, "fdfit_descriptors_open{workload=\"w\",label=\"l\"} 3\n");
    expect(text, "fdfit_processes{workload=\"w\",label=\"l\"} 4\n");
    expect(text, "fdfit_processes_seen_total{workload=\"w\",label=\"l\"} 5\n");
    expect(text, "fdfit_processes_at_limit_total{workload=\"w\",label=\"l\"} 6\n");
    expect(text, "fdfit_descriptors_highest{workload=\"w\",label=\"l\"} 7\n");
    expect(text, "fdfit_lock_refusals_total{workload=\"w\",label=\"l\"} 8\n");
}
END_TEST

static const struct {
    const char *value, *shown;
} values[] = {
    {"plain", "plain"},
    {"", ""},
    {"a\"b\\c\nd", "a\\\"b\\\\c\\nd"},
    {"\xc3\xbc \xe2\x82\xac \xf0\x9f\x90\xa7", "\xc3\xbc \xe2\x82\xac \xf0\x9f\x90\xa7"},
    {"\xff", "\xef\xbf\xbd"},
    {"\xc3", "\xef\xbf\xbd"},                 /* cut off by the end */
    {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"}, /* the same */
    {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"}, /* overlong */
    {"\xe0\x80\xaf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* a surrogate */
    {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    {"\xc3(", "\xef\xbf\xbd("},
};

START_TEST(label_values)
{
    const struct prometheus_report r = {.workload = values[_i].value, .label = "l"};
    char line[128] = "fdfit_nofile_soft{workload=\"";

    strcat(line, values[_i].shown);
    strcat(line, "\",label=\"l\"} 0\n");
    expect(report(&r), line);
}
END_TEST

START_TEST(the_longest_report_fits)
{
    /* A file name and a label of the greatest length, each byte of which becomes three. */
    char name[256], label[65];
    const struct peak_result peak = {.need = UINT64_MAX - 1};
    const struct prometheus_report r = {
        .workload = name, .label = label, .peak = &peak, .has_lock = true, .soft = UINT64_MAX - 1};

    memset(name, 0xff, 255);
    memset(label, 0xff, 64);
    name[255] = label[64] = '\0';
    report(&r);
}
END_TEST

START_TEST(workload_names)
{
    static const char *const names[][2] = {
        {"shop.prom", "shop"}, {"shop", "shop"}, {".prom", ".prom"}, {"a.prom.prom", "a.prom"}};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        TEXT_ON(text, buffer);

        prometheus_workload(names[i][0], &text);
        ck_assert_str_eq(text.at, names[i][1]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("measure_prometheus");
    TCase *cases = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_test(cases, without_measuring);
    tcase_add_test(cases, with_everything);
    tcase_add_loop_test(cases, label_values, 0, (int)(sizeof(values) / sizeof(values[0])));
    tcase_add_test(cases, the_longest_report_fits);
    tcase_add_test(cases, workload_names);
    suite_add_tcase(suite, cases);
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
