#include "measure/fds.h"

#include "base/dir.h"
#include "base/err.h"
#include "base/num.h"

#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define WORD_BITS  (8 * sizeof(unsigned long))
#define ASKED_MOST 4096 /* a table that reaches beyond is seldom, and then /proc is asked */

bool fds_none_from(uint64_t from)
{
    unsigned asked = (unsigned)num_min(from, ASKED_MOST);
    unsigned long set[ASKED_MOST / WORD_BITS + 1] = {0};
    const unsigned long bit = 1UL << (asked % WORD_BITS);
    struct timespec at_once = {0, 0};

    set[asked / WORD_BITS] = bit;
    /* Inside the table the number is either closed (EBADF) or open, and then its bit is written anew; where
     * nothing is open or ready that is 0. Only beyond the table it is left as it was. */
    return syscall(SYS_pselect6, asked + 1, set, NULL, NULL, &at_once, NULL) == 0 &&
           set[asked / WORD_BITS] == bit;
}

/* What fds_each gives through dir_each. */
struct numbers {
    int own;
    void (*each)(unsigned number, void *data);
    void *data;
};

static void take_name(const char *name, void *data)
{
    const struct numbers *n = data;
    uint64_t number;

    if (num_parse(name, strlen(name), &number) == 0 && number <= INT_MAX && (int)number != n->own)
        n->each((unsigned)number, n->data);
}

int fds_each(int dir, uint64_t from, int own, void (*each)(unsigned number, void *data), void *data)
{
    struct numbers n = {own, each, data};

    /* The kernel's largest fs.nr_open lies below (kernel fs/file.c, sysctl_nr_open_max), so no descriptor has
     * such a number; lseek(2) on /proc refuses a position above INT_MAX. */
    if (from > INT_MAX - 2)
        return 0;
    if (lseek(dir, (off_t)from + 2, SEEK_SET) < 0)
        return -errno;
    return dir_each_from_here(dir, take_name, &n);
}

struct tally {
    int own;
    uint64_t count;
    uint64_t highest;
};

static void tally(unsigned number, void *data)
{
    struct tally *t = data;

    if ((int)number == t->own)
        return;
    t->count++;
    t->highest = number;
}

int fds_from(int dir, uint64_t from, int own, int own_too, uint64_t *ret_count, uint64_t *ret_highest)
{
    struct tally t = {own_too, 0, 0};
    int r = fds_each(dir, from, own, tally, &t);

    if (r < 0)
        return r;
    *ret_count = t.count;
    if (t.count > 0)
        *ret_highest = t.highest;
    return 0;
}
