#include "fixture.h"

#include "base/err.h"
#include "inspect/assignment.h"

static void assert_reads(const struct fixture *f, const char *path, const char *wanted)
{
    char *bytes;
    size_t n;

    ck_assert_int_eq(root_read(&f->root, path, &bytes, &n), 0);
    ck_assert_str_eq(bytes, wanted);
    ck_assert_uint_eq(n, strlen(wanted));
    free(bytes);
}

START_TEST(links_stay_inside)
{
    struct fixture f;

    setup(&f);
    make_folder(&f, "/etc");
    put(&f, "/etc/hostname", "inside\n", 7);
    link_to(&f, "/etc/hostname", "/absolute");
    link_to(&f, "../../../../etc/hostname", "/etc/upwards");
    assert_reads(&f, "/absolute", "inside\n");
    assert_reads(&f, "/etc/upwards", "inside\n");
    assert_reads(&f, "etc/hostname", "inside\n");
    ck_assert_int_eq(f.root.proc, -1);
    teardown(&f);
}
END_TEST

START_TEST(what_is_no_file_is_refused)
{
    struct fixture f;
    char *bytes = NULL, path[128];
    size_t n = 0;

    setup(&f);
    make_folder(&f, "/etc");
    link_to(&f, "/b", "/a");
    link_to(&f, "/a", "/b");
    snprintf(path, sizeof(path), "%s/fifo", f.path);
    ck_assert_int_eq(mkfifo(path, 0644), 0);
    ck_assert_int_eq(root_read(&f.root, "/a", &bytes, &n), -ELOOP);
    ck_assert_int_eq(root_read(&f.root, "/etc", &bytes, &n), -EISDIR);
    ck_assert_int_eq(root_read(&f.root, "/fifo", &bytes, &n), -EINVAL);
    ck_assert_int_eq(root_read(&f.root, "/no", &bytes, &n), -ENOENT);
    ck_assert_ptr_null(bytes);
    teardown(&f);
}
END_TEST

START_TEST(a_file_is_read_whole_up_to_the_bound)
{
    struct fixture f;
    char *big = calloc(1, ROOT_FILE_MAX + 1), *bytes = NULL;
    size_t n = 0;

    ck_assert_ptr_nonnull(big);
    setup(&f);
    put(&f, "/full", big, ROOT_FILE_MAX);
    put(&f, "/over", big, ROOT_FILE_MAX + 1);
    put(&f, "/empty", big, 0);
    ck_assert_int_eq(root_read(&f.root, "/over", &bytes, &n), -EFBIG);
    ck_assert_int_eq(root_read(&f.root, "/full", &bytes, &n), 0);
    ck_assert_uint_eq(n, ROOT_FILE_MAX);
    ck_assert_int_eq(bytes[n], '\0');
    free(bytes);
    assert_reads(&f, "/empty", "");
    teardown(&f);
    free(big);
}
END_TEST

START_TEST(names_are_sorted)
{
    struct fixture f;
    char **names;
    size_t count;

    setup(&f);
    make_folder(&f, "/d");
    put(&f, "/d/20-b", "", 0);
    put(&f, "/d/10-z", "", 0);
    put(&f, "/d/.hidden", "", 0);
    ck_assert_int_eq(root_names(&f.root, "/d", &names, &count), 0);
    ck_assert_uint_eq(count, 3);
    ck_assert_str_eq(names[0], ".hidden");
    ck_assert_str_eq(names[1], "10-z");
    ck_assert_str_eq(names[2], "20-b");
    root_names_free(names, count);
    ck_assert_int_eq(root_names(&f.root, "/d/10-z", &names, &count), -ENOTDIR);
    teardown(&f);
}
END_TEST

START_TEST(a_path_is_shown_from_outside)
{
    struct root own = {.path = "/"}, host = {.path = "/host"}, slash = {.path = "/host/"};
    char buffer[TEXT_LINE];
    TEXT_ON(t, buffer);

    root_format(&own, "/etc/a", &t);
    root_format(&host, "/etc/b", &t);
    root_format(&slash, "/etc/c", &t);
    ck_assert_str_eq(buffer, "/etc/a/host/etc/b/host/etc/c");
}
END_TEST

START_TEST(a_root_that_is_not_there)
{
    struct root root;
    char reason[TEXT_LINE];
    TEXT_ON(why, reason);

    ck_assert_int_eq(root_open("/no/such\x1b", &root, &why), -ENOENT);
    ck_assert_str_eq(reason, "root '/no/such\\x1b' can't be opened: no such file or folder");
}
END_TEST

START_TEST(the_last_assignment_in_force_counts)
{
    struct assignments list = {0};
    struct assignment a = {.file = "/etc/a", .line = 3, .text = "1024", .limit = {1024, 1024}};

    ck_assert_ptr_null(assignments_last(&list));
    ck_assert_int_eq(assignments_add(&list, &a), 0);
    assignments_override(&list);
    ck_assert_ptr_null(assignments_last(&list));
    a.line = 7;
    ck_assert_int_eq(assignments_add(&list, &a), 0);
    a.state = ASSIGNMENT_BAD;
    a.problem = "not a limit";
    ck_assert_int_eq(assignments_add(&list, &a), 0);
    ck_assert_uint_eq(assignments_last(&list)->line, 7);
    ck_assert_int_eq(list.at[0].state, ASSIGNMENT_OVERRIDDEN);
    ck_assert_str_eq(list.at[2].problem, "not a limit");
    assignments_deinit(&list);
    ck_assert_uint_eq(list.count, 0);
}
END_TEST

SUITE("root", links_stay_inside, what_is_no_file_is_refused, a_file_is_read_whole_up_to_the_bound,
      names_are_sorted, a_path_is_shown_from_outside, a_root_that_is_not_there,
      the_last_assignment_in_force_counts)
