#include "measure/process.h"

#include "base/err.h"
#include "base/fd.h"
#include "base/num.h"
#include "measure/process_path.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

void process_path(struct text *t, pid_t pid, pid_t tid, const char *file)
{
    text_u64(t, (uint64_t)pid);
    if (tid > 0) {
        text_number(t, "/task/", (uint64_t)tid);
    }
    text_join(t, "/", file, NULL);
}

int process_condition(int error)
{
    if (error == ENOENT || error == ESRCH)
        return PROCESS_GONE;
    return error == EACCES || error == EPERM ? PROCESS_DENIED : -error;
}

static int read_start(int proc, pid_t pid, pid_t tid, const char *file, char *buffer, size_t cap,
                      size_t *ret_n)
{
    char path[PROCESS_PATH];
    TEXT_ON(name, path);
    int r;

    process_path(&name, pid, tid, file);
    r = fd_read_beginning(proc, path, buffer, cap, ret_n);
    return r < 0 ? process_condition(-r) : 0;
}

const char *process_value(const char *bytes, size_t n, const char *key, size_t *ret_n)
{
    const char *at = text_find(bytes, n, key);
    const char *end = bytes + n, *line_end;

    if (!at)
        return NULL;
    at += strlen(key);
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    line_end = memchr(at, '\n', (size_t)(end - at));
    if (!line_end)
        return NULL;
    *ret_n = (size_t)(line_end - at);
    return at;
}

static int number_of(const char *bytes, size_t n, const char *key, uint64_t *ret)
{
    size_t length;
    const char *value = process_value(bytes, n, key, &length);

    return value ? num_parse(value, length, ret) : -EINVAL;
}

int process_thread_status(int proc, pid_t pid, pid_t tid, struct process_status *ret)
{
    char bytes[2048];
    struct process_status status = {.threads = 0};
    uint64_t parent;
    const char *state;
    size_t n = 0, length;
    int r = read_start(proc, pid, tid, "status", bytes, sizeof(bytes), &n);

    if (r != 0)
        return r;
    if (number_of(bytes, n, "\nFDSize:", &status.size) < 0 || number_of(bytes, n, "\nPPid:", &parent) < 0)
        return -EPROTO;
    number_of(bytes, n, "\nThreads:", &status.threads);
    state = process_value(bytes, n, "\nState:", &length);
    status.zombie = state && length > 0 && (*state == 'Z' || *state == 'X');
    status.parent = (pid_t)num_min(parent, INT_MAX);
    *ret = status;
    return 0;
}

int process_status(int proc, pid_t pid, struct process_status *ret)
{
    return process_thread_status(proc, pid, 0, ret);
}

#define START_FIELD 22 /* of /proc/PID/stat, counted from 1; the third is the first behind the name's ")" */

int process_start(int proc, pid_t pid, uint64_t *ret_ticks)
{
    char bytes[512];
    const char *at, *end, *blank;
    size_t n = 0;
    int r = read_start(proc, pid, 0, "stat", bytes, sizeof(bytes), &n);

    if (r != 0)
        return r;
    end = bytes + n;
    at = memrchr(bytes, ')', n);
    for (int field = 2; at && field < START_FIELD; field++) {
        at = memchr(at, ' ', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    blank = at ? memchr(at, ' ', (size_t)(end - at)) : NULL;
    return blank && num_parse(at, (size_t)(blank - at), ret_ticks) == 0 ? 0 : -EPROTO;
}

int process_soft(int proc, pid_t pid, uint64_t *ret_soft)
{
    static const char unlimited[] = "unlimited";
    char bytes[2048];
    const char *value, *blank;
    size_t n = 0;
    int r = read_start(proc, pid, 0, "limits", bytes, sizeof(bytes), &n);

    if (r != 0)
        return r;
    value = process_value(bytes, n, "\nMax open files", &n);
    if (!value)
        return -EPROTO;
    if (n > strlen(unlimited) && memcmp(value, unlimited, strlen(unlimited)) == 0) {
        *ret_soft = UINT64_MAX;
        return 0;
    }
    blank = memchr(value, ' ', n);
    return num_parse(value, blank ? (size_t)(blank - value) : n, ret_soft) == 0 ? 0 : -EPROTO;
}

int process_name(int proc, pid_t pid, struct process_name *ret)
{
    struct process_name name;
    size_t n = 0;
    int r;

    memset(&name, 0, sizeof(name));
    r = read_start(proc, pid, 0, "comm", name.comm, sizeof(name.comm), &n);
    if (r != 0)
        return r;
    /* The line's end, or the last byte of a kernel thread's longer name */
    name.comm[n > 0 ? n - 1 : 0] = '\0';
    r = read_start(proc, pid, 0, "cmdline", name.argv0, sizeof(name.argv0) - 1, &n);
    if (r < 0)
        return r;
    *ret = name;
    return 0;
}
