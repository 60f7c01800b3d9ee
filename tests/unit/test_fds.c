#include "suite.h"

#include "measure/fds.h"

#include "base/err.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

/* Each case has a process of its own (Check forks), so it may open what it likes above this number. */
#define BASE 600

static int own_folder(void)
{
    int dir = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    ck_assert_int_ge(dir, 0);
    ck_assert_int_lt(dir, BASE);
    return dir;
}

static void open_at(int number)
{
    ck_assert_int_eq(dup2(STDOUT_FILENO, number), number);
}

static void expect(int dir, uint64_t from, int but, uint64_t count, uint64_t highest)
{
    uint64_t got = UINT64_MAX, got_highest = 77;

    ck_assert_int_eq(fds_from(dir, from, but, -1, &got, &got_highest), 0);
    ck_assert_msg(got == count, "from %llu: %llu", (unsigned long long)from, (unsigned long long)got);
    ck_assert_uint_eq(got_highest, count > 0 ? highest : 77);
}

START_TEST(those_at_or_above_are_counted)
{
    int dir = own_folder();

    expect(dir, BASE, -1, 0, 0);
    open_at(BASE);
    open_at(BASE + 1);
    open_at(BASE + 300);
    expect(dir, BASE, -1, 3, BASE + 300);
    expect(dir, BASE + 1, -1, 2, BASE + 300);
    expect(dir, BASE + 2, -1, 1, BASE + 300);
    expect(dir, BASE + 300, -1, 1, BASE + 300);
    expect(dir, BASE + 301, -1, 0, 0);
}
END_TEST

START_TEST(one_number_can_be_left_out)
{
    int dir = own_folder();

    open_at(BASE);
    open_at(BASE + 7);
    expect(dir, BASE, BASE + 7, 1, BASE);
    expect(dir, BASE, BASE, 1, BASE + 7);
    expect(dir, BASE + 1, BASE + 7, 0, 0);
}
END_TEST

START_TEST(more_than_one_buffer_of_entries_is_counted)
{
    int dir = own_folder();

    for (int i = 0; i < 300; i++)
        open_at(BASE + i);
    expect(dir, BASE, -1, 300, BASE + 299);
    expect(dir, BASE + 100, -1, 200, BASE + 299);
}
END_TEST

START_TEST(no_descriptor_is_above_the_largest_int)
{
    int dir = own_folder();

    expect(dir, INT_MAX, -1, 0, 0);
    expect(dir, (uint64_t)INT_MAX + 1, -1, 0, 0);
    expect(dir, 1ull << 63, -1, 0, 0);
    expect(dir, UINT64_MAX, -1, 0, 0);
}
END_TEST

/* "None" must be certain: never said while there is one at or above, ready to be read or not. */
START_TEST(none_is_never_said_of_one_that_is_open)
{
    int pipes[2], ready = open("/dev/null", O_RDONLY);

    ck_assert_int_eq(pipe(pipes), 0);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(dup2(i == 0 ? ready : pipes[0], BASE + 100), BASE + 100);
        for (uint64_t from = 0; from <= BASE + 100; from++)
            ck_assert_msg(!fds_none_from(from), "from %llu", (unsigned long long)from);
    }
}
END_TEST

START_TEST(none_is_said_beyond_the_table)
{
    open_at(BASE);
    ck_assert(fds_none_from(1024));
    ck_assert(fds_none_from(4095));
    ck_assert(fds_none_from(4096));
    ck_assert(fds_none_from(1ull << 31));
    ck_assert(fds_none_from(UINT64_MAX));
}
END_TEST

struct seen {
    unsigned number[8];
    size_t count;
};

static void see(unsigned number, void *data)
{
    struct seen *seen = data;

    ck_assert_uint_lt(seen->count, COUNT(seen->number));
    seen->number[seen->count++] = number;
}

START_TEST(each_goes_up)
{
    struct seen seen = {.count = 0};
    int dir = own_folder();

    open_at(BASE + 20);
    open_at(BASE + 3);
    open_at(BASE + 100);
    ck_assert_int_eq(fds_each(dir, BASE, -1, see, &seen), 0);
    ck_assert_uint_eq(seen.count, 3);
    ck_assert_uint_eq(seen.number[0], BASE + 3);
    ck_assert_uint_eq(seen.number[1], BASE + 20);
    ck_assert_uint_eq(seen.number[2], BASE + 100);
}
END_TEST

START_TEST(errors_are_passed_on)
{
    uint64_t count = 77, highest = 77;
    int plain = open("/dev/null", O_RDONLY);

    ck_assert_int_eq(fds_from(-1, 0, -1, -1, &count, &highest), -EBADF);
    ck_assert_int_eq(fds_from(plain, 0, -1, -1, &count, &highest), -ENOTDIR);
    ck_assert_uint_eq(count, 77);
    ck_assert_uint_eq(highest, 77);
}
END_TEST

SUITE("fds", those_at_or_above_are_counted, one_number_can_be_left_out,
      more_than_one_buffer_of_entries_is_counted, no_descriptor_is_above_the_largest_int,
      none_is_never_said_of_one_that_is_open, none_is_said_beyond_the_table, each_goes_up,
      errors_are_passed_on)
