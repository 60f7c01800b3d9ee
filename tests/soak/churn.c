/* churn COUNTERS CEILING: the workload of the soak. Workers fork without end: children that they wait for,
 * orphans that they don't, calls that raise the limit, descriptors that come and go. A worker that has made
 * its share ends and the next one is started. TERM ends it all with 0. What was done is counted in the file
 * COUNTERS, which soak.py reads while it grows. */
#include "../cli/helpers/helper.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { WORKERS = 2, SHARE = 20000, HIGHEST = 250 };

/* soak.py has the same names in the same order. */
struct counters {
    _Atomic uint64_t forks, orphans, raises, above, signals, workers, failed;
};

static struct counters *counters;
static volatile sig_atomic_t over;

static void count_signal(int number)
{
    atomic_fetch_add(&counters->signals, 1);
}

static void end(int number)
{
    over = 1;
}

static struct counters *map_counters(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    void *at;

    if (fd < 0)
        give_up(path);
    at = mmap(NULL, sizeof(struct counters), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        give_up("mmap");
    close(fd);
    return at;
}

static void child_and_wait(void)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(7);
    if (pid < 0 || waitpid(pid, NULL, 0) != pid)
        atomic_fetch_add(&counters->failed, 1);
    else
        atomic_fetch_add(&counters->forks, 1);
}

/* Two forks: the second process is nobody's child once the first has ended. */
static void orphan(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        if (fork() == 0) {
            setsid();
            _exit(0);
        }
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, NULL, 0) != pid) {
        atomic_fetch_add(&counters->failed, 1);
        return;
    }
    atomic_fetch_add(&counters->forks, 2);
    atomic_fetch_add(&counters->orphans, 1);
}

/* Ask for more than there is to be had. Whatever the answer, the limit stays. */
static void raise_limit(rlim_t ceiling)
{
    struct rlimit limit = {4 * ceiling, 4 * ceiling};

    (void)setrlimit(RLIMIT_NOFILE, &limit);
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_max > ceiling)
        atomic_fetch_add(&counters->above, 1);
    atomic_fetch_add(&counters->raises, 1);
}

static void come_and_go(unsigned i)
{
    int fd = 3 + (int)(i / 256 * 37 % (HIGHEST - 3));

    if (dup2(STDIN_FILENO, fd) != fd)
        atomic_fetch_add(&counters->failed, 1);
    close(fd);
}

static _Noreturn void work(rlim_t ceiling)
{
    signal(SIGTERM, SIG_DFL);
    for (unsigned i = 0; i < SHARE; i++) {
        if (i % 4 == 0)
            orphan();
        else
            child_and_wait();
        if (i % 64 == 0)
            raise_limit(ceiling);
        if (i % 256 == 0)
            come_and_go(i);
    }
    _exit(0);
}

static pid_t start_worker(rlim_t ceiling)
{
    pid_t pid = fork();

    if (pid == 0)
        work(ceiling);
    if (pid < 0)
        give_up("fork");
    atomic_fetch_add(&counters->workers, 1);
    return pid;
}

static void replace(pid_t *worker, pid_t ended, rlim_t ceiling)
{
    for (int i = 0; i < WORKERS; i++)
        if (worker[i] == ended)
            worker[i] = start_worker(ceiling);
}

int main(int argc, char **argv)
{
    struct sigaction counting = {.sa_handler = count_signal, .sa_flags = SA_RESTART};
    struct sigaction ending = {.sa_handler = end};
    pid_t worker[WORKERS];
    rlim_t ceiling;

    if (argc != 3)
        return EXIT_HELPER;
    counters = map_counters(argv[1]);
    ceiling = (rlim_t)to_number(argv[2]);
    sigaction(SIGTERM, &ending, NULL);
    sigaction(SIGHUP, &counting, NULL);
    sigaction(SIGUSR1, &counting, NULL);
    sigaction(SIGRTMIN + 3, &counting, NULL);
    for (int i = 0; i < WORKERS; i++)
        worker[i] = start_worker(ceiling);
    while (!over) {
        pid_t ended = wait(NULL);

        if (ended > 0 && !over)
            replace(worker, ended, ceiling);
    }
    for (int i = 0; i < WORKERS; i++)
        kill(worker[i], SIGKILL);
    return 0;
}
