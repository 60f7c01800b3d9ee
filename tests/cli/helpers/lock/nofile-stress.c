/* nofile-stress WHAT COUNT ...: what a supervisor that answers for the limit has to live through.
 *
 *   race COUNT SOFT       another thread changes the struct during the calls: "max=N" is the highest soft
 * after one kill COUNT            COUNT processes are killed while they call: "killed=N waiting=N", then
 * "ret=0" of a call timer COUNT USEC      a timer with SA_RESTART every USEC during COUNT calls: "done=COUNT
 * ticks=N" */
#include "../helper.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

struct limit64 {
    uint64_t soft, hard;
};

static long set_limit(const struct limit64 *want)
{
    return syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, want, NULL);
}

static struct limit64 get_limit(void)
{
    struct limit64 now;

    if (syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &now) < 0)
        give_up("reading the limit");
    return now;
}

/* ---- race ---- */

struct race {
    _Atomic uint64_t soft; /* the struct of the calls: soft and hard */
    uint64_t hard;
    atomic_bool done;
    uint64_t low, high;
};

static void *flip(void *data)
{
    struct race *race = data;

    while (!race->done) {
        race->soft = race->high;
        race->soft = race->low;
    }
    return NULL;
}

static int run_race(long count, uint64_t high)
{
    struct limit64 now = get_limit();
    static struct race race;
    uint64_t max = 0, moved = 0;
    pthread_t thread;

    race.soft = race.low = now.soft / 2;
    race.high = high;
    race.hard = high; /* so that no struct is invalid */
    if (pthread_create(&thread, NULL, flip, &race) != 0)
        give_up("a thread");
    for (long i = 0; i < count; i++) {
        if (set_limit((const struct limit64 *)(const void *)&race) < 0)
            give_up("prlimit");
        now = get_limit();
        moved += now.soft != race.low;
        if (now.soft > max)
            max = now.soft;
    }
    race.done = true;
    pthread_join(thread, NULL);
    printf("max=%llu moved=%llu\n", (unsigned long long)max, (unsigned long long)moved);
    return 0;
}

/* ---- kill ---- */

/* What /proc/PID/syscall says of a process that waits in prlimit64: its number first. */
static int waits_in_call(pid_t pid)
{
    char path[64], line[64] = "";
    FILE *file;
    int waits;

    snprintf(path, sizeof(path), "/proc/%d/syscall", (int)pid);
    file = fopen(path, "r");
    if (!file || !fgets(line, sizeof(line), file))
        line[0] = '\0';
    waits = line[0] >= '0' && line[0] <= '9' && strtol(line, NULL, 10) == SYS_prlimit64;
    if (file)
        fclose(file);
    return waits;
}

enum { BATCH = 50 };

static void kill_batch(long *killed, long *waiting)
{
    struct limit64 want = get_limit();
    pid_t pid[BATCH];
    char byte = 0;
    int started[2];

    if (pipe(started) < 0)
        give_up("pipe");
    for (int i = 0; i < BATCH; i++) {
        pid[i] = fork();
        if (pid[i] < 0)
            give_up("fork");
        if (pid[i] > 0)
            continue;
        if (write(started[1], &byte, 1) != 1)
            give_up("write");
        for (;;)
            set_limit(&want);
    }
    for (int i = 0; i < BATCH; i++)
        if (read(started[0], &byte, 1) != 1)
            give_up("read");
    for (int i = 0; i < BATCH; i++) {
        *waiting += waits_in_call(pid[i]);
        kill(pid[i], SIGKILL);
    }
    for (int i = 0; i < BATCH; i++) {
        int status;

        if (waitpid(pid[i], &status, 0) != pid[i])
            give_up("waitpid");
        *killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    }
    close(started[0]);
    close(started[1]);
}

static int run_kill(long count)
{
    long killed = 0, waiting = 0;
    struct limit64 want;

    while (killed < count)
        kill_batch(&killed, &waiting);
    want = get_limit();
    printf("killed=%ld waiting=%ld ret=%ld\n", killed, waiting, set_limit(&want));
    return 0;
}

/* ---- timer ---- */

static volatile sig_atomic_t ticks;

static void tick(int sig)
{
    (void)sig;
    ticks++;
}

static int run_timer(long count, long usec)
{
    struct itimerval every = {{0, usec}, {0, usec}};
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    struct limit64 want = get_limit();
    long done = 0;

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    while (done < count || ticks < 20) {
        if (set_limit(&want) < 0)
            give_up("prlimit");
        done++;
    }
    printf("done=%ld ticks=%ld\n", done, (long)ticks);
    return 0;
}

int main(int argc, char **argv)
{
    long count = argc > 2 ? to_number(argv[2]) : 0;

    if (argc == 4 && strcmp(argv[1], "race") == 0)
        return run_race(count, (uint64_t)to_number(argv[3]));
    if (argc == 3 && strcmp(argv[1], "kill") == 0)
        return run_kill(count);
    if (argc == 4 && strcmp(argv[1], "timer") == 0)
        return run_timer(count, to_number(argv[3]));
    errno = EINVAL;
    give_up("usage: nofile-stress race|kill|timer COUNT ...");
}
