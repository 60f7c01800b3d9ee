#include "launcher/inherited.h"

#include "base/err.h"
#include "base/fd.h"
#include "base/num.h"
#include "base/sys.h"
#include "launcher/environment.h"
#include "measure/fds.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

uint64_t inherited_reserved(char *const *environment)
{
    const char *pid = environment_get(environment, "LISTEN_PID");
    const char *count = environment_get(environment, "LISTEN_FDS");
    uint64_t number;

    if (!pid || !count || num_parse(pid, strlen(pid), &number) < 0 || number != (uint64_t)getpid())
        return 3;
    if (num_parse(count, strlen(count), &number) < 0 || number > INT_MAX)
        return 3;
    return 3 + number;
}

static void close_number(unsigned number, void *data)
{
    const int *own = data;

    if ((int)number != *own)
        close((int)number);
}

static int close_range_but(unsigned from, int own)
{
    int r = 0;

    if (own < 0 || (unsigned)own < from)
        return sys_close_range(from, UINT_MAX);
    if ((unsigned)own > from)
        r = sys_close_range(from, (unsigned)own - 1);
    return r < 0 ? r : sys_close_range((unsigned)own + 1, UINT_MAX);
}

/* close_range(2) is refused by the seccomp profile of some engines, with one error or another. */
static int close_from(uint64_t from, int dir, int own)
{
    if (from > UINT_MAX || close_range_but((unsigned)from, own) == 0)
        return 0;
    return dir < 0 ? dir : fds_each(dir, from, dir, close_number, &own);
}

static void say(uint64_t count, uint64_t highest, uint64_t soft, struct text *warning)
{
    text_u64(warning, count);
    text_number(warning,
                count == 1 ? " inherited descriptor at or above " : " inherited descriptors at or above ",
                soft);
    text_number(warning, count == 1 ? " stays open (" : " stay open (the highest is ", highest);
    text_str(warning, ") and will leak into children; inherited-fds = close closes, keep is silent");
}

static void look(uint64_t soft, int dir, int own, struct text *warning)
{
    uint64_t count, highest;
    int r = dir < 0 ? dir : fds_from(dir, soft, dir, own, &count, &highest);

    if (r < 0)
        text_join(warning, "can't look for inherited descriptors: /proc/self/fd: ", err_text(-r), NULL);
    else if (count > 0)
        say(count, highest, soft, warning);
}

static int open_self(void)
{
    return fd_open(AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY, 0);
}

int inherited_open(const struct settings *s)
{
    const struct value *soft = &s->value[KEY_SOFT];
    uint64_t least = soft->kind == VALUE_NUMBER ? soft->number : s->value[KEY_FLOOR].number;

    return value_is(&s->value[KEY_INHERITED_FDS], WORD_KEEP) || fds_none_from(least) ? -1 : open_self();
}

void inherited_handle(const struct value *how, uint64_t soft, int dir, int own, char *const *environment,
                      struct text *warning)
{
    int r = 0;

    if (value_is(how, WORD_KEEP) || fds_none_from(soft))
        return;
    if (dir < 0) /* the limit became lower than could be foreseen, or there was no /proc */
        dir = open_self();
    if (value_is(how, WORD_WARN))
        look(soft, dir, own, warning);
    else
        r = close_from(num_max(soft, inherited_reserved(environment)), dir, own);
    if (r < 0)
        text_join(warning,
                  "can't close the inherited descriptors: close_range is refused, and /proc/self/fd: ",
                  err_text(-r), NULL);
    fd_close(dir);
}
