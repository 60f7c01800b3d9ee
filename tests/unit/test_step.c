#include "suite.h"

#include "launcher/init/step.h"

#include <signal.h>

/* A supervisor that runs a child, outside PID 1, below a shell. */
static struct init_state below_shell(void)
{
    struct init_state s;
    char reason[TEXT_LINE];
    TEXT_ON(why, reason);

    memset(&s, 0, sizeof(s));
    ck_assert_int_eq(signal_map_parse(NULL, &s.rewrite, &why), 0);
    return s;
}

static struct init_actions signal_from(struct init_state *s, int signal, bool from_kernel, bool shared)
{
    return init_step(s, &(struct init_event){INIT_SIGNAL, signal, from_kernel, shared});
}

static struct init_actions happens(struct init_state *s, enum init_event_kind kind, int signal)
{
    return init_step(s, &(struct init_event){.kind = kind, .signal = signal});
}

static void expect(struct init_actions a, unsigned what, int signal, uint64_t after)
{
    ck_assert_uint_eq(a.what, what);
    ck_assert_int_eq(a.signal, signal);
    ck_assert_uint_eq(a.after, after);
}

START_TEST(every_signal_is_passed_on)
{
    struct init_state s = below_shell();

    for (int signal = 1; signal <= SIGNAL_MAX; signal++)
        expect(signal_from(&s, signal, false, signal % 2 == 0), INIT_FORWARD, signal, 0);
}
END_TEST

START_TEST(a_rewritten_signal_goes_as_the_other_and_a_dropped_one_not_at_all)
{
    struct init_state s = below_shell();

    s.rewrite.to[SIGTERM] = SIGINT;
    s.rewrite.to[SIGHUP] = 0;
    expect(signal_from(&s, SIGTERM, false, false), INIT_FORWARD, SIGINT, 0);
    expect(signal_from(&s, SIGHUP, false, false), 0, 0, 0);
}
END_TEST

START_TEST(what_a_terminal_sent_to_the_shared_group_is_not_sent_twice)
{
    const int of_terminal[] = {SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH};
    struct init_state s = below_shell();

    for (size_t i = 0; i < COUNT(of_terminal); i++) {
        expect(signal_from(&s, of_terminal[i], true, true), 0, 0, 0);
        expect(signal_from(&s, of_terminal[i], true, false), INIT_FORWARD, of_terminal[i], 0);
        expect(signal_from(&s, of_terminal[i], false, true), INIT_FORWARD, of_terminal[i], 0);
    }
    expect(signal_from(&s, SIGALRM, true, true), INIT_FORWARD, SIGALRM, 0);
}
END_TEST

START_TEST(the_cont_of_a_hang_up_reaches_only_a_stopped_child)
{
    struct init_state s = below_shell();

    s.is_leader = true;
    expect(signal_from(&s, SIGCONT, true, false), 0, 0, 0);
    happens(&s, INIT_STOPPED, SIGTSTP);
    expect(signal_from(&s, SIGCONT, true, false), INIT_FORWARD, SIGCONT, 0);
}
END_TEST

START_TEST(a_stop_is_mirrored_and_fg_does_not_continue_twice)
{
    struct init_state s = below_shell();

    expect(happens(&s, INIT_STOPPED, SIGTSTP), 0, 0, 0);
    expect(happens(&s, INIT_QUIET, 0), INIT_STOP_SELF, SIGTSTP, 0);
    expect(happens(&s, INIT_QUIET, 0), 0, 0, 0);
    happens(&s, INIT_CONTINUED, 0); /* by fg, which continued the whole group */
    expect(signal_from(&s, SIGCONT, false, true), 0, 0, 0);
    expect(signal_from(&s, SIGCONT, false, true), INIT_FORWARD, SIGCONT, 0);
}
END_TEST

START_TEST(a_cont_for_fdfit_alone_goes_to_the_stopped_child)
{
    struct init_state s = below_shell();

    happens(&s, INIT_STOPPED, SIGTSTP);
    happens(&s, INIT_QUIET, 0);
    expect(signal_from(&s, SIGCONT, false, true), INIT_FORWARD, SIGCONT, 0);
}
END_TEST

START_TEST(a_cont_before_the_stop_is_mirrored_takes_its_place)
{
    struct init_state s = below_shell();

    happens(&s, INIT_STOPPED, SIGTSTP);
    expect(signal_from(&s, SIGCONT, false, true), INIT_FORWARD, SIGCONT, 0);
    expect(happens(&s, INIT_QUIET, 0), 0, 0, 0);
    happens(&s, INIT_STOPPED, SIGTSTP);
    happens(&s, INIT_CONTINUED, 0);
    expect(happens(&s, INIT_QUIET, 0), 0, 0, 0);
}
END_TEST

START_TEST(pid_1_and_a_leader_do_not_stop)
{
    struct init_state one = below_shell(), leader = below_shell();

    one.is_pid1 = true;
    leader.is_leader = true;
    happens(&one, INIT_STOPPED, SIGTSTP);
    happens(&leader, INIT_STOPPED, SIGSTOP);
    expect(happens(&one, INIT_QUIET, 0), 0, 0, 0);
    expect(happens(&leader, INIT_QUIET, 0), 0, 0, 0);
}
END_TEST

START_TEST(grace_runs_from_the_first_term)
{
    struct init_state s = below_shell();

    s.grace = 2000;
    expect(signal_from(&s, SIGINT, false, false), INIT_FORWARD, SIGINT, 0);
    expect(signal_from(&s, SIGTERM, false, false), INIT_FORWARD | INIT_DEADLINE, SIGTERM, 2000);
    expect(signal_from(&s, SIGTERM, false, false), INIT_FORWARD, SIGTERM, 0);
    expect(happens(&s, INIT_TIME, 0), INIT_KILL, 0, 0);
}
END_TEST

START_TEST(grace_runs_from_a_rewritten_term_but_not_from_a_dropped_one)
{
    struct init_state s = below_shell(), dropped = below_shell();

    s.grace = dropped.grace = 2000;
    s.rewrite.to[SIGTERM] = SIGQUIT;
    dropped.rewrite.to[SIGTERM] = 0;
    expect(signal_from(&s, SIGTERM, false, false), INIT_FORWARD | INIT_DEADLINE, SIGQUIT, 2000);
    expect(signal_from(&dropped, SIGTERM, false, false), 0, 0, 0);
}
END_TEST

START_TEST(without_wait_all_the_childs_end_is_the_end)
{
    struct init_state s = below_shell();

    expect(happens(&s, INIT_ALONE, 0), 0, 0, 0);
    expect(happens(&s, INIT_ENDED, 0), INIT_EXIT, 0, 0);
}
END_TEST

START_TEST(wait_all_ends_the_others_by_term_then_kill_until_none_is_left)
{
    struct init_state s = below_shell();

    s.wait_all = true;
    expect(happens(&s, INIT_ENDED, 0), INIT_TERM_REST | INIT_DEADLINE, 0, 10000);
    expect(signal_from(&s, SIGTERM, false, false), 0, 0, 0);
    happens(&s, INIT_STOPPED, SIGTSTP);
    expect(happens(&s, INIT_QUIET, 0), 0, 0, 0);
    expect(happens(&s, INIT_TIME, 0), INIT_KILL_REST | INIT_DEADLINE, 0, 100);
    expect(happens(&s, INIT_TIME, 0), INIT_KILL_REST | INIT_DEADLINE, 0, 100);
    expect(happens(&s, INIT_ALONE, 0), INIT_EXIT, 0, 0);
}
END_TEST

START_TEST(wait_all_uses_the_grace_that_was_set)
{
    struct init_state s = below_shell();

    s.wait_all = true;
    s.grace = 300;
    expect(happens(&s, INIT_ENDED, 0), INIT_TERM_REST | INIT_DEADLINE, 0, 300);
}
END_TEST

/* Wait statuses as the kernel makes them (wait(2)). */
#define EXITED(code)   ((code) << 8)
#define KILLED(signal) (signal)

START_TEST(statuses_pass_and_death_by_signal_is_kept_or_counted)
{
    struct exit_map map;
    char reason[TEXT_LINE];
    TEXT_ON(why, reason);

    ck_assert_int_eq(exit_map_parse(NULL, &map, &why), 0);
    for (int code = 0; code < 256; code++) {
        struct init_end end = init_end(EXITED(code), &map, code % 2 == 0);

        ck_assert(!end.by_signal);
        ck_assert_int_eq(end.value, code);
    }
    for (int signal = 1; signal <= SIGNAL_MAX; signal++) {
        struct init_end one = init_end(KILLED(signal), &map, true),
                        other = init_end(KILLED(signal), &map, false);

        ck_assert(!one.by_signal && one.value == 128 + signal);
        ck_assert(other.by_signal && other.value == signal);
    }
}
END_TEST

START_TEST(the_exit_map_comes_first)
{
    struct exit_map map;
    char reason[TEXT_LINE];
    TEXT_ON(why, reason);
    struct init_end end;

    ck_assert_int_eq(exit_map_parse("143:0,3:7", &map, &why), 0);
    end = init_end(KILLED(SIGTERM), &map, false);
    ck_assert(!end.by_signal && end.value == 0);
    end = init_end(EXITED(3), &map, true);
    ck_assert(!end.by_signal && end.value == 7);
    end = init_end(EXITED(7), &map, true);
    ck_assert(!end.by_signal && end.value == 7);
}
END_TEST

SUITE("step", every_signal_is_passed_on, a_rewritten_signal_goes_as_the_other_and_a_dropped_one_not_at_all,
      what_a_terminal_sent_to_the_shared_group_is_not_sent_twice,
      the_cont_of_a_hang_up_reaches_only_a_stopped_child, a_stop_is_mirrored_and_fg_does_not_continue_twice,
      a_cont_for_fdfit_alone_goes_to_the_stopped_child, a_cont_before_the_stop_is_mirrored_takes_its_place,
      pid_1_and_a_leader_do_not_stop, grace_runs_from_the_first_term,
      grace_runs_from_a_rewritten_term_but_not_from_a_dropped_one, without_wait_all_the_childs_end_is_the_end,
      wait_all_ends_the_others_by_term_then_kill_until_none_is_left, wait_all_uses_the_grace_that_was_set,
      statuses_pass_and_death_by_signal_is_kept_or_counted, the_exit_map_comes_first)
