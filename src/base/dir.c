#include "base/dir.h"

#include "base/err.h"
#include "base/sys.h"

#include <string.h>
#include <unistd.h>

/* Offsets in struct linux_dirent64 of getdents64(2), which not every libc declares: an inode number and a
 * position of 8 bytes each, the length of the entry in 2 bytes, a type in 1, the name. */
#define ENTRY_LENGTH 16
#define ENTRY_NAME   19

int dir_each_from_here(int dir, void (*each)(const char *name, void *data), void *data)
{
    char buffer[2048];

    for (;;) {
        ssize_t n = sys_getdents(dir, buffer, sizeof(buffer));

        if (n <= 0)
            return (int)n;
        for (ssize_t at = 0; at + ENTRY_NAME < n;) {
            uint16_t length;

            memcpy(&length, buffer + at + ENTRY_LENGTH, sizeof(length));
            each(buffer + at + ENTRY_NAME, data);
            at += length;
        }
    }
}

int dir_each(int dir, void (*each)(const char *name, void *data), void *data)
{
    if (lseek(dir, 0, SEEK_SET) < 0)
        return -errno;
    return dir_each_from_here(dir, each, data);
}
