#include "measure/fds.h"

#include "base/err.h"
#include "base/num.h"
#include "base/sys.h"

#include <limits.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* Offsets in struct linux_dirent64 of getdents64(2), which not every libc declares: an inode number and a
 * position of 8 bytes each, the length of the entry in 2 bytes, a type in 1, the name. */
#define ENTRY_LENGTH 16
#define ENTRY_NAME   19

static void each_entry(const char *buffer, size_t size, int but, void (*each)(unsigned, void *), void *data)
{
    for (size_t at = 0; at + ENTRY_NAME < size;) {
        const char *name = buffer + at + ENTRY_NAME;
        uint16_t length;
        uint64_t number;

        memcpy(&length, buffer + at + ENTRY_LENGTH, sizeof(length));
        if (num_parse(name, strlen(name), &number) == 0 && number <= INT_MAX && (int)number != but)
            each((unsigned)number, data);
        at += length;
    }
}

int fds_each(int dir, uint64_t from, int but, void (*each)(unsigned number, void *data), void *data)
{
    char buffer[2048];

    /* The kernel's largest fs.nr_open lies below (kernel fs/file.c, sysctl_nr_open_max), so no descriptor has
     * such a number; lseek(2) on /proc refuses a position above INT_MAX. */
    if (from > INT_MAX - 2)
        return 0;
    if (lseek(dir, (off_t)from + 2, SEEK_SET) < 0)
        return -errno;
    for (;;) {
        ssize_t n = sys_getdents(dir, buffer, sizeof(buffer));

        if (n <= 0)
            return (int)n;
        each_entry(buffer, (size_t)n, but, each, data);
    }
}

struct tally {
    uint64_t count;
    uint64_t highest;
};

static void tally(unsigned number, void *data)
{
    struct tally *t = data;

    t->count++;
    t->highest = number;
}

int fds_from(int dir, uint64_t from, int but, uint64_t *ret_count, uint64_t *ret_highest)
{
    struct tally t = {0, 0};
    int r = fds_each(dir, from, but, tally, &t);

    if (r < 0)
        return r;
    *ret_count = t.count;
    if (t.count > 0)
        *ret_highest = t.highest;
    return 0;
}
