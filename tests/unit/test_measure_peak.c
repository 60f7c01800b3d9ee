/* The rule of the peak over a made-up /proc: whose processes count, when a pid is another process, when the
 * table is full, what is told and when. In it, PID/fd is a file whose size is the count; the search for the
 * highest number, which needs a real /proc, then finds nothing, and is tested on real processes elsewhere. */
#include "measure/peak.h"

#include "base/err.h"
#include "base/fd.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTRIES 32
#define MANY    512

static struct fixture {
    char folder[64];
    int proc;
    struct peak_entry memory[MANY];
    struct peak_meter m;
    struct peak_event told[64];
    int tellings;
} f;

static void hear(const struct peak_event *event, void *data)
{
    ck_assert_ptr_eq(data, &f);
    ck_assert_int_lt(f.tellings, 64);
    f.told[f.tellings++] = *event;
}

static void set_up(void)
{
    memset(&f, 0, sizeof(f));
    strcpy(f.folder, "/tmp/fdfit-test.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(f.folder));
    f.proc = fd_open(AT_FDCWD, f.folder, O_RDONLY | O_DIRECTORY, 0);
    ck_assert_int_ge(f.proc, 0);
}

static void tear_down(void)
{
    char command[128];

    fd_close(f.proc);
    snprintf(command, sizeof(command), "rm -r %s", f.folder);
    ck_assert_int_eq(system(command), 0);
}

static void begin(pid_t root, unsigned warn_at, uint32_t entries)
{
    const struct peak_config config = {
        .proc = f.proc,
        .root = root,
        .soft = UINT64_MAX,
        .interval = 3600000, /* wider than any tick costs */
        .warn_at = warn_at,
        .notify = hear,
        .data = &f,
    };

    ck_assert_int_eq(peak_meter_init(&f.m, &config, f.memory, entries), 0);
}

static void put(pid_t pid, const char *file, const char *content)
{
    char path[64];
    int fd;

    snprintf(path, sizeof(path), "%d", (int)pid);
    mkdirat(f.proc, path, 0700);
    snprintf(path, sizeof(path), "%d/%s", (int)pid, file);
    fd = fd_open(f.proc, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fd_write_all(fd, content, strlen(content)), 0);
    fd_close(fd);
}

static void set_count(pid_t pid, off_t count)
{
    char path[64];
    int fd;

    snprintf(path, sizeof(path), "%d/fd", (int)pid);
    fd = fd_open(f.proc, path, O_WRONLY | O_CREAT, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, count), 0);
    fd_close(fd);
}

static void set_status(pid_t pid, pid_t parent, uint64_t size, char state)
{
    char text[512];

    snprintf(text, sizeof(text),
             "Name:\ta\\nFDSize:\t7\nUmask:\t0022\nState:\t%c (what)\nTgid:\t%d\nPPid:\t%d\nTracerPid:\t0\n"
             "FDSize:\t%llu\nGroups:\t0 1 2 \nVmPeak:\t   2928 kB\nThreads:\t1\nSigQ:\t0/96364\n",
             state, (int)pid, (int)parent, (unsigned long long)size);
    put(pid, "status", text);
}

static void set_soft(pid_t pid, const char *soft)
{
    char text[512];

    snprintf(text, sizeof(text),
             "Limit                     Soft Limit           Hard Limit           Units     \n"
             "Max processes             7                    7                    processes \n"
             "Max open files            %-20s 20000                files     \n"
             "Max locked memory         7                    7                    bytes     \n",
             soft);
    put(pid, "limits", text);
}

static void set_start(pid_t pid, unsigned long long ticks)
{
    char text[512];

    snprintf(text, sizeof(text),
             "%d (a ) b 1 2) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 %llu 20 21 22\n", (int)pid,
             ticks);
    put(pid, "stat", text);
}

/* Another process of the same pid: a new inode. */
static void renew(pid_t pid)
{
    char path[64], aside[64];

    snprintf(path, sizeof(path), "%d/fd", (int)pid);
    snprintf(aside, sizeof(aside), "%d/old%d", (int)pid, rand());
    ck_assert_int_eq(renameat(f.proc, path, f.proc, aside),
                     0); /* kept, so that its inode is not used again */
}

static void make(pid_t pid, pid_t parent, uint64_t size, off_t count)
{
    set_status(pid, parent, size, 'S');
    set_start(pid, (unsigned long long)pid * 10);
    set_soft(pid, "unlimited");
    put(pid, "comm", "victim\n");
    set_count(pid, count);
}

static void unmake(pid_t pid)
{
    char path[64];

    snprintf(path, sizeof(path), "%d/status", (int)pid);
    ck_assert_int_eq(unlinkat(f.proc, path, 0), 0);
}

static const struct peak_result *tick(void)
{
    ck_assert_int_eq(peak_meter_tick(&f.m, f.m.due), 0);
    return &f.m.result;
}

START_TEST(nothing_but_the_workload_counts)
{
    begin(1, 0, ENTRIES);
    make(1, 0, 64, 5); /* the supervisor itself */
    make(2, 0, 8192, 6000);
    make(3, 2, 8192, 6000);
    make(10, 1, 128, 100);
    make(11, 12, 256, 200); /* a child with a lower pid than its parent: the pids wrapped */
    make(12, 10, 64, 7);
    ck_assert_uint_eq(tick()->processes, 3);
    ck_assert_uint_eq(f.m.result.seen, 3);
    ck_assert_uint_eq(f.m.result.bound, 256);
    ck_assert_uint_eq(f.m.result.open, 200);
    ck_assert_int_eq(f.m.result.open_pid, 11);
    ck_assert_uint_eq(f.m.used, 5);
}
END_TEST

START_TEST(foreign_stays_foreign_and_member_stays_member)
{
    begin(1, 0, ENTRIES);
    make(2, 0, 64, 5);
    make(3, 2, 8192, 6000);
    make(10, 1, 64, 5);
    make(11, 10, 64, 5);
    tick();
    unmake(2);
    unmake(10);
    set_status(3, 1, 8192, 'S'); /* orphans of both become children of PID 1 */
    set_status(11, 1, 64, 'S');
    ck_assert_uint_eq(tick()->processes, 1);
    ck_assert_uint_eq(f.m.result.bound, 64);
    ck_assert_uint_eq(f.m.result.seen, 2);
    make(4, 3, 4096, 5); /* and what they fork goes with them */
    make(12, 11, 64, 5);
    ck_assert_uint_eq(tick()->processes, 2);
    ck_assert_uint_eq(f.m.result.bound, 64);
}
END_TEST

START_TEST(a_parent_that_has_just_ended_is_decided_later)
{
    begin(1, 0, ENTRIES);
    make(11, 10, 128, 5); /* 10 ended while /proc was read */
    ck_assert_uint_eq(tick()->processes, 0);
    set_status(11, 1, 128, 'S');
    ck_assert_uint_eq(tick()->processes, 1);
    ck_assert_uint_eq(f.m.result.bound, 128);
}
END_TEST

START_TEST(a_circle_of_parents_ends)
{
    begin(1, 0, ENTRIES);
    make(11, 12, 64, 5);
    make(12, 11, 64, 5);
    ck_assert_uint_eq(tick()->processes, 0);
}
END_TEST

START_TEST(a_reused_pid_is_another_process)
{
    begin(1, 90, ENTRIES);
    make(10, 1, 64, 20);
    set_soft(10, "20");
    ck_assert_uint_eq(tick()->at_limit, 1);
    renew(10);
    set_count(10, 20); /* the cache was dropped: same process, nothing is told again */
    ck_assert_uint_eq(tick()->seen, 1);
    ck_assert_uint_eq(f.m.result.at_limit, 1);
    renew(10);
    set_count(10, 20);
    set_start(10, 5555);
    ck_assert_uint_eq(tick()->seen, 2);
    ck_assert_uint_eq(f.m.result.at_limit, 2);
    ck_assert_int_eq(f.tellings, 2);
}
END_TEST

START_TEST(zombies_and_ended_processes_are_none)
{
    begin(1, 0, ENTRIES);
    make(10, 1, 64, 20);
    make(11, 1, 64, 20);
    set_status(11, 1, 0, 'Z');
    ck_assert_uint_eq(tick()->processes, 1);
    unmake(10);
    ck_assert_uint_eq(tick()->processes, 0);
    ck_assert_uint_eq(f.m.used, 0);
    ck_assert_uint_eq(f.m.result.open, 0);
    ck_assert_uint_eq(f.m.result.bound, 64);
}
END_TEST

START_TEST(told_once_a_process)
{
    begin(1, 80, ENTRIES);
    make(10, 1, 64, 39);
    make(11, 1, 64, 50);
    set_soft(10, "50");
    set_soft(11, "unlimited");
    tick();
    ck_assert_int_eq(f.tellings, 0);
    set_count(10, 40);
    tick();
    tick();
    ck_assert_int_eq(f.tellings, 1);
    ck_assert_int_eq(f.told[0].kind, PEAK_NEAR_LIMIT);
    ck_assert_int_eq(f.told[0].pid, 10);
    ck_assert_uint_eq(f.told[0].open, 40);
    ck_assert_uint_eq(f.told[0].soft, 50);
    ck_assert_str_eq(f.told[0].name.comm, "victim");
    set_count(10, 50);
    tick();
    set_count(10, 30);
    tick();
    set_count(10, 50);
    tick();
    ck_assert_int_eq(f.tellings, 2);
    ck_assert_int_eq(f.told[1].kind, PEAK_AT_LIMIT);
    ck_assert_uint_eq(f.m.result.at_limit, 1);
}
END_TEST

START_TEST(straight_to_the_limit_is_one_message)
{
    begin(1, 80, ENTRIES);
    make(10, 1, 64, 50);
    set_soft(10, "50");
    tick();
    ck_assert_int_eq(f.tellings, 1);
    ck_assert_int_eq(f.told[0].kind, PEAK_AT_LIMIT);
}
END_TEST

START_TEST(no_warning_without_a_threshold)
{
    begin(1, 0, ENTRIES);
    make(10, 1, 64, 49);
    set_soft(10, "50");
    tick();
    ck_assert_int_eq(f.tellings, 0);
}
END_TEST

START_TEST(table_full)
{
    begin(1, 90, 16);
    for (pid_t pid = 10; pid < 30; pid++)
        make(pid, 1, pid == 29 ? 1024 : 64, 20);
    ck_assert_uint_eq(tick()->processes, 20);
    ck_assert_uint_eq(f.m.used, 14);
    ck_assert_uint_eq(f.m.result.untracked, 6);
    ck_assert_uint_eq(f.m.result.seen, 14);
    ck_assert_uint_eq(f.m.result.bound, 1024);
    for (pid_t pid = 10; pid < 26; pid++)
        unmake(pid);
    ck_assert_uint_eq(tick()->processes, 4);
    tick();
    ck_assert_uint_eq(f.m.used, 4);
    ck_assert_uint_eq(f.m.result.untracked, 0);
}
END_TEST

START_TEST(sizes_of_many_are_read_in_turns)
{
    uint64_t since;

    begin(1, 0, MANY);
    for (pid_t pid = 100; pid < 356; pid++)
        make(pid, 1, 64, 5);
    ck_assert_uint_eq(tick()->sizes_every, 1);
    for (pid_t pid = 356; pid < 400; pid++)
        make(pid, 1, 64, 5);
    ck_assert_uint_eq(tick()->sizes_every, 2);
    for (pid_t pid = 100; pid < 400; pid += 99) {
        uint64_t size = f.m.result.bound * 2;

        set_status(pid, 1, size, 'S');
        for (since = f.m.result.samples; tick()->bound != size;)
            ck_assert_uint_lt(f.m.result.samples, since + 2);
        ck_assert_uint_eq(f.m.result.processes, 300);
    }
    set_count(399, 6); /* a record is looked at in the same tick */
    set_status(399, 1, 65536, 'S');
    ck_assert_uint_eq(tick()->bound, 65536);
    for (pid_t pid = 100; pid < 160; pid++)
        unmake(pid), renew(pid);
    ck_assert_uint_eq(tick()->processes, 240);
    ck_assert_uint_eq(f.m.result.sizes_every, 2); /* by those of the tick before */
    ck_assert_uint_eq(tick()->sizes_every, 1);
}
END_TEST

/* Pids that fall on the same slots, taken out in every order: the others must still be found, or they would
 * be counted as new. */
START_TEST(taking_out_keeps_the_rest)
{
    static const pid_t pids[] = {14, 15, 30, 31, 46, 47, 62, 63, 16, 32};
    const size_t count = sizeof(pids) / sizeof(pids[0]);
    bool there[sizeof(pids) / sizeof(pids[0])] = {false};
    uint64_t expected_seen = 0;
    unsigned chance = (unsigned)_i * 7919 + 1;

    begin(1, 0, 16);
    for (int turn = 0; turn < 60; turn++) {
        uint64_t now = 0;

        for (size_t i = 0; i < count; i++) {
            bool was = there[i];

            chance = chance * 1103515245 + 12345;
            if (chance >> 30 == 0) {
                there[i] = !was;
                if (was) {
                    unmake(pids[i]);
                    renew(pids[i]);
                } else {
                    make(pids[i], 1, 64, 5);
                }
            }
            now += there[i];
            expected_seen += there[i] && !was;
        }
        ck_assert_uint_eq(tick()->processes, now);
        ck_assert_uint_eq(f.m.used, now);
        ck_assert_uint_eq(f.m.result.seen, expected_seen);
    }
}
END_TEST

START_TEST(without_proc_nothing_is_forgotten)
{
    int real = f.proc;

    begin(1, 0, ENTRIES);
    make(10, 1, 64, 20);
    tick();
    f.m.config.proc = -1;
    ck_assert_int_eq(peak_meter_tick(&f.m, f.m.due), -EBADF);
    ck_assert_uint_eq(f.m.result.samples, 1);
    ck_assert_uint_eq(f.m.result.processes, 0);
    f.m.config.proc = real;
    ck_assert_uint_eq(tick()->seen, 1);
    ck_assert_uint_eq(f.m.result.samples, 2);
}
END_TEST

START_TEST(only_what_is_added)
{
    begin(0, 0, ENTRIES);
    make(10, 1, 64, 20);
    make(11, 1, 128, 20);
    peak_meter_begin(&f.m, 0);
    peak_meter_add(&f.m, 11);
    peak_meter_add(&f.m, 11);
    peak_meter_add(&f.m, 12);
    peak_meter_end(&f.m);
    ck_assert_uint_eq(f.m.result.processes, 1);
    ck_assert_uint_eq(f.m.result.bound, 128);
}
END_TEST

START_TEST(time_and_interval)
{
    struct peak_config config = {.proc = f.proc, .root = 1, .interval = 7};
    struct peak_meter m;

    ck_assert_int_eq(peak_meter_init(&m, &config, f.memory, ENTRIES), 0);
    ck_assert_uint_eq(m.config.interval, PEAK_INTERVAL_LEAST);
    begin(1, 0, ENTRIES);
    ck_assert_uint_eq(f.m.due, 0);
    peak_meter_tick(&f.m, 5000);
    ck_assert_uint_eq(f.m.result.span, 0);
    ck_assert_uint_eq(f.m.due, 5000 + 3600000);
    ck_assert_uint_eq(f.m.result.widened, 0);
    peak_meter_tick(&f.m, 7500);
    ck_assert_uint_eq(f.m.result.span, 2500);
    ck_assert_uint_eq(f.m.result.samples, 2);
}
END_TEST

START_TEST(wrong_tables_are_refused)
{
    static const uint32_t wrong[] = {0, 8, 17, 48, 131072};
    struct peak_config config = {.proc = f.proc, .root = 1};
    struct peak_meter m;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        ck_assert_int_eq(peak_meter_init(&m, &config, f.memory, wrong[i]), -EINVAL);
    ck_assert_uint_le(sizeof(struct peak_entry), 64);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("measure_peak");
    TCase *cases = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, nothing_but_the_workload_counts);
    tcase_add_test(cases, foreign_stays_foreign_and_member_stays_member);
    tcase_add_test(cases, a_parent_that_has_just_ended_is_decided_later);
    tcase_add_test(cases, a_circle_of_parents_ends);
    tcase_add_test(cases, a_reused_pid_is_another_process);
    tcase_add_test(cases, zombies_and_ended_processes_are_none);
    tcase_add_test(cases, told_once_a_process);
    tcase_add_test(cases, straight_to_the_limit_is_one_message);
    tcase_add_test(cases, no_warning_without_a_threshold);
    tcase_add_test(cases, table_full);
    tcase_add_test(cases, sizes_of_many_are_read_in_turns);
    tcase_add_loop_test(cases, taking_out_keeps_the_rest, 0, 8);
    tcase_add_test(cases, without_proc_nothing_is_forgotten);
    tcase_add_test(cases, only_what_is_added);
    tcase_add_test(cases, time_and_interval);
    tcase_add_test(cases, wrong_tables_are_refused);
    suite_add_tcase(suite, cases);
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
