#include "measure/peakfile.h"

#include "base/err.h"
#include "base/fd.h"

#include <fcntl.h>

int peakfile_read(const char *path, struct peak_file *ret, struct text *reterr)
{
    char bytes[PEAKFILE_MAX_BYTES];
    size_t n;
    int r = regular_read(AT_FDCWD, path, 0, bytes, sizeof(bytes), &n, reterr);

    return r < 0 ? r : peakfile_parse(bytes, n, ret, reterr);
}

/* Under the lock. */
static int update(const struct place *place, const struct peak_record *add, bool reset, struct text *reterr)
{
    struct peak_file file = {.count = 0};
    char bytes[PEAKFILE_MAX_BYTES + 1], ignored[TEXT_LINE];
    TEXT_ON(torn, ignored);
    struct text text;
    size_t n;
    int r = place_read(place, bytes, PEAKFILE_MAX_BYTES, &n, reterr);

    if (r == 0) {
        r = peakfile_parse(bytes, n, &file, &torn);
        if (r < 0 && r != -EBADMSG)
            text_join(reterr, torn.at, ", and is left as it is", NULL);
    }
    if (r == -ENOENT || r == -EBADMSG)
        r = 0;
    if (r == 0)
        r = peakfile_merge(&file, add, reset);
    if (r != 0)
        return r;
    text_init(&text, bytes, sizeof(bytes));
    peakfile_format(&file, &text);
    return place_replace(place, text.at, text.len, reterr);
}

int peakfile_update(const struct place *place, const struct peak_record *add, bool reset, struct text *reterr)
{
    int lock = place_lock(place, reterr);
    int r;

    if (lock < 0)
        return lock == -EBUSY ? PEAKFILE_BUSY : lock;
    r = update(place, add, reset, reterr);
    fd_close(lock);
    return r;
}
