#include "suite.h"

#include "base/err.h"
#include "base/num.h"

static void expect(const char *s, int r, uint64_t value)
{
    uint64_t got = 77;

    ck_assert_msg(num_parse(s, strlen(s), &got) == r, "'%s'", s);
    ck_assert_msg(got == (r == 0 ? value : 77), "'%s' gave %llu", s, (unsigned long long)got);
}

static void expect_duration(const char *s, int r, uint64_t ms)
{
    uint64_t got = 77;

    ck_assert_msg(num_parse_duration(s, strlen(s), &got) == r, "'%s'", s);
    ck_assert_msg(got == (r == 0 ? ms : 77), "'%s' gave %llu", s, (unsigned long long)got);
}

START_TEST(digits_are_read)
{
    expect("0", 0, 0);
    expect("007", 0, 7);
    expect("1024", 0, 1024);
    expect("1073741816", 0, 1073741816);
    expect("2147483648", 0, 1ull << 31);
    expect("9223372036854775808", 0, 1ull << 63);
    expect("18446744073709551615", 0, UINT64_MAX);
}
END_TEST

START_TEST(only_digits_are_read)
{
    static const char *const bad[] = {"",    "-1",  "+1", " 1",  "1 ",       "0x10", "1k",
                                      "1.0", "1e3", "1,", "1\n", "\xd9\xa1", "--",   "-3"};

    for (size_t i = 0; i < COUNT(bad); i++)
        expect(bad[i], -EINVAL, 0);
}
END_TEST

START_TEST(a_nul_is_no_digit)
{
    uint64_t got = 77;

    ck_assert_int_eq(num_parse("1\0002", 3, &got), -EINVAL);
    ck_assert_uint_eq(got, 77);
}
END_TEST

START_TEST(only_n_bytes_are_looked_at)
{
    uint64_t got;

    ck_assert_int_eq(num_parse("123456", 3, &got), 0);
    ck_assert_uint_eq(got, 123);
}
END_TEST

START_TEST(overflow_is_its_own_error)
{
    expect("18446744073709551616", -ERANGE, 0);
    expect("18446744073709551620", -ERANGE, 0);
    expect("99999999999999999999999999", -ERANGE, 0);
    expect("99999999999999999999999999x", -EINVAL, 0);
}
END_TEST

START_TEST(durations_have_one_unit)
{
    expect_duration("0", 0, 0);
    expect_duration("5", 0, 5000);
    expect_duration("250ms", 0, 250);
    expect_duration("90s", 0, 90000);
    expect_duration("3m", 0, 180000);
    expect_duration("24h", 0, 86400000);
    expect_duration("2d", 0, 172800000);
    expect_duration("18446744073709551615ms", 0, UINT64_MAX);
}
END_TEST

START_TEST(other_durations_are_refused)
{
    static const char *const bad[] = {"",   "s",    "ms",    "-5s",  "+5s",  "5 s",
                                      "5S", "5min", "1h30m", "1.5h", "0x5s", "5s "};

    for (size_t i = 0; i < COUNT(bad); i++)
        expect_duration(bad[i], -EINVAL, 0);
    expect_duration("18446744073709551616ms", -ERANGE, 0);
    expect_duration("18446744073709552s", -ERANGE, 0);
    expect_duration("213503982335d", -ERANGE, 0);
}
END_TEST

START_TEST(arithmetic_stays_at_the_top)
{
    ck_assert_uint_eq(num_add(2, 3), 5);
    ck_assert_uint_eq(num_add(UINT64_MAX - 1, 1), UINT64_MAX);
    ck_assert_uint_eq(num_add(UINT64_MAX, 1), UINT64_MAX);
    ck_assert_uint_eq(num_mul(6, 7), 42);
    ck_assert_uint_eq(num_mul(UINT64_MAX, 0), 0);
    ck_assert_uint_eq(num_mul(0, UINT64_MAX), 0);
    ck_assert_uint_eq(num_mul(1ull << 32, 1ull << 32), UINT64_MAX);
    ck_assert_uint_eq(num_mul(1ull << 32, (1ull << 32) - 1), UINT64_MAX - (1ull << 32) + 1);
    ck_assert_uint_eq(num_min(3, 4), 3);
    ck_assert_uint_eq(num_max(3, 4), 4);
}
END_TEST

SUITE("num", digits_are_read, only_digits_are_read, a_nul_is_no_digit, only_n_bytes_are_looked_at,
      overflow_is_its_own_error, durations_have_one_unit, other_durations_are_refused,
      arithmetic_stays_at_the_top)
