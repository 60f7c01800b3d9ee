#include "inspect/lines.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

int lines_each(const char *bytes, size_t n, lines_take *take, void *data)
{
    const char *at = bytes, *end = bytes + n;
    int r = 0;

    for (unsigned number = 1; at < end && r == 0; number++) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((line_end ? line_end : end) - at);
        char *line = strndup(at, length);

        if (!line)
            return -ENOMEM;
        r = take(line, number, data);
        free(line);
        at += length + (line_end != NULL);
    }
    return r < 0 ? r : 0;
}
