#include "policy/maps.h"

#include "base/err.h"
#include "base/num.h"

#include <string.h>

/* One FROM:TO of a list. */
struct pair {
    const char *from, *to;
    size_t from_len, to_len;
};

static int bad_pair(const struct pair *pair, const char *why, struct text *reterr)
{
    text_quoted(reterr, pair->from, pair->from_len + (pair->to ? 1 + pair->to_len : 0));
    text_str(reterr, why);
    return -EINVAL;
}

/* Cut the next pair off the list; *list is NULL after the last one. */
static int next_pair(const char **list, struct pair *ret, struct text *reterr)
{
    const char *end = strchr(*list, ',');
    size_t n = end ? (size_t)(end - *list) : strlen(*list);
    const char *colon = memchr(*list, ':', n);
    struct pair pair = {.from = *list, .from_len = n};

    *list = end ? end + 1 : NULL;
    if (!colon)
        return bad_pair(&pair, " is not FROM:TO", reterr);
    pair.from_len = (size_t)(colon - pair.from);
    pair.to = colon + 1;
    pair.to_len = n - pair.from_len - 1;
    *ret = pair;
    return 0;
}

static int parse_signals(const struct pair *pair, struct signal_map *map, struct text *reterr)
{
    int from = signals_parse(pair->from, pair->from_len);
    bool drop = pair->to_len == 1 && pair->to[0] == '0';
    int to = drop ? 0 : signals_parse(pair->to, pair->to_len);

    if (from < 0 || to < 0)
        return bad_pair(pair,
                        from < 0 ? ": the first is not a signal" : ": the second is neither a signal nor 0",
                        reterr);
    if (from == SIGKILL || from == SIGSTOP || from == SIGCHLD)
        return bad_pair(pair, ": this signal is never passed on", reterr);
    map->to[from] = (uint8_t)to;
    return 0;
}

int signal_map_parse(const char *list, struct signal_map *ret, struct text *reterr)
{
    struct signal_map map;

    for (unsigned i = 0; i <= SIGNAL_MAX; i++)
        map.to[i] = (uint8_t)i;
    while (list) {
        struct pair pair;
        int r = next_pair(&list, &pair, reterr);

        if (r == 0)
            r = parse_signals(&pair, &map, reterr);
        if (r < 0)
            return r;
    }
    *ret = map;
    return 0;
}

int exit_map_parse(const char *list, struct exit_map *ret, struct text *reterr)
{
    struct exit_map map;

    memset(&map, 0, sizeof(map));
    while (list) {
        uint64_t from, to;
        struct pair pair;
        int r = next_pair(&list, &pair, reterr);

        if (r < 0)
            return r;
        if (num_parse(pair.from, pair.from_len, &from) < 0 || num_parse(pair.to, pair.to_len, &to) < 0 ||
            from > 255 || to > 255)
            return bad_pair(&pair, ": an exit status is a number from 0 to 255", reterr);
        map.to[from] = (uint8_t)to;
        map.mapped[from] = true;
    }
    *ret = map;
    return 0;
}
