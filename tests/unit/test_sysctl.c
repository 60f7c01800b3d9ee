#include "fixture.h"

#include "base/err.h"
#include "inspect/sysctl.h"

static struct sysctl take(const char *text, enum sysctl_name name, size_t wanted_problems)
{
    struct sysctl sysctl = {0};
    struct problems problems = {0};

    ck_assert_int_eq(sysctl_take(text, strlen(text), "/etc/sysctl.d/a.conf", name, &sysctl, &problems), 0);
    ck_assert_uint_eq(problems.count, wanted_problems);
    problems_deinit(&problems);
    return sysctl;
}

static void assert_takes(const char *text, enum sysctl_name name, unsigned line, uint64_t value)
{
    struct sysctl sysctl = take(text, name, 0);
    const struct assignment *a = assignments_last(&sysctl.files);

    ck_assert_uint_eq(a ? a->line : 0, line);
    if (a)
        ck_assert_uint_eq(a->limit.hard, value);
    sysctl_deinit(&sysctl);
}

START_TEST(assignments_as_systemd_reads_them)
{
    assert_takes("# x\n; y\n\n fs.nr_open = 1048577 \n", SYSCTL_NR_OPEN, 4, 1048577);
    assert_takes("fs/nr_open=2000\nfs.file-max=3000\r\n", SYSCTL_FILE_MAX, 2, 3000);
    assert_takes("-fs.nr_open=2000", SYSCTL_NR_OPEN, 1, 2000);
    assert_takes("fs.nr_open=2000\nfs/nr_open=0x1000\n", SYSCTL_NR_OPEN, 2, 4096);
    assert_takes("fs.nr_open2=2000\nkernel.pid_max=7\nfs=1\n", SYSCTL_NR_OPEN, 0, 0);
    assert_takes("-fs.nr_open\n", SYSCTL_NR_OPEN, 0, 0);
    assert_takes("fs.file-max=9223372036854775807", SYSCTL_FILE_MAX, 1, INT64_MAX);
}
END_TEST

START_TEST(patterns_leave_alone_what_has_its_line)
{
    struct sysctl sysctl = take("fs.nr_open=2000\nfs.nr_* = 3000\n", SYSCTL_NR_OPEN, 0);

    ck_assert_uint_eq(assignments_last(&sysctl.files)->line, 1);
    ck_assert_int_eq(sysctl.files.at[1].state, ASSIGNMENT_OVERRIDDEN);
    ck_assert_ptr_nonnull(sysctl.files.at[1].problem);
    sysctl_deinit(&sysctl);
    assert_takes("fs.nr_* = 3000\nfs.nr_open=2000\n", SYSCTL_NR_OPEN, 2, 2000);
    assert_takes("fs.*_open = 3000\n", SYSCTL_NR_OPEN, 1, 3000);
    assert_takes("* = 3000\n", SYSCTL_NR_OPEN, 0, 0);
    assert_takes("-fs.nr_open\nfs.*_open = 3000\n", SYSCTL_NR_OPEN, 0, 0);
    assert_takes("fs.nr_open=2000\nfs.*_open = 3000\n-fs.nr_open\n", SYSCTL_NR_OPEN, 0, 0);
    assert_takes("-fs.nr_open\nfs.nr_open=2000\n", SYSCTL_NR_OPEN, 2, 2000);
}
END_TEST

START_TEST(what_the_kernel_refuses_is_bad)
{
    static const char *const values[] = {"",           "x",  "-1",  "63",
                                         "2147483585", "1k", "1 2", "99999999999999999999"};

    for (size_t i = 0; i < COUNT(values); i++) {
        struct sysctl sysctl;
        char text[64];

        snprintf(text, sizeof(text), "fs.nr_open=1000\nfs.nr_open = %s\n", values[i]);
        sysctl = take(text, SYSCTL_NR_OPEN, 0);
        ck_assert_uint_eq(sysctl.files.count, 2);
        ck_assert_int_eq(sysctl.files.at[1].state, ASSIGNMENT_BAD);
        ck_assert_uint_eq(assignments_last(&sysctl.files)->line, 1);
        sysctl_deinit(&sysctl);
    }
}
END_TEST

START_TEST(lines_that_are_no_assignment)
{
    struct problems problems = {0};
    struct sysctl sysctl = take("fs.nr_open\nfs.nr_open: 7\n\x1b\xff\n", SYSCTL_NR_OPEN, 3);
    char *text = malloc(ROOT_FILE_MAX);

    ck_assert_uint_eq(sysctl.files.count, 0);
    for (size_t i = 0; i < ROOT_FILE_MAX; i++)
        text[i] = "x\n"[i % 2];
    ck_assert_int_eq(sysctl_take(text, ROOT_FILE_MAX, "/a", SYSCTL_NR_OPEN, &sysctl, &problems), 0);
    ck_assert_uint_eq(problems.count, 21);
    problems_deinit(&problems);
    free(text);
}
END_TEST

/* What sysctl_read gives of a fixture. */
static void assert_reads(const struct fixture *f, const char *file, unsigned line, uint64_t value,
                         size_t wanted_problems)
{
    struct problems problems = {0};
    struct sysctl sysctl;
    const struct assignment *a;

    ck_assert_int_eq(sysctl_read(&f->root, SYSCTL_NR_OPEN, &sysctl, &problems), 0);
    ck_assert_uint_eq(problems.count, wanted_problems);
    a = assignments_last(&sysctl.files);
    ck_assert_str_eq(a ? a->file : "", file);
    ck_assert_uint_eq(a ? a->line : 0, line);
    ck_assert_uint_eq(a ? a->limit.soft : 0, value);
    ck_assert(!sysctl.known);
    sysctl_deinit(&sysctl);
    problems_deinit(&problems);
}

START_TEST(folders_names_and_masks)
{
    struct fixture f;

    setup(&f);
    assert_reads(&f, "", 0, 0, 0);
    put_text(&f, "/usr/lib/sysctl.d/50-a.conf", "fs.nr_open = 1000\n");
    put_text(&f, "/usr/lib/sysctl.d/60-b.conf", "fs.nr_open = 2000\n");
    link_to(&f, "usr/lib", "/lib");
    assert_reads(&f, "/usr/lib/sysctl.d/60-b.conf", 1, 2000, 0);
    put_text(&f, "/run/sysctl.d/55-c.conf", "\nfs.nr_open = 3000\n");
    assert_reads(&f, "/usr/lib/sysctl.d/60-b.conf", 1, 2000, 0);
    link_to(&f, "/dev/null", "/etc/sysctl.d/60-b.conf");
    assert_reads(&f, "/run/sysctl.d/55-c.conf", 2, 3000, 0);
    put_text(&f, "/etc/sysctl.d/55-c.conf", "");
    assert_reads(&f, "/usr/lib/sysctl.d/50-a.conf", 1, 1000, 0);
    put_text(&f, "/etc/sysctl.d/99.txt", "fs.nr_open = 4000\n");
    put_text(&f, "/etc/sysctl.d/.99.conf", "fs.nr_open = 4000\n");
    link_to(&f, "99.conf", "/etc/sysctl.d/99.conf");
    make_folder(&f, "/etc/sysctl.d/98.conf");
    assert_reads(&f, "/usr/lib/sysctl.d/50-a.conf", 1, 1000, 2);
    teardown(&f);
}
END_TEST

START_TEST(the_old_file)
{
    struct problems problems = {0};
    struct sysctl sysctl;
    struct fixture f;

    setup(&f);
    put_text(&f, "/etc/sysctl.conf", "fs.nr_open = 1000\n");
    assert_reads(&f, "/etc/sysctl.conf", 1, 1000, 0);
    put_text(&f, "/usr/lib/systemd/systemd-sysctl", "");
    assert_reads(&f, "", 0, 0, 0);
    ck_assert_int_eq(sysctl_read(&f.root, SYSCTL_NR_OPEN, &sysctl, &problems), 0);
    ck_assert_uint_eq(sysctl.files.count, 1);
    ck_assert_ptr_nonnull(strstr(sysctl.files.at[0].problem, "does not read this file"));
    sysctl_deinit(&sysctl);
    link_to(&f, "../sysctl.conf", "/etc/sysctl.d/99-sysctl.conf");
    assert_reads(&f, "/etc/sysctl.d/99-sysctl.conf", 1, 1000, 0);
    teardown(&f);
}
END_TEST

START_TEST(the_current_value)
{
    struct problems problems = {0};
    struct sysctl sysctl;
    struct fixture f;
    char reason[TEXT_LINE];
    TEXT_ON(why, reason);

    setup(&f);
    put_text(&f, "/proc/sys/fs/nr_open", "1048576\n");
    put_text(&f, "/proc/sys/fs/file-max", "9223372036854775807\n");
    root_close(&f.root);
    ck_assert_int_eq(root_open(f.path, &f.root, &why), 0);
    ck_assert_int_eq(sysctl_read(&f.root, SYSCTL_NR_OPEN, &sysctl, &problems), 0);
    ck_assert(sysctl.known);
    ck_assert_uint_eq(sysctl.current, 1048576);
    sysctl_deinit(&sysctl);
    ck_assert_int_eq(sysctl_read(&f.root, SYSCTL_FILE_MAX, &sysctl, &problems), 0);
    ck_assert_uint_eq(sysctl.current, INT64_MAX);
    ck_assert_uint_eq(problems.count, 0);
    ck_assert_str_eq(sysctl_text(SYSCTL_FILE_MAX), "fs.file-max");
    sysctl_deinit(&sysctl);
    teardown(&f);
}
END_TEST

SUITE("sysctl", assignments_as_systemd_reads_them, patterns_leave_alone_what_has_its_line,
      what_the_kernel_refuses_is_bad, lines_that_are_no_assignment, folders_names_and_masks, the_old_file,
      the_current_value)
