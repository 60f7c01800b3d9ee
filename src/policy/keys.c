#include "policy/keys.h"

#include <string.h>

#define WORD(word)                                                                                           \
    {                                                                                                        \
        .kind = VALUE_WORD, .number = (word)                                                                 \
    }
#define NUMBER(n)                                                                                            \
    {                                                                                                        \
        .kind = VALUE_NUMBER, .number = (n)                                                                  \
    }
#define NONE                                                                                                 \
    {                                                                                                        \
        .kind = VALUE_NONE                                                                                   \
    }
#define YES_NO                                                                                               \
    {                                                                                                        \
        .words = WORD_BIT(WORD_NO) | WORD_BIT(WORD_YES)                                                      \
    }
#define ONLY(kind)                                                                                           \
    {                                                                                                        \
        .kinds = KIND_BIT(kind)                                                                              \
    }
#define HOUR 3600000u

static const struct key keys[] = {
    [KEY_SOFT] = {"soft",
                  0,
                  IN_ALL,
                  false,
                  {WORD_BIT(WORD_INHERIT) | WORD_BIT(WORD_PEAK) | WORD_BIT(WORD_UNLIMITED),
                   KIND_BIT(VALUE_NUMBER)},
                  NONE,
                  "N|inherit|peak|unlimited",
                  "the soft limit of the workload"},
    [KEY_HARD] = {"hard",
                  0,
                  IN_ALL,
                  false,
                  {WORD_BIT(WORD_SOFT) | WORD_BIT(WORD_INHERIT) | WORD_BIT(WORD_UNLIMITED),
                   KIND_BIT(VALUE_NUMBER)},
                  NONE,
                  "N|soft|inherit|unlimited",
                  "its hard limit (soft; by soft=peak the ceiling)"},
    [KEY_PEAK] = {"peak", 0, IN_ALL, false, ONLY(VALUE_NUMBER), NONE, "N",
                  "a peak that was measured elsewhere: highest number + 1"},
    [KEY_PEAK_FILE] = {"peak-file", 0, IN_ALL, false, ONLY(VALUE_TEXT), NONE, "PATH",
                       "where earlier starts recorded their peak"},
    [KEY_HEADROOM] = {"headroom",
                      0,
                      IN_ALL,
                      false,
                      {.kinds = KIND_BIT(VALUE_PERCENT) | KIND_BIT(VALUE_EXTRA)},
                      {.kind = VALUE_PERCENT, .number = 50},
                      "P%|+N",
                      "what to add to the peak (50%)"},
    [KEY_FLOOR] = {"floor", 0, IN_ALL, false, ONLY(VALUE_NUMBER), NUMBER(256), "N",
                   "the least soft limit that is derived from a peak (256)"},
    [KEY_CEILING] = {"ceiling", 0, IN_ALL, false, ONLY(VALUE_NUMBER), NONE, "N",
                     "the most (the fallback; without one the inherited hard limit)"},
    [KEY_FALLBACK] = {"fallback", 0, IN_ALL, false, ONLY(VALUE_NUMBER), NONE, "N",
                      "the soft limit while there is no peak that counts"},
    [KEY_SETTLE] = {"settle",
                    0,
                    IN_ALL,
                    false,
                    ONLY(VALUE_DURATION),
                    {.kind = VALUE_DURATION, .number = 24 * HOUR},
                    "TIME",
                    "how long a peak must have been observed to count (24h)"},
    [KEY_WHEN_DENIED] = {"when-denied",
                         0,
                         IN_ALL,
                         false,
                         {.words = WORD_BIT(WORD_FAIL) | WORD_BIT(WORD_CLAMP)},
                         WORD(WORD_FAIL),
                         "fail|clamp",
                         "a limit that can't be had: give up, or take the nearest"},
    [KEY_INHERITED_FDS] = {"inherited-fds",
                           0,
                           IN_ALL,
                           false,
                           {.words = WORD_BIT(WORD_WARN) | WORD_BIT(WORD_KEEP) | WORD_BIT(WORD_CLOSE)},
                           WORD(WORD_WARN),
                           "warn|keep|close",
                           "descriptors already open at or above the soft limit"},
    [KEY_QUIET] = {"quiet", 'q', IN_ALL, true, YES_NO, WORD(WORD_NO), "", "say nothing but errors"},
    [KEY_VERBOSE] = {"verbose", 'v', IN_ALL, true, YES_NO, WORD(WORD_NO), "", "say more"},
    [KEY_POLICY] = {"policy", 'p', IN_ARG | IN_ENV, false, ONLY(VALUE_TEXT), NONE, "FILE|NAME",
                    "read a policy file (NAME: /etc/fdfit/NAME.conf)"},
    [KEY_NOFILE] = {"nofile", 'n', IN_ARG, false, ONLY(VALUE_TEXT), NONE, "SOFT[:HARD]",
                    "both limits as prlimit(1) reads them: N, S:H, S:, :H, unlimited"},
    [KEY_EXPLAIN] = {"explain", 0, IN_ARG, true, YES_NO, WORD(WORD_NO), "",
                     "print the whole decision and start nothing"},
    [KEY_INSTALL] = {"install", 0, IN_ARG, false, ONLY(VALUE_TEXT), NONE, "DEST",
                     "copy this program to a file or into a folder"},
    [KEY_HELP] = {"help", 'h', IN_ARG, true, YES_NO, WORD(WORD_NO), "", "print this text"},
    [KEY_VERSION] = {"version", 'V', IN_ARG, true, YES_NO, WORD(WORD_NO), "", "print the version"},
};

_Static_assert(sizeof(keys) / sizeof(keys[0]) == KEY_COUNT, "each key has its row");

const struct key *key_row(enum key_id id)
{
    return &keys[id];
}

static bool name_is(const char *key, const char *name, size_t n)
{
    return strlen(key) == n && memcmp(key, name, n) == 0;
}

enum key_id key_find(const char *name, size_t n, enum key_place place)
{
    for (unsigned id = 0; id < KEY_COUNT; id++)
        if ((keys[id].places & place) && name_is(keys[id].name, name, n))
            return (enum key_id)id;
    return KEY_COUNT;
}

enum key_id key_find_letter(char letter)
{
    for (unsigned id = 0; id < KEY_COUNT; id++)
        if (letter && keys[id].letter == letter)
            return (enum key_id)id;
    return KEY_COUNT;
}

#define NAME_MAX_BYTES 32 /* no key is that long; a longer name is near to none */

enum key_id key_find_env(const char *name, size_t n)
{
    char lower[NAME_MAX_BYTES];

    if (n > sizeof(lower))
        return KEY_COUNT;
    for (size_t i = 0; i < n; i++) {
        if (name[i] != '_' && (name[i] < 'A' || name[i] > 'Z'))
            return KEY_COUNT;
        lower[i] = name[i] == '_' ? '-' : (char)(name[i] - 'A' + 'a');
    }
    return key_find(lower, n, IN_ENV);
}

/* The Levenshtein distance, by one row of the usual matrix. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t row[NAME_MAX_BYTES + 1];

    for (size_t j = 0; j <= b_len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);

            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[b_len];
}

enum key_id key_nearest(const char *name, size_t n, enum key_place place)
{
    enum key_id nearest = KEY_COUNT;
    size_t least = 0;

    if (n > NAME_MAX_BYTES)
        return KEY_COUNT;
    for (unsigned id = 0; id < KEY_COUNT; id++) {
        size_t length = strlen(keys[id].name);
        size_t d = distance(keys[id].name, length, name, n);

        if (!(keys[id].places & place) || d > (length + 2) / 3 || (nearest != KEY_COUNT && d >= least))
            continue;
        nearest = (enum key_id)id;
        least = d;
    }
    return nearest;
}

void key_unknown(const char *what, const char *prefix, const char *name, size_t n, enum key_place place,
                 struct text *t)
{
    enum key_id near = key_nearest(name, n, place);

    text_join(t, "unknown ", what, " '", prefix, NULL);
    text_escaped(t, name, n);
    text_char(t, '\'');
    if (near != KEY_COUNT)
        text_join(t, "; did you mean '", prefix, keys[near].name, "'?", NULL);
}
