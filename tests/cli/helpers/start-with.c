/* start-with [SETTING...] -- CMD...: become CMD with an odd start. Settings, done in the order given:
 *   block=HEX ignore=HEX  blocked mask and ignored set, one bit a signal, signal 1 lowest (raw: 32 to 34 too)
 *   close=N               close descriptor N
 *   read=N:PATH           PATH, a FIFO perhaps, open for reading as descriptor N; write=N:PATH for writing
 *   group                 a process group of its own
 *   terminal              a session of its own whose controlling terminal is descriptor 0
 *   core                  as large a core limit as may be had
 *   own-pid=NAME          an environment variable that holds this process's number */
#include "helper.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

static void ignore_exactly(uint64_t set)
{
    struct {
        uintptr_t handler, flags, restorer, mask;
    } action = {0};

    for (int sig = 1; sig <= SIGNAL_LAST; sig++) {
        if (sig == SIGKILL || sig == SIGSTOP)
            continue;
        action.handler = set & signal_bit(sig) ? (uintptr_t)SIG_IGN : (uintptr_t)SIG_DFL;
        if (syscall(SYS_rt_sigaction, sig, &action, NULL, KERNEL_SET) < 0)
            give_up("rt_sigaction");
    }
}

static void open_as(const char *place, int flags)
{
    char *path;
    long wanted = strtol(place, &path, 10);
    int fd = *path == ':' ? open(path + 1, flags) : -1;

    if (fd < 0)
        give_up(place);
    if (fd != wanted && (dup2(fd, (int)wanted) < 0 || close(fd) < 0))
        give_up(place);
}

static void raise_core_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_CORE, &limit) < 0)
        give_up("getrlimit");
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_CORE, &limit) < 0)
        give_up("setrlimit");
}

static void name_own_pid(const char *name)
{
    char number[16];

    snprintf(number, sizeof number, "%d", getpid());
    if (setenv(name, number, 1) < 0)
        give_up("setenv");
}

static void apply(const char *word)
{
    const char *value;

    if ((value = value_of(word, "block")))
        block_exactly(strtoull(value, NULL, 16));
    else if ((value = value_of(word, "ignore")))
        ignore_exactly(strtoull(value, NULL, 16));
    else if ((value = value_of(word, "close")))
        close((int)to_number(value));
    else if ((value = value_of(word, "read")))
        open_as(value, O_RDONLY);
    else if ((value = value_of(word, "write")))
        open_as(value, O_WRONLY);
    else if ((value = value_of(word, "own-pid")))
        name_own_pid(value);
    else if (strcmp(word, "core") == 0)
        raise_core_limit();
    else if (strcmp(word, "group") == 0      ? setpgid(0, 0) < 0
             : strcmp(word, "terminal") == 0 ? setsid() < 0 || ioctl(0, TIOCSCTTY, 0) < 0
                                             : (errno = EINVAL))
        give_up(word);
}

int main(int argc, char **argv)
{
    int i = 1;

    for (; i < argc && strcmp(argv[i], "--") != 0; i++)
        apply(argv[i]);
    if (i + 1 >= argc) {
        errno = EINVAL;
        give_up("no command");
    }
    execv(argv[i + 1], argv + i + 1);
    give_up(argv[i + 1]);
}
