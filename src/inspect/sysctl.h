/* fs.nr_open and fs.file-max: as the kernel has them, and as the files set them at boot (sysctl.d(5);
 * src/sysctl/sysctl.c of systemd 252). */
#ifndef FDFIT_INSPECT_SYSCTL_H
#define FDFIT_INSPECT_SYSCTL_H

#include "inspect/assignment.h"
#include "inspect/problems.h"
#include "inspect/root.h"

#include <stdbool.h>
#include <stdint.h>

enum sysctl_name {
    SYSCTL_NR_OPEN, /* the highest limit that a process can have */
    SYSCTL_FILE_MAX /* open files of all processes together */
};

struct sysctl {
    bool known; /* whether the node's /proc tells */
    uint64_t current;
    struct assignments files; /* in the order of effect, the value as both soft and hard of `limit` */
    bool named;               /* by its name and not by a pattern alone: patterns leave it alone then */
};

/** "fs.nr_open" or "fs.file-max". */
const char *sysctl_text(enum sysctl_name name);

/** Read one of them. What can't be read, or is no assignment, is added to `problems`. Of files with the same
 * name the one in the first folder counts, and an empty one or a link to /dev/null sets nothing.
 * /etc/sysctl.conf is read last where systemd is not there to boot, or a drop-in links to it; else it is
 * listed as overridden. Returns 0 or -ENOMEM. */
int sysctl_read(const struct root *root, enum sysctl_name name, struct sysctl *ret,
                struct problems *problems);
void sysctl_deinit(struct sysctl *sysctl);

/** Take the n bytes of one file, behind what `ret` has. Returns 0 or -ENOMEM. */
int sysctl_take(const char *bytes, size_t n, const char *file, enum sysctl_name name, struct sysctl *ret,
                struct problems *problems);

#endif
