/* The search for the highest descriptor, under right and wrong guesses, in a child with a known table. */
#include "measure/process.h"

#include "base/err.h"
#include "base/fd.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int proc;

static void set_up(void)
{
    struct rlimit most;

    proc = fd_open(AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY, 0);
    ck_assert_int_ge(proc, 0);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &most), 0);
    most.rlim_cur = most.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &most), 0);
}

static void tear_down(void)
{
    fd_close(proc);
}

/* A child that has just those numbers open; -1 ends the list. */
static pid_t child_with(const int *numbers)
{
    int ends[2], source;
    char byte;
    pid_t pid;

    ck_assert_int_eq(pipe(ends), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        source = fcntl(ends[1], F_DUPFD, 5000);
        for (int fd = 0; fd < 5000; fd++)
            close(fd);
        for (; *numbers >= 0; numbers++)
            if (dup2(source, *numbers) < 0)
                _exit(1);
        if (write(source, "r", 1) != 1)
            _exit(1);
        close(source);
        for (;;)
            pause();
    }
    close(ends[1]);
    ck_assert_int_eq(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static const struct {
    int numbers[8];
    uint64_t need;
} tables[] = {
    {{-1}, 0},
    {{0, -1}, 1},
    {{7, -1}, 8},
    {{0, 1, 2, -1}, 3},
    {{0, 63, -1}, 64},
    {{64, -1}, 65},
    {{0, 1, 300, -1}, 301},
    {{300, 301, 302, 303, -1}, 304},
    {{3, 30, 300, 3000, -1}, 3001},
    {{255, 256, 4999, -1}, 5000},
};

/* Whether /proc still shows `source` when the child has said that it is ready: wait for its close. */
static void wait_for_close(pid_t pid)
{
    uint64_t need;

    do
        ck_assert_int_eq(process_need(proc, pid, 0, 0, 0, &need), 0);
    while (need > 5000);
}

START_TEST(whatever_the_guesses)
{
    static const uint64_t sizes[] = {0, 1, 64, 256, 8192, 1 << 20, INT32_MAX};
    pid_t pid = child_with(tables[_i].numbers);
    uint64_t need;

    wait_for_close(pid);
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
        for (uint64_t count = 0; count <= tables[_i].need; count += count < 8 ? 1 : 97) {
            need = 77777;
            ck_assert_int_eq(process_need(proc, pid, 0, sizes[s], count, &need), 0);
            ck_assert_msg(need == tables[_i].need, "need %lu, not %lu, with size %lu and count %lu",
                          (unsigned long)need, (unsigned long)tables[_i].need, (unsigned long)sizes[s],
                          (unsigned long)count);
        }
    end(pid);
}
END_TEST

START_TEST(a_count_above_the_need_is_given_back)
{
    pid_t pid = child_with(tables[6].numbers);
    uint64_t need;

    wait_for_close(pid);
    ck_assert_int_eq(process_need(proc, pid, 0, 512, 301, &need), 0);
    ck_assert_uint_eq(need, 301);
    ck_assert_int_eq(process_need(proc, pid, 0, 512, 400, &need), 0);
    ck_assert_uint_eq(need, 400);
    end(pid);
}
END_TEST

START_TEST(a_pid_and_its_identity)
{
    pid_t pid = child_with(tables[1].numbers), other = child_with(tables[1].numbers);
    uint64_t inode[3] = {0}, start[3] = {0}, count, soft, need = 5;

    wait_for_close(pid);
    ck_assert_int_eq(process_open_count(proc, pid, 0, &count, &inode[0]), 0);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(process_open_count(proc, pid, 0, &count, &inode[1]), 0);
    ck_assert_int_eq(process_open_count(proc, other, 0, &count, &inode[2]), 0);
    ck_assert_uint_eq(inode[0], inode[1]);
    ck_assert_uint_ne(inode[0], inode[2]);
    ck_assert_int_eq(process_start(proc, pid, &start[0]), 0);
    ck_assert_int_eq(process_start(proc, pid, &start[1]), 0);
    ck_assert_uint_eq(start[0], start[1]);
    ck_assert_uint_gt(start[0], 0);
    ck_assert_int_eq(process_soft(proc, pid, &soft), 0);
    ck_assert_uint_gt(soft, 0);
    end(pid);
    end(other);
    ck_assert_int_eq(process_open_count(proc, pid, 0, &count, &inode[0]), PROCESS_GONE);
    ck_assert_int_eq(process_start(proc, pid, &start[0]), PROCESS_GONE);
    ck_assert_int_eq(process_soft(proc, pid, &soft), PROCESS_GONE);
    ck_assert_int_eq(process_need(proc, pid, 0, 64, 0, &need), PROCESS_GONE);
    ck_assert_uint_eq(need, 5);
}
END_TEST

START_TEST(names)
{
    struct process_name name;

    ck_assert_int_eq(process_name(proc, getpid(), &name), 0);
    ck_assert_str_eq(name.comm, "test_measure_pr"); /* 15 bytes of it */
    ck_assert_int_gt(name.argv0[0], 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("measure_process");
    TCase *cases = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, whatever_the_guesses, 0, (int)(sizeof(tables) / sizeof(tables[0])));
    tcase_add_test(cases, a_count_above_the_need_is_given_back);
    tcase_add_test(cases, a_pid_and_its_identity);
    tcase_add_test(cases, names);
    suite_add_tcase(suite, cases);
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
