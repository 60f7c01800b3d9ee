#include "suite.h"

#include "base/err.h"
#include "policy/plan.h"

#include <time.h>

#define DAY 86400000ull

/* What a row begins with: a container that inherited the engine's limit. */
#define INHERITED                                                                                            \
    {                                                                                                        \
        1048576, 1048576                                                                                     \
    }
#define MILLION 1048576

struct row {
    const char *settings; /* "key=value ..." */
    struct nofile inherited;
    uint64_t nr_open;
    bool raise_refused;
    struct plan_peak recorded;
    int r;
    const char *line; /* of plan_format, or the error */
};

static void put_all(struct settings *s, const char *list)
{
    static char words[256];
    char *rest = words;

    ck_assert_uint_lt(strlen(list), sizeof(words));
    memcpy(words, list, strlen(list) + 1);
    settings_init(s);
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '='), bad[TEXT_LINE];
        TEXT_ON(err, bad);

        *value++ = '\0';
        ck_assert_msg(settings_put(s, key_find(word, strlen(word), IN_ARG), value,
                                   (struct origin){ORIGIN_ARG, 0}, &err) == 0,
                      "%s: %s", word, err.at);
    }
}

static void check(const struct row *row)
{
    struct plan_in in = {row->inherited, row->nr_open, row->raise_refused, row->recorded};
    struct plan plan = {.notes = 77};
    struct settings s;
    char one[TEXT_LINE], two[TEXT_LINE];
    TEXT_ON(line, one);
    TEXT_ON(err, two);
    int r;

    put_all(&s, row->settings);
    r = plan_make(&s, &in, &plan, &err);
    ck_assert_msg(r == row->r, "'%s' gave %d, not %d: %s", row->settings, r, row->r, err.at);
    if (r == 0)
        plan_format(&plan, &line);
    ck_assert_msg(strcmp(r == 0 ? line.at : err.at, row->line) == 0, "'%s' gave\n  %s\nnot\n  %s",
                  row->settings, r == 0 ? line.at : err.at, row->line);
    if (r == 0)
        ck_assert_uint_le(plan.limit.soft, plan.limit.hard);
    else
        ck_assert_uint_eq(plan.notes, 77);
}

static void check_all(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check(&rows[i]);
}

START_TEST(given_limits)
{
    static const struct row rows[] = {
        {.settings = "soft=1024", .inherited = INHERITED, .line = "nofile 1048576:1048576 -> 1024:1024"},
        {.settings = "soft=1024 hard=4096",
         .inherited = INHERITED,
         .line = "nofile 1048576:1048576 -> 1024:4096"},
        {.settings = "soft=1024 hard=inherit",
         .inherited = INHERITED,
         .line = "nofile 1048576:1048576 -> 1024:1048576"},
        {.settings = "soft=1024 hard=soft",
         .inherited = INHERITED,
         .line = "nofile 1048576:1048576 -> 1024:1024"},
        {.settings = "soft=inherit", .inherited = {1024, 4096}, .line = "nofile 1024:4096 kept"},
        {.settings = "soft=inherit hard=soft",
         .inherited = {1024, 4096},
         .line = "nofile 1024:4096 -> 1024:1024"},
        {.settings = "hard=2048", .inherited = {1024, 4096}, .line = "nofile 1024:4096 -> 1024:2048"},
        {.settings = "hard=soft", .inherited = {1024, 4096}, .line = "nofile 1024:4096 -> 1024:1024"},
        {.settings = "hard=inherit", .inherited = {1024, 4096}, .line = "nofile 1024:4096 kept"},
        {.settings = "nofile=256:", .inherited = {1024, 4096}, .line = "nofile 1024:4096 -> 256:4096"},
        {.settings = "nofile=:1024", .inherited = {1024, 4096}, .line = "nofile 1024:4096 -> 1024:1024"},
        {.settings = "soft=1024 hard=1024", .inherited = {1024, 1024}, .line = "nofile 1024:1024 kept"},
        {.settings = "soft=0", .inherited = {1024, 1024}, .line = "nofile 1024:1024 -> 0:0"},
        {.settings = "soft=1024",
         .inherited = {UINT64_MAX, UINT64_MAX},
         .line = "nofile unlimited:unlimited -> 1024:1024"},
        {.settings = "", .inherited = INHERITED, .r = PLAN_NO_TARGET, .line = ""},
        {.settings = "peak=5 fallback=5 floor=5", .inherited = INHERITED, .r = PLAN_NO_TARGET, .line = ""},
    };

    check_all(rows, COUNT(rows));
}
END_TEST

START_TEST(unlimited_is_nr_open)
{
    static const struct row rows[] = {
        {.settings = "soft=unlimited", .inherited = {1024, 4096}, .r = PLAN_NEEDS_NR_OPEN, .line = ""},
        {.settings = "soft=5 hard=unlimited", .inherited = {1024, 4096}, .r = PLAN_NEEDS_NR_OPEN, .line = ""},
        {.settings = "soft=unlimited",
         .inherited = {1024, 4096},
         .nr_open = MILLION,
         .line = "nofile 1024:4096 -> 1048576:1048576 (unlimited is fs.nr_open)"},
        {.settings = "soft=5 hard=unlimited",
         .inherited = {1024, 4096},
         .nr_open = MILLION,
         .line = "nofile 1024:4096 -> 5:1048576"},
        {.settings = "soft=unlimited hard=inherit when-denied=clamp",
         .inherited = {1024, 4096},
         .nr_open = MILLION,
         .line = "nofile 1024:4096 -> 4096:4096 (unlimited is fs.nr_open, soft clamped to hard)"},
    };

    check_all(rows, COUNT(rows));
}
END_TEST

START_TEST(soft_above_hard)
{
    static const struct row rows[] = {
        {.settings = "soft=2000 hard=1000",
         .inherited = INHERITED,
         .r = -EPERM,
         .line = "nofile 2000:1000 can't be had: soft is above hard; raise hard, lower soft, or set "
                 "when-denied = "
                 "clamp"},
        {.settings = "soft=5000 hard=inherit",
         .inherited = {1024, 4096},
         .r = -EPERM,
         .line = "nofile 5000:4096 can't be had: soft is above hard; raise hard, lower soft, or set "
                 "when-denied = "
                 "clamp"},
        {.settings = "hard=512",
         .inherited = {1024, 4096},
         .r = -EPERM,
         .line =
             "nofile 1024:512 can't be had: soft is above hard; raise hard, lower soft, or set when-denied = "
             "clamp"},
        {.settings = "soft=2000 hard=1000 when-denied=clamp",
         .inherited = INHERITED,
         .line = "nofile 1048576:1048576 -> 1000:1000 (soft clamped to hard)"},
        {.settings = "soft=peak peak=1000 hard=500",
         .inherited = INHERITED,
         .r = -EPERM,
         .line =
             "nofile 1500:500 can't be had: soft is above hard; raise hard, lower soft, or set when-denied = "
             "clamp"},
    };

    check_all(rows, COUNT(rows));
}
END_TEST

START_TEST(above_nr_open)
{
    static const struct row rows[] = {
        /* nr_open not read: nothing is known against it */
        {.settings = "soft=2000000",
         .inherited = {1024, 4096},
         .line = "nofile 1024:4096 -> 2000000:2000000"},
        {.settings = "soft=2000000",
         .inherited = {1024, 4096},
         .nr_open = MILLION,
         .r = -EPERM,
         .line = "nofile 2000000:2000000 can't be had: fs.nr_open is 1048576, and no privilege passes it; "
                 "lower the "
                 "limit, raise it with sysctl, or set when-denied = clamp"},
        {.settings = "soft=5 hard=1073741816",
         .inherited = {1024, 4096},
         .nr_open = MILLION,
         .r = -EPERM,
         .line =
             "nofile 5:1073741816 can't be had: fs.nr_open is 1048576, and no privilege passes it; lower the "
             "limit, raise it with sysctl, or set when-denied = clamp"},
        {.settings = "soft=2000000 when-denied=clamp",
         .inherited = {1024, 4096},
         .nr_open = MILLION,
         .line = "nofile 1024:4096 -> 1048576:1048576 (clamped to fs.nr_open)"},
        {.settings = "soft=18446744073709551615 when-denied=clamp",
         .inherited = {1024, 4096},
         .nr_open = MILLION,
         .line = "nofile 1024:4096 -> 1048576:1048576 (clamped to fs.nr_open)"},
        {.settings = "soft=1048576",
         .inherited = {1024, 4096},
         .nr_open = MILLION,
         .line = "nofile 1024:4096 -> 1048576:1048576"},
        /* inherited above nr_open, which was lowered later */
        {.settings = "soft=1024 hard=inherit",
         .inherited = {1024, 2000000},
         .nr_open = MILLION,
         .line = "nofile 1024:2000000 -> 1024:1048576 (hard brought down to fs.nr_open)"},
        {.settings = "soft=256 hard=inherit",
         .inherited = {UINT64_MAX, UINT64_MAX},
         .nr_open = MILLION,
         .line = "nofile unlimited:unlimited -> 256:1048576 (hard brought down to fs.nr_open)"},
        {.settings = "soft=unlimited hard=inherit",
         .inherited = {UINT64_MAX, UINT64_MAX},
         .nr_open = MILLION,
         .line =
             "nofile unlimited:unlimited -> 1048576:1048576 (unlimited is fs.nr_open, hard brought down to "
             "fs.nr_open)"},
        {.settings = "soft=2000000 hard=inherit",
         .inherited = {1024, 2000000},
         .nr_open = MILLION,
         .r = -EPERM,
         .line = "nofile 2000000:2000000 can't be had: fs.nr_open is 1048576, and no privilege passes it; "
                 "lower the "
                 "limit, raise it with sysctl, or set when-denied = clamp"},
    };

    check_all(rows, COUNT(rows));
}
END_TEST

START_TEST(a_raise_that_was_refused)
{
    static const struct row rows[] = {
        {.settings = "soft=8192",
         .inherited = {1024, 4096},
         .nr_open = MILLION,
         .raise_refused = true,
         .r = -EPERM,
         .line =
             "nofile 8192:8192 can't be had: the hard limit is 4096, and raising it needs CAP_SYS_RESOURCE "
             "on the "
             "host itself (a user namespace's does not count); lower the limit, or set when-denied = clamp"},
        {.settings = "soft=8192",
         .inherited = {1024, 4096},
         .raise_refused = true,
         .r = -EPERM,
         .line = "nofile 8192:8192 can't be had: the hard limit is 4096, and raising it needs "
                 "CAP_SYS_RESOURCE on the "
                 "host itself (a user namespace's does not count); lower the limit, or set when-denied = "
                 "clamp (or "
                 "fs.nr_open is lower: it can't be read here)"},
        {.settings = "soft=8192 when-denied=clamp",
         .inherited = {1024, 4096},
         .raise_refused = true,
         .line = "nofile 1024:4096 -> 4096:4096 (clamped to the inherited hard limit: no CAP_SYS_RESOURCE)"},
        {.settings = "soft=512 hard=8192 when-denied=clamp",
         .inherited = {1024, 4096},
         .raise_refused = true,
         .line = "nofile 1024:4096 -> 512:4096 (clamped to the inherited hard limit: no CAP_SYS_RESOURCE)"},
        {.settings = "soft=8192 when-denied=clamp",
         .inherited = {4096, 4096},
         .raise_refused = true,
         .line = "nofile 4096:4096 kept (clamped to the inherited hard limit: no CAP_SYS_RESOURCE)"},
        {.settings = "soft=2000000 when-denied=clamp",
         .inherited = {1024, 4096},
         .nr_open = MILLION,
         .raise_refused = true,
         .line =
             "nofile 1024:4096 -> 4096:4096 (clamped to fs.nr_open, clamped to the inherited hard limit: no "
             "CAP_SYS_RESOURCE)"},
        {.settings = "soft=4096",
         .inherited = {1024, 4096},
         .raise_refused = true,
         .line = "nofile 1024:4096 -> 4096:4096"},
    };

    check_all(rows, COUNT(rows));
}
END_TEST

START_TEST(a_given_peak)
{
    static const struct row rows[] = {
        {.settings = "soft=peak peak=1000",
         .inherited = INHERITED,
         .line = "nofile 1048576:1048576 -> 1500:1048576 (peak 1000 + 50%)"},
        {.settings = "soft=peak peak=127 ceiling=1024",
         .inherited = INHERITED,
         .line = "nofile 1048576:1048576 -> 256:1024 (peak 127 + 50%, floor 256)"},
        {.settings = "soft=peak peak=127 floor=10",
         .inherited = INHERITED,
         .line = "nofile 1048576:1048576 -> 191:1048576 (peak 127 + 50%)"}, /* rounded up */
        {.settings = "soft=peak peak=1000 headroom=+200",
         .inherited = INHERITED,
         .line = "nofile 1048576:1048576 -> 1200:1048576 (peak 1000 +200)"},
        {.settings = "soft=peak peak=1000 headroom=0%",
         .inherited = INHERITED,
         .line = "nofile 1048576:1048576 -> 1000:1048576 (peak 1000 + 0%)"},
        {.settings = "soft=peak peak=1000 fallback=1200",
         .inherited = INHERITED,
         .line = "nofile 1048576:1048576 -> 1200:1200 (peak 1000 + 50%, ceiling 1200)"},
        {.settings = "soft=peak peak=1000 fallback=1200 ceiling=4096",
         .inherited = INHERITED,
         .line = "nofile 1048576:1048576 -> 1500:4096 (peak 1000 + 50%)"},
        {.settings = "soft=peak peak=1000 hard=soft",
         .inherited = INHERITED,
         .line = "nofile 1048576:1048576 -> 1500:1500 (peak 1000 + 50%)"},
        {.settings = "soft=peak peak=1000 fallback=4096 hard=inherit",
         .inherited = INHERITED,
         .line = "nofile 1048576:1048576 -> 1500:1048576 (peak 1000 + 50%)"},
        /* without a ceiling the inherited hard limit is one; the default floor yields to it */
        {.settings = "soft=peak peak=1000",
         .inherited = {1024, 1024},
         .line = "nofile 1024:1024 kept (peak 1000 + 50%, ceiling 1024)"},
        {.settings = "soft=peak peak=5",
         .inherited = {100, 100},
         .line = "nofile 100:100 kept (peak 5 + 50%, floor 100)"},
        /* never past the largest number */
        {.settings = "soft=peak peak=18446744073709551615 ceiling=4096",
         .inherited = INHERITED,
         .line = "nofile 1048576:1048576 -> 4096:4096 (peak 18446744073709551615 + 50%, ceiling 4096)"},
        {.settings = "soft=peak peak=5 headroom=+18446744073709551615 ceiling=4096",
         .inherited = INHERITED,
         .line = "nofile 1048576:1048576 -> 4096:4096 (peak 5 +18446744073709551615, ceiling 4096)"},
    };

    check_all(rows, COUNT(rows));
}
END_TEST

START_TEST(a_recorded_peak)
{
    static const struct row rows[] = {
        {.settings = "soft=peak fallback=4096",
         .inherited = INHERITED,
         .recorded = {.present = true, .counts = true, .need = 1000, .bound = 1024, .since = 1764547200},
         .line = "nofile 1048576:1048576 -> 1500:4096 (peak 1000 of 2025-12-01 + 50%)"},
        {.settings = "soft=peak fallback=4096",
         .inherited = INHERITED,
         .recorded = {.present = true, .counts = true, .need = 127, .bound = 128, .since = 951782400},
         .line = "nofile 1048576:1048576 -> 256:4096 (peak 127 of 2000-02-29 + 50%, floor 256)"},
        /* a burst that only the table's size shows */
        {.settings = "soft=peak fallback=4096",
         .inherited = INHERITED,
         .recorded = {.present = true, .counts = true, .need = 127, .bound = 512},
         .line = "nofile 1048576:1048576 -> 512:4096 (peak 127 + 50%, a table of 512)"},
        {.settings = "soft=peak fallback=4096",
         .inherited = INHERITED,
         .recorded = {.present = true, .counts = true, .need = 400, .bound = 512},
         .line = "nofile 1048576:1048576 -> 600:4096 (peak 400 + 50%)"},
        {.settings = "soft=peak fallback=1000",
         .inherited = INHERITED,
         .recorded = {.present = true, .counts = true, .need = 127, .bound = 2048},
         .line = "nofile 1048576:1048576 -> 1000:1000 (peak 127 + 50%, ceiling 1000)"},
        /* the larger of what was given and what was recorded */
        {.settings = "soft=peak peak=100 fallback=4096",
         .inherited = INHERITED,
         .recorded = {.present = true, .counts = true, .need = 1000, .bound = 1024, .since = 1764547200},
         .line = "nofile 1048576:1048576 -> 1500:4096 (peak 1000 of 2025-12-01 + 50%)"},
        {.settings = "soft=peak peak=2000 fallback=4096",
         .inherited = INHERITED,
         .recorded = {.present = true, .counts = true, .need = 1000, .bound = 1024, .since = 1764547200},
         .line = "nofile 1048576:1048576 -> 3000:4096 (peak 2000 + 50%)"},
        {.settings = "soft=peak peak=100 fallback=4096",
         .inherited = INHERITED,
         .recorded = {.present = true, .counts = false, .need = 1000, .bound = 1024, .remaining = DAY},
         .line = "nofile 1048576:1048576 -> 1500:4096 (peak 1000 + 50%)"},
        /* a date that is none */
        {.settings = "soft=peak fallback=4096",
         .inherited = INHERITED,
         .recorded = {.present = true, .counts = true, .need = 1000, .since = UINT64_MAX},
         .line = "nofile 1048576:1048576 -> 1500:4096 (peak 1000 + 50%)"},
        {.settings = "soft=peak fallback=4096",
         .inherited = INHERITED,
         .recorded = {.present = true, .counts = true, .need = 1000, .since = 253402300799},
         .line = "nofile 1048576:1048576 -> 1500:4096 (peak 1000 of 9999-12-31 + 50%)"},
        {.settings = "soft=peak fallback=4096 ceiling=18446744073709551615 hard=soft",
         .inherited = INHERITED,
         .recorded = {.present = true, .counts = true, .need = 1, .bound = UINT64_MAX},
         .nr_open = MILLION,
         .r = -EPERM,
         .line = "nofile unlimited:unlimited can't be had: fs.nr_open is 1048576, and no privilege passes "
                 "it; lower "
                 "the limit, raise it with sysctl, or set when-denied = clamp"},
    };

    check_all(rows, COUNT(rows));
}
END_TEST

/* Against libc's calendar, day by day over the leap years of a century's end, and each 1999 days over the
 * rest.
 */
START_TEST(days_are_those_of_the_calendar)
{
    uint64_t step;

    for (uint64_t day = 1; day < 2932897; day += step) {
        struct plan plan = {
            .soft_from = SOFT_PEAK, .since = day * 86400 + 86399, .headroom = {.kind = VALUE_EXTRA}};
        time_t when = (time_t)plan.since;
        char one[TEXT_LINE], expected[TEXT_LINE];
        struct tm broken;
        TEXT_ON(line, one);

        step = day > 10000 && day < 12000 ? 1 : 1999;
        plan_format(&plan, &line);
        ck_assert_uint_gt(strftime(expected, sizeof(expected), "nofile 0:0 kept (peak 0 of %Y-%m-%d +0)",
                                   gmtime_r(&when, &broken)),
                          0);
        ck_assert_str_eq(line.at, expected);
    }
}
END_TEST

START_TEST(the_fallback)
{
    static const struct row rows[] = {
        {.settings = "soft=peak fallback=4096",
         .inherited = INHERITED,
         .line = "nofile 1048576:1048576 -> 4096:4096 (fallback: no peak yet)"},
        {.settings = "soft=peak fallback=1024 ceiling=8192",
         .inherited = INHERITED,
         .line = "nofile 1048576:1048576 -> 1024:8192 (fallback: no peak yet)"},
        {.settings = "soft=peak fallback=4096",
         .inherited = INHERITED,
         .recorded = {.present = true, .counts = false, .need = 127, .bound = 128, .remaining = 5 * DAY / 2},
         .line = "nofile 1048576:1048576 -> 4096:4096 (fallback: peak 127 counts after 2d 12h more)"},
        {.settings = "soft=peak",
         .inherited = INHERITED,
         .r = -EINVAL,
         .line = "soft = peak needs a fallback (the soft limit while there is no peak that counts), or a "
                 "peak; add "
                 "fallback = N"},
        {.settings = "soft=peak",
         .inherited = INHERITED,
         .recorded = {.present = true, .counts = true, .need = 127},
         .r = -EINVAL,
         .line = "soft = peak needs a fallback (the soft limit while there is no peak that counts), or a "
                 "peak; add "
                 "fallback = N"},
        {.settings = "soft=peak fallback=4096 ceiling=1024",
         .inherited = INHERITED,
         .r = -EINVAL,
         .line = "fallback 4096 is above the ceiling 1024"},
        {.settings = "soft=peak fallback=1024 floor=2048",
         .inherited = INHERITED,
         .r = -EINVAL,
         .line = "floor 2048 is above the ceiling 1024"},
        {.settings = "soft=peak fallback=100",
         .inherited = INHERITED,
         .line = "nofile 1048576:1048576 -> 100:100 (fallback: no peak yet)"},
        {.settings = "soft=peak fallback=8192 when-denied=clamp",
         .inherited = {1024, 4096},
         .raise_refused = true,
         .line =
             "nofile 1024:4096 -> 4096:4096 (fallback: no peak yet, clamped to the inherited hard limit: no "
             "CAP_SYS_RESOURCE)"},
    };

    check_all(rows, COUNT(rows));
}
END_TEST

static void warns(const char *settings, const char *warning)
{
    struct plan_in in = {.inherited = INHERITED};
    struct plan plan;
    struct settings s;
    char one[TEXT_LINE];
    TEXT_ON(t, one);

    put_all(&s, settings);
    ck_assert_int_eq(plan_make(&s, &in, &plan, &t), 0);
    plan_warning(&plan, &t);
    ck_assert_str_eq(t.at, warning);
}

START_TEST(a_peak_at_the_ceiling_is_a_warning)
{
    warns("soft=peak peak=1023 ceiling=1024", "");
    warns(
        "soft=peak peak=1024 ceiling=1024",
        "the peak 1024 reaches the ceiling 1024: the workload leaks descriptors, or the ceiling is too low");
    warns(
        "soft=peak peak=2000 fallback=1024",
        "the peak 2000 reaches the ceiling 1024: the workload leaks descriptors, or the ceiling is too low");
    warns("soft=peak fallback=1024", "");
    warns("soft=1024", "");
}
END_TEST

SUITE("plan", given_limits, unlimited_is_nr_open, soft_above_hard, above_nr_open, a_raise_that_was_refused,
      a_given_peak, a_recorded_peak, days_are_those_of_the_calendar, the_fallback,
      a_peak_at_the_ceiling_is_a_warning)
