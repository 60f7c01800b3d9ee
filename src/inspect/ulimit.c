#include "inspect/ulimit.h"

#include "base/err.h"
#include "base/num.h"

#include <stdbool.h>
#include <string.h>

static const char *const resources[] = {"core",    "cpu",      "data",   "fsize",      "locks",
                                        "memlock", "msgqueue", "nice",   "nofile",     "nproc",
                                        "rss",     "rtprio",   "rttime", "sigpending", "stack"};

int ulimit_parse_number(const char *s, size_t n, uint64_t *ret)
{
    bool negative = n > 0 && *s == '-';
    uint64_t value;

    if (n > 0 && (*s == '-' || *s == '+')) {
        s++;
        n--;
    }
    if (num_parse(s, n, &value) < 0 || value > (uint64_t)INT64_MAX + negative)
        return -EINVAL;
    *ret = negative ? 0 - value : value;
    return 0;
}

static int refuse(const char *s, const char *why, struct text *reterr)
{
    text_quoted(reterr, s, strlen(s));
    text_join(reterr, " ", why, NULL);
    return -EINVAL;
}

static bool is_resource(const char *s, size_t n)
{
    for (size_t i = 0; i < sizeof(resources) / sizeof(resources[0]); i++)
        if (strlen(resources[i]) == n && memcmp(resources[i], s, n) == 0)
            return true;
    return false;
}

static int parse_one(const char *s, size_t n, uint64_t *ret)
{
    if (n == strlen("infinity") && memcmp(s, "infinity", n) == 0) {
        *ret = UINT64_MAX;
        return 0;
    }
    return ulimit_parse_number(s, n, ret);
}

int ulimit_parse(const char *s, struct nofile *ret, struct text *reterr)
{
    const char *value = strchr(s, '='), *colon;
    struct nofile pair;

    if (!value)
        return refuse(s, "is no limit (NAME=SOFT:HARD)", reterr);
    if (!is_resource(s, (size_t)(value - s)))
        return refuse(s, "names no resource", reterr);
    value++;
    colon = strchrnul(value, ':');
    if (parse_one(value, (size_t)(colon - value), &pair.soft) < 0)
        return refuse(s, "has no number as its soft limit", reterr);
    pair.hard = pair.soft;
    if (*colon && parse_one(colon + 1, strlen(colon + 1), &pair.hard) < 0)
        return refuse(s, "has no number as its hard limit", reterr);
    if ((int64_t)pair.hard != -1 && (pair.soft == UINT64_MAX || (int64_t)pair.soft > (int64_t)pair.hard))
        return refuse(s, "has a soft limit above the hard one", reterr);
    if (strncmp(s, "nofile=", strlen("nofile=")) != 0)
        return ULIMIT_OTHER;
    *ret = pair;
    return 0;
}
