#include "fixture.h"

#include "inspect/proc.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define STAT(pid, comm, start)                                                                               \
    pid " (" comm ") S 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 " start " 0 0 18446744073709551615\n"
#define LIMITS(soft, hard)                                                                                   \
    "Limit                     Soft Limit           Hard Limit           Units     \n"                       \
    "Max processes             7                    7                    processes \n"                       \
    "Max open files            " soft "              " hard "              files     \n"

static void put_process(const struct fixture *f)
{
    put_text(f, "/proc/17/stat", STAT("17", "a) b(", "4711"));
    put_text(f, "/proc/17/status",
             "Name:\ta) b(\nState:\tS (sleeping)\nPid:\t17\nPPid:\t9\nUid:\t1\t1001\t3\t4\nFDSize:\t64\n"
             "NSpid:\t17\t5\t1\nThreads:\t1\n");
    put_text(f, "/proc/17/comm", "a) b(\n");
    put(f, "/proc/17/cmdline", "/bin/x\0\0--b", 11);
    put_text(f, "/proc/17/limits", LIMITS("1024", "unlimited"));
    link_to(f, "/opt/x/prog (deleted)", "/proc/17/exe");
}

/* The fixture's /proc was not there yet when its root was opened. */
static void open_again(struct fixture *f)
{
    char reason[TEXT_LINE];
    TEXT_ON(why, reason);

    root_close(&f->root);
    ck_assert_int_eq(root_open(f->path, &f->root, &why), 0);
}

START_TEST(all_of_a_process)
{
    struct fixture f;
    struct proc p;

    setup(&f);
    put_process(&f);
    open_again(&f);
    ck_assert_int_eq(proc_read(&f.root, 17, &p), 0);
    ck_assert_int_eq(p.pid, 17);
    ck_assert_int_eq(p.parent, 9);
    ck_assert_int_eq(p.inner, 1);
    ck_assert_uint_eq(p.depth, 2);
    ck_assert_uint_eq(p.uid, 1001);
    ck_assert_uint_eq(p.start, 4711);
    ck_assert_str_eq(p.comm, "a) b(");
    ck_assert_str_eq(p.exe, "/opt/x/prog");
    ck_assert_str_eq(proc_program(&p), "prog");
    ck_assert_str_eq(proc_argument(&p, 0), "/bin/x");
    ck_assert_str_eq(proc_argument(&p, 1), "");
    ck_assert_str_eq(proc_argument(&p, 2), "--b");
    ck_assert_ptr_null(proc_argument(&p, 3));
    ck_assert(p.has_limit && p.limit.soft == 1024 && p.limit.hard == UINT64_MAX);
    proc_deinit(&p);
    teardown(&f);
}
END_TEST

START_TEST(what_is_not_there_is_gone)
{
    struct fixture f;
    struct proc p;

    setup(&f);
    ck_assert_int_eq(proc_read(&f.root, 17, &p), PROCESS_GONE); /* no /proc at all */
    put_process(&f);
    open_again(&f);
    ck_assert_int_eq(proc_read(&f.root, 18, &p), PROCESS_GONE);
    /* It ends while it is read: some files are there, others not any more. */
    ck_assert_int_eq(unlinkat(f.root.proc, "17/limits", 0), 0);
    ck_assert_int_eq(proc_read(&f.root, 17, &p), PROCESS_GONE);
    teardown(&f);
}
END_TEST

START_TEST(the_program_is_named_by_what_there_is)
{
    struct fixture f;
    struct proc p;

    setup(&f);
    put_process(&f);
    open_again(&f);
    ck_assert_int_eq(unlinkat(f.root.proc, "17/exe", 0), 0);
    ck_assert_int_eq(proc_read(&f.root, 17, &p), 0);
    ck_assert_str_eq(proc_program(&p), "x");
    proc_deinit(&p);
    put_text(&f, "/proc/17/cmdline", "");
    ck_assert_int_eq(proc_read(&f.root, 17, &p), 0);
    ck_assert_str_eq(proc_program(&p), "a) b(");
    proc_deinit(&p);
    teardown(&f);
}
END_TEST

START_TEST(limits_that_are_none)
{
    static const char *const texts[] = {"",
                                        "Max open files",
                                        "Max open files   1024",
                                        "Max open files 1024 x files\n",
                                        "xMax open files 1 2 files\n",
                                        "Max open files 1024 18446744073709551616 files\n"};
    struct nofile limit = {7, 8};

    for (size_t i = 0; i < COUNT(texts); i++)
        ck_assert_int_eq(proc_limits_parse(texts[i], strlen(texts[i]), &limit), -EBADMSG);
    ck_assert(limit.soft == 7 && limit.hard == 8);
}
END_TEST

START_TEST(this_process_and_a_zombie)
{
    char reason[TEXT_LINE];
    TEXT_ON(why, reason);
    struct rlimit limit;
    struct root root;
    struct proc p;
    siginfo_t info;
    pid_t child;

    ck_assert_int_eq(root_open("/", &root, &why), 0);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    ck_assert_int_eq(proc_read(&root, getpid(), &p), 0);
    ck_assert_int_eq(p.parent, getppid());
    ck_assert_uint_eq(p.uid, geteuid());
    ck_assert_str_eq(proc_program(&p), "test_proc");
    ck_assert(p.has_limit && p.limit.soft == limit.rlim_cur && p.limit.hard == limit.rlim_max);
    proc_deinit(&p);
    child = fork();
    if (child == 0)
        _exit(0);
    ck_assert_int_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    ck_assert_int_eq(proc_read(&root, child, &p), 0);
    ck_assert(p.zombie);
    ck_assert_str_eq(proc_program(&p), "test_proc");
    proc_deinit(&p);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    root_close(&root);
}
END_TEST

SUITE("proc", all_of_a_process, what_is_not_there_is_gone, the_program_is_named_by_what_there_is,
      limits_that_are_none, this_process_and_a_zombie)
