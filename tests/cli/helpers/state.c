/* state [FILE]: what this process was started with, as one JSON object on stdout, or in FILE where stdout may
 * be closed. It changes nothing of what it reports and installs no handler. Sets are "0x" and 16 digits. */
#include "helper.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

extern char **environ;

static void put_string(FILE *out, const char *s)
{
    fputc('"', out);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;

        /* Bytes that JSON cannot hold come as the code point of the same number (latin-1). */
        if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

static void put_strings(FILE *out, const char *key, char **list)
{
    fprintf(out, ", \"%s\": [", key);
    for (char **s = list; *s; s++) {
        if (s != list)
            fputs(", ", out);
        put_string(out, *s);
    }
    fputc(']', out);
}

/** The open descriptors, in the order of /proc, without those that this program opened itself. */
static void put_descriptors(FILE *out, int own)
{
    DIR *dir = opendir("/proc/self/fd");
    const char *comma = "";
    struct dirent *entry;

    if (!dir)
        give_up("/proc/self/fd");
    fputs(", \"fds\": [", out);
    while ((entry = readdir(dir))) {
        if (entry->d_name[0] == '.')
            continue;
        int fd = (int)to_number(entry->d_name);

        if (fd == own || fd == dirfd(dir))
            continue;
        fprintf(out, "%s%d", comma, fd);
        comma = ", ";
    }
    fputc(']', out);
    closedir(dir);
}

static void put_status(FILE *out)
{
    static const char *const wanted[] = {"SigBlk", "SigIgn", "SigCgt", "CapEff", "NoNewPrivs", "Seccomp"};
    FILE *status = fopen("/proc/self/status", "re");
    char line[4096], name[32], value[64];

    if (!status)
        give_up("/proc/self/status");
    while (fgets(line, sizeof line, status)) {
        if (sscanf(line, "%31[^:]: %63s", name, value) != 2)
            continue;
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
            if (strcmp(name, wanted[i]) == 0)
                fprintf(out, ", \"%s\": \"%s%s\"", name, strlen(value) == 16 ? "0x" : "", value);
    }
    fclose(status);
}

/** The foreground group of the controlling terminal, -1 without one: the sixth field after the name in stat.
 */
static int foreground_group(void)
{
    FILE *stat = fopen("/proc/self/stat", "re");
    char line[1024];
    int tpgid = -1;

    if (!stat || !fgets(line, sizeof line, stat))
        give_up("/proc/self/stat");
    fclose(stat);
    if (sscanf(strrchr(line, ')') + 1, " %*c %*d %*d %*d %*d %d", &tpgid) != 1)
        give_up("stat");
    return tpgid;
}

static void put_numbers(FILE *out)
{
    struct rlimit limit;
    mode_t mask = umask(0);

    umask(mask);
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        give_up("getrlimit");
    fprintf(out, "{\"pid\": %d, \"ppid\": %d, \"pgid\": %d, \"sid\": %d, \"tpgid\": %d, \"umask\": %u",
            getpid(), getppid(), getpgid(0), getsid(0), foreground_group(), (unsigned)mask);
    fprintf(out, ", \"nice\": %d, \"dumpable\": %d, \"nofile\": [%lld, %lld]", getpriority(PRIO_PROCESS, 0),
            prctl(PR_GET_DUMPABLE), (long long)limit.rlim_cur, (long long)limit.rlim_max);
}

int main(int argc, char **argv)
{
    FILE *out = argc > 1 ? fopen(argv[1], "we") : stdout;
    char cwd[4096];

    if (!out || !getcwd(cwd, sizeof cwd))
        give_up(argc > 1 ? argv[1] : "getcwd");
    put_numbers(out);
    fputs(", \"cwd\": ", out);
    put_string(out, cwd);
    put_strings(out, "argv", argv);
    put_strings(out, "environ", environ);
    put_status(out);
    put_descriptors(out, out == stdout ? -1 : fileno(out));
    fputs("}\n", out);
    return fflush(out) == 0 ? 0 : EXIT_HELPER;
}
