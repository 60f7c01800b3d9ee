#include "suite.h"

#include "base/err.h"
#include "policy/maps.h"

START_TEST(no_list_changes_nothing)
{
    struct signal_map signals;
    struct exit_map exits;
    char reason[TEXT_LINE];
    TEXT_UNTOUCHED(why, reason);

    ck_assert_int_eq(signal_map_parse(NULL, &signals, &why), 0);
    ck_assert_int_eq(exit_map_parse(NULL, &exits, &why), 0);
    for (int i = 1; i <= SIGNAL_MAX; i++)
        ck_assert_int_eq(signals.to[i], i);
    for (int i = 0; i < 256; i++)
        ck_assert(!exits.mapped[i]);
    ck_assert_str_eq(reason, UNTOUCHED);
}
END_TEST

START_TEST(signals_are_mapped)
{
    struct signal_map map;
    char reason[TEXT_LINE];
    TEXT_ON(why, reason);

    ck_assert_int_eq(signal_map_parse("TERM:INT,SIGHUP:0,10:RTMIN+1,USR2:KILL", &map, &why), 0);
    ck_assert_int_eq(map.to[SIGTERM], SIGINT);
    ck_assert_int_eq(map.to[SIGHUP], 0);
    ck_assert_int_eq(map.to[10], 35);
    ck_assert_int_eq(map.to[SIGUSR2], SIGKILL);
    ck_assert_int_eq(map.to[SIGINT], SIGINT);
}
END_TEST

START_TEST(exits_are_mapped)
{
    struct exit_map map;
    char reason[TEXT_LINE];
    TEXT_ON(why, reason);

    ck_assert_int_eq(exit_map_parse("143:0,0:255", &map, &why), 0);
    ck_assert(map.mapped[143] && map.to[143] == 0);
    ck_assert(map.mapped[0] && map.to[0] == 255);
    ck_assert(!map.mapped[1]);
}
END_TEST

struct refused {
    const char *list;
    const char *reason;
};

START_TEST(a_list_with_one_bad_pair_is_refused_whole)
{
    static const struct refused signals[] = {
        {"", "'' is not FROM:TO"},
        {"TERM", "'TERM' is not FROM:TO"},
        {"TERM:INT,", "'' is not FROM:TO"},
        {"TERM:INT,FOO:INT", "'FOO:INT': the first is not a signal"},
        {"TERM:BAR", "'TERM:BAR': the second is neither a signal nor 0"},
        {"TERM:", "'TERM:': the second is neither a signal nor 0"},
        {"0:TERM", "'0:TERM': the first is not a signal"},
        {"TERM:00", "'TERM:00': the second is neither a signal nor 0"},
        {"TERM:65", "'TERM:65': the second is neither a signal nor 0"},
        {"KILL:TERM", "'KILL:TERM': this signal is never passed on"},
        {"STOP:TERM", "'STOP:TERM': this signal is never passed on"},
        {"CHLD:TERM", "'CHLD:TERM': this signal is never passed on"},
    };
    static const struct refused exits[] = {
        {"143", "'143' is not FROM:TO"},
        {"256:0", "'256:0': an exit status is a number from 0 to 255"},
        {"1:256", "'1:256': an exit status is a number from 0 to 255"},
        {"1:0,x:2", "'x:2': an exit status is a number from 0 to 255"},
        {"-1:0", "'-1:0': an exit status is a number from 0 to 255"},
        {"1:0 ", "'1:0 ': an exit status is a number from 0 to 255"},
    };
    struct signal_map signal_map = {.to = {[5] = 99}};
    struct exit_map exit_map = {.to = {[5] = 99}};

    for (size_t i = 0; i < COUNT(signals) + COUNT(exits); i++) {
        bool first = i < COUNT(signals);
        const struct refused *r = first ? &signals[i] : &exits[i - COUNT(signals)];
        char reason[TEXT_LINE];
        TEXT_ON(why, reason);

        ck_assert_msg((first ? signal_map_parse(r->list, &signal_map, &why)
                             : exit_map_parse(r->list, &exit_map, &why)) == -EINVAL,
                      "'%s' was taken", r->list);
        ck_assert_str_eq(reason, r->reason);
    }
    ck_assert_int_eq(signal_map.to[5], 99);
    ck_assert_int_eq(exit_map.to[5], 99);
}
END_TEST

SUITE("maps", no_list_changes_nothing, signals_are_mapped, exits_are_mapped,
      a_list_with_one_bad_pair_is_refused_whole)
