#include "suite.h"

#include "base/err.h"
#include "base/signals.h"

#include <unistd.h>

static int parse(const char *s)
{
    return signals_parse(s, strlen(s));
}

START_TEST(names_and_numbers_are_read)
{
    ck_assert_int_eq(parse("TERM"), SIGTERM);
    ck_assert_int_eq(parse("SIGTERM"), SIGTERM);
    ck_assert_int_eq(parse("15"), 15);
    ck_assert_int_eq(parse("WINCH"), SIGWINCH);
    ck_assert_int_eq(parse("RTMIN"), 34);
    ck_assert_int_eq(parse("SIGRTMIN+3"), 37);
    ck_assert_int_eq(parse("RTMAX"), 64);
    ck_assert_int_eq(parse("RTMAX-30"), 34);
    ck_assert_int_eq(parse("64"), 64);
    ck_assert_int_eq(parse("32"), 32);
}
END_TEST

START_TEST(anything_else_is_refused)
{
    static const char *const bad[] = {"",        "0",          "65",       "-1",      "term",      "SIG",
                                      "TERMX",   "RTMIN+31",   "RTMAX-31", "RTMIN-1", "RTMAX+1",   "RTMIN+",
                                      "RTMIN+x", "SIGSIGTERM", "TER",      "15 ",     "4294967311"};

    for (size_t i = 0; i < COUNT(bad); i++)
        ck_assert_msg(parse(bad[i]) == -EINVAL, "'%s'", bad[i]);
}
END_TEST

START_TEST(every_signal_is_read_as_it_is_written)
{
    for (int signal = 1; signal <= SIGNAL_MAX; signal++) {
        char buffer[32];
        TEXT_ON(name, buffer);

        signals_format(signal, &name);
        ck_assert_msg(parse(name.at) == signal, "%d is written %s", signal, name.at);
    }
}
END_TEST

START_TEST(the_mask_holds_what_libc_hides)
{
    const uint64_t hidden = SIGNAL_BIT(32) | SIGNAL_BIT(33) | SIGNAL_BIT(34);
    uint64_t before, now;

    ck_assert_int_eq(signals_set_mask(hidden, &before), 0);
    ck_assert_int_eq(signals_set_mask(before, &now), 0);
    ck_assert_uint_eq(now, hidden);
}
END_TEST

START_TEST(a_queued_value_arrives)
{
    union sigval value = {.sival_int = 4711};
    uint64_t before;
    int fd;
    unsigned char info[128];

    ck_assert_int_eq(signals_set_mask(SIGNAL_BIT(40), &before), 0);
    fd = signals_open(SIGNAL_BIT(40));
    ck_assert_int_ge(fd, 3);
    ck_assert_int_eq(signals_queue(getpid(), 40, getpid(), getuid(), value), 0);
    ck_assert_int_eq(read(fd, info, sizeof(info)), sizeof(info));
    ck_assert_int_eq(info[0], 40);
    close(fd);
    ck_assert_int_eq(signals_set_mask(before, NULL), 0);
}
END_TEST

SUITE("signals", names_and_numbers_are_read, anything_else_is_refused, every_signal_is_read_as_it_is_written,
      the_mask_holds_what_libc_hides, a_queued_value_arrives)
