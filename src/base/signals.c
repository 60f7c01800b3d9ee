#include "base/signals.h"

#include "base/err.h"
#include "base/fd.h"
#include "base/num.h"

#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REAL_TIME_MIN 34 /* what both libcs leave to programs, and so what every shell calls RTMIN */

/* Of the signals below the real-time ones, each in place: pointers would take more than the names. */
static const char names[][sizeof("VTALRM")] = {
    [SIGHUP] = "HUP",       [SIGINT] = "INT",   [SIGQUIT] = "QUIT",   [SIGILL] = "ILL",   [SIGTRAP] = "TRAP",
    [SIGABRT] = "ABRT",     [SIGBUS] = "BUS",   [SIGFPE] = "FPE",     [SIGKILL] = "KILL", [SIGUSR1] = "USR1",
    [SIGSEGV] = "SEGV",     [SIGUSR2] = "USR2", [SIGPIPE] = "PIPE",   [SIGALRM] = "ALRM", [SIGTERM] = "TERM",
    [SIGSTKFLT] = "STKFLT", [SIGCHLD] = "CHLD", [SIGCONT] = "CONT",   [SIGSTOP] = "STOP", [SIGTSTP] = "TSTP",
    [SIGTTIN] = "TTIN",     [SIGTTOU] = "TTOU", [SIGURG] = "URG",     [SIGXCPU] = "XCPU", [SIGXFSZ] = "XFSZ",
    [SIGVTALRM] = "VTALRM", [SIGPROF] = "PROF", [SIGWINCH] = "WINCH", [SIGIO] = "IO",     [SIGPWR] = "PWR",
    [SIGSYS] = "SYS",
};

#define NAMES ((int)(sizeof(names) / sizeof(names[0])))

int signals_set_mask(uint64_t mask, uint64_t *ret_old)
{
    uint64_t old;

    if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &old, sizeof(mask)) < 0)
        return -errno;
    if (ret_old)
        *ret_old = old;
    return 0;
}

int signals_set_action(int signal, const struct signal_action *set, struct signal_action *ret_old)
{
    return syscall(SYS_rt_sigaction, signal, set, ret_old, sizeof(uint64_t)) < 0 ? -errno : 0;
}

int signals_open(uint64_t mask)
{
    return fd_own((int)syscall(SYS_signalfd4, -1, &mask, sizeof(mask), SFD_CLOEXEC | SFD_NONBLOCK));
}

int signals_queue(pid_t pid, int signal, pid_t sender, uid_t uid, union sigval value)
{
    siginfo_t info;

    memset(&info, 0, sizeof(info));
    info.si_signo = signal;
    info.si_code = SI_QUEUE;
    info.si_pid = sender;
    info.si_uid = uid;
    info.si_value = value;
    return syscall(SYS_rt_sigqueueinfo, pid, signal, &info) < 0 ? -errno : 0;
}

static int parse_real_time(const char *s, size_t n)
{
    bool from_min = n >= 5 && memcmp(s, "RTMIN", 5) == 0;
    bool from_max = n >= 5 && memcmp(s, "RTMAX", 5) == 0;
    uint64_t offset = 0;

    if (!from_min && !from_max)
        return -EINVAL;
    if (n > 5 && (s[5] != (from_min ? '+' : '-') || num_parse(s + 6, n - 6, &offset) < 0))
        return -EINVAL;
    if (offset > SIGNAL_MAX - REAL_TIME_MIN)
        return -EINVAL;
    return from_min ? REAL_TIME_MIN + (int)offset : SIGNAL_MAX - (int)offset;
}

int signals_parse(const char *s, size_t n)
{
    uint64_t number;

    if (num_parse(s, n, &number) == 0)
        return number >= 1 && number <= SIGNAL_MAX ? (int)number : -EINVAL;
    if (n > 3 && memcmp(s, "SIG", 3) == 0) {
        s += 3;
        n -= 3;
    }
    for (int i = 1; i < NAMES; i++)
        if (strlen(names[i]) == n && memcmp(names[i], s, n) == 0)
            return i;
    return parse_real_time(s, n);
}

void signals_format(int signal, struct text *t)
{
    if (signal >= 1 && signal < NAMES) {
        text_str(t, names[signal]);
        return;
    }
    if (signal >= REAL_TIME_MIN && signal <= SIGNAL_MAX) {
        text_str(t, "RTMIN+");
        signal -= REAL_TIME_MIN;
    }
    text_u64(t, (uint64_t)signal);
}
