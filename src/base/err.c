#include "base/err.h"

#include <stddef.h>

static const struct {
    int error;
    const char *text;
} texts[] = {
    {E2BIG, "the argument list is too long"},
    {EACCES, "permission denied"},
    {EAGAIN, "a resource is used up for now"},
    {EBADF, "bad descriptor"},
    {EBUSY, "busy"},
    {EEXIST, "exists already"},
    {EFBIG, "too large"},
    {EINTR, "interrupted"},
    {EINVAL, "invalid"},
    {EIO, "input/output error"},
    {EISDIR, "is a folder"},
    {ELIBBAD, "a library or interpreter of it is corrupted"},
    {ELOOP, "too many symbolic links"},
    {EMFILE, "too many open descriptors"},
    {ENAMETOOLONG, "the name is too long"},
    {ENFILE, "the system's table of open files is full"},
    {ENODEV, "no such device"},
    {ENOENT, "no such file or folder"},
    {ENOEXEC, "not an executable format"},
    {ENOMEM, "out of memory"},
    {ENOSPC, "no space left"},
    {ENOSYS, "not known to this kernel, or refused by a seccomp profile"},
    {ENOTDIR, "a part of the path is not a folder"},
    {EOPNOTSUPP, "not supported"},
    {EPERM, "not permitted"},
    {EPIPE, "broken pipe"},
    {EROFS, "read-only file system"},
    {ESRCH, "no such process"},
    {ETXTBSY, "the file is being written"},
    {EXDEV, "on another file system"},
};

const char *err_text(int error)
{
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (texts[i].error == error)
            return texts[i].text;
    return "error";
}
