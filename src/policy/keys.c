#include "policy/keys.h"

#include "base/err.h"
#include "policy/maps.h"

#include <string.h>

#define LABEL_MAX    64  /* of measure/peakfile.h */
#define SAMPLE_LEAST 100 /* milliseconds */

static int check_rewrite(const struct value *value, struct text *reterr)
{
    struct signal_map map;

    return signal_map_parse(value->text, &map, reterr);
}

static int check_exit_map(const struct value *value, struct text *reterr)
{
    struct exit_map map;

    return exit_map_parse(value->text, &map, reterr);
}

/* A label is a word of the peak file's lines. */
static int check_label(const struct value *value, struct text *reterr)
{
    size_t n = strlen(value->text);
    bool plain = n <= LABEL_MAX;

    for (size_t i = 0; i < n && plain; i++)
        plain = value->text[i] > ' ' && value->text[i] < 0x7f && value->text[i] != '=';
    if (plain && strcmp(value->text, "end") != 0)
        return 0;
    text_quoted(reterr, value->text, n);
    text_str(reterr,
             " is not a label: a word of at most 64 letters, digits and signs but '=', and not 'end'");
    return -EINVAL;
}

static int check_sample(const struct value *value, struct text *reterr)
{
    if (value->number >= SAMPLE_LEAST)
        return 0;
    text_str(reterr, "a sample can be taken every 100ms at most");
    return -EINVAL;
}

static int check_warn_at(const struct value *value, struct text *reterr)
{
    if (value->number <= 100)
        return 0;
    text_str(reterr, "more than 100% of the soft limit is never reached");
    return -EINVAL;
}

/* A key is read as a row, which clang-format would break into a dozen lines. */
/* clang-format off */
#define WORD(word)  {.kind = VALUE_WORD, .number = (word)}
#define NUMBER(n)   {.kind = VALUE_NUMBER, .number = (n)}
#define PERCENT(n)  {.kind = VALUE_PERCENT, .number = (n)}
#define SECONDS(n)  {.kind = VALUE_DURATION, .number = (n) * 1000u}
#define HOURS(n)    {.kind = VALUE_DURATION, .number = (n) * 3600000u}
#define NONE        {.kind = VALUE_NONE}

#define A_NUMBER    {.kinds = KIND_BIT(VALUE_NUMBER)}
#define A_TEXT      {.kinds = KIND_BIT(VALUE_TEXT)}
#define A_DURATION  {.kinds = KIND_BIT(VALUE_DURATION)}
#define YES_NO      {.words = WORD_BIT(WORD_NO) | WORD_BIT(WORD_YES)}

static const struct key keys[] = {
    [KEY_SOFT] = {
        .name = "soft", .places = IN_ALL, .fallback = NONE,
        .rule = {WORD_BIT(WORD_INHERIT) | WORD_BIT(WORD_PEAK) | WORD_BIT(WORD_UNLIMITED), KIND_BIT(VALUE_NUMBER)},
        .values = "N|inherit|peak|unlimited", .help = "the soft limit of the workload",
    },
    [KEY_HARD] = {
        .name = "hard", .places = IN_ALL, .fallback = NONE,
        .rule = {WORD_BIT(WORD_SOFT) | WORD_BIT(WORD_INHERIT) | WORD_BIT(WORD_UNLIMITED), KIND_BIT(VALUE_NUMBER)},
        .values = "N|soft|inherit|unlimited", .help = "its hard limit (soft; by soft=peak the ceiling)",
    },
    [KEY_PEAK] = {
        .name = "peak", .places = IN_ALL, .rule = A_NUMBER, .fallback = NONE,
        .values = "N", .help = "a peak that was measured elsewhere: highest number + 1",
    },
    [KEY_PEAK_FILE] = {
        .name = "peak-file", .places = IN_ALL, .rule = A_TEXT, .fallback = NONE,
        .values = "PATH", .help = "where earlier starts recorded their peak",
    },
    [KEY_HEADROOM] = {
        .name = "headroom", .places = IN_ALL, .fallback = PERCENT(50),
        .rule = {.kinds = KIND_BIT(VALUE_PERCENT) | KIND_BIT(VALUE_EXTRA)},
        .values = "P%|+N", .help = "what to add to the peak (50%)",
    },
    [KEY_FLOOR] = {
        .name = "floor", .places = IN_ALL, .rule = A_NUMBER, .fallback = NUMBER(256),
        .values = "N", .help = "the least soft limit that is derived from a peak (256)",
    },
    [KEY_CEILING] = {
        .name = "ceiling", .places = IN_ALL, .rule = A_NUMBER, .fallback = NONE,
        .values = "N", .help = "the most (the fallback; without one the inherited hard limit)",
    },
    [KEY_FALLBACK] = {
        .name = "fallback", .places = IN_ALL, .rule = A_NUMBER, .fallback = NONE,
        .values = "N", .help = "the soft limit while there is no peak that counts",
    },
    [KEY_SETTLE] = {
        .name = "settle", .places = IN_ALL, .rule = A_DURATION, .fallback = HOURS(24),
        .values = "TIME", .help = "how long a peak must have been observed to count (24h)",
    },
    [KEY_WHEN_DENIED] = {
        .name = "when-denied", .places = IN_ALL, .fallback = WORD(WORD_FAIL),
        .rule = {.words = WORD_BIT(WORD_FAIL) | WORD_BIT(WORD_CLAMP)},
        .values = "fail|clamp", .help = "a limit that can't be had: give up, or take the nearest",
    },
    [KEY_INHERITED_FDS] = {
        .name = "inherited-fds", .places = IN_ALL, .fallback = WORD(WORD_WARN),
        .rule = {.words = WORD_BIT(WORD_WARN) | WORD_BIT(WORD_KEEP) | WORD_BIT(WORD_CLOSE)},
        .values = "warn|keep|close", .help = "descriptors already open at or above the soft limit",
    },
    [KEY_LOCK] = {
        .name = "lock", .places = IN_ALL, .fallback = WORD(WORD_NO),
        .rule = {.words = WORD_BIT(WORD_NO) | WORD_BIT(WORD_DENY) | WORD_BIT(WORD_PRETEND) | WORD_BIT(WORD_CLAMP)},
        .values = "no|deny|pretend|clamp", .help = "keep the workload from changing its limit (clamp: init mode)",
    },
    [KEY_LABEL] = {
        .name = "label", .places = IN_ALL, .init_only = true, .rule = A_TEXT, .check = check_label, .fallback = NONE,
        .values = "NAME", .help = "the line of the peak file that this start writes (default)",
    },
    [KEY_RECORD] = {
        .name = "record", .places = IN_ALL, .init_only = true, .fallback = NONE,
        .rule = {.words = WORD_BIT(WORD_NO) | WORD_BIT(WORD_YES) | WORD_BIT(WORD_RESET)},
        .values = "yes|no|reset", .help = "write the peak to the peak file (yes where one is set)",
    },
    [KEY_SAMPLE] = {
        .name = "sample", .places = IN_ALL, .init_only = true, .rule = A_DURATION, .check = check_sample, .fallback = SECONDS(1),
        .values = "TIME", .help = "how often the peak is measured (1s; at least 100ms)",
    },
    [KEY_REPORT] = {
        .name = "report", .places = IN_ALL, .init_only = true, .rule = A_TEXT, .fallback = NONE,
        .values = "PATH", .help = "write a report for Prometheus' textfile collector",
    },
    [KEY_WARN_AT] = {
        .name = "warn-at", .places = IN_ALL, .init_only = true, .check = check_warn_at, .fallback = PERCENT(80),
        .rule = {.kinds = KIND_BIT(VALUE_PERCENT)},
        .values = "P%", .help = "warn once when a process has that much of soft open (80%; 0%: no)",
    },
    [KEY_INIT] = {
        .name = "init", .places = IN_ALL, .flag = true, .rule = YES_NO, .fallback = WORD(WORD_NO),
        .values = "", .help = "stay as PID 1 or subreaper: forward signals, reap (fdfit-init: yes)",
    },
    [KEY_SIGNAL_TO] = {
        .name = "signal-to", .places = IN_ALL, .init_only = true, .fallback = WORD(WORD_CHILD),
        .rule = {.words = WORD_BIT(WORD_CHILD) | WORD_BIT(WORD_GROUP) | WORD_BIT(WORD_TREE)},
        .values = "child|group|tree", .help = "who gets the signals that are passed on",
    },
    [KEY_REWRITE] = {
        .name = "rewrite", .places = IN_ALL, .init_only = true, .check = check_rewrite, .fallback = NONE,
        .rule = A_TEXT,
        .values = "FROM:TO,...", .help = "pass signals on as others; TO 0 drops (TERM:INT,HUP:0)",
    },
    [KEY_GRACE] = {
        .name = "grace", .places = IN_ALL, .init_only = true, .rule = A_DURATION, .fallback = HOURS(0),
        .values = "TIME", .help = "KILL that long after the first TERM that was passed on (0: never)",
    },
    [KEY_WAIT_ALL] = {
        .name = "wait-all", .places = IN_ALL, .init_only = true, .flag = true, .fallback = WORD(WORD_NO),
        .rule = YES_NO,
        .values = "", .help = "after the command end the rest: TERM, grace (10s), KILL",
    },
    [KEY_EXIT_MAP] = {
        .name = "exit-map", .places = IN_ALL, .init_only = true, .check = check_exit_map, .fallback = NONE,
        .rule = A_TEXT,
        .values = "FROM:TO,...", .help = "turn exit statuses into others (143:0)",
    },
    [KEY_PARENT_DEATH] = {
        .name = "parent-death", .places = IN_ALL, .init_only = true, .fallback = WORD(WORD_NO),
        .rule = {WORD_BIT(WORD_NO), KIND_BIT(VALUE_SIGNAL)},
        .values = "SIGNAL|no", .help = "the signal to get when the parent of fdfit dies",
    },
    [KEY_QUIET] = {
        .name = "quiet", .letter = 'q', .places = IN_ALL, .flag = true, .fallback = WORD(WORD_NO),
        .rule = YES_NO,
        .values = "", .help = "say nothing but errors",
    },
    [KEY_VERBOSE] = {
        .name = "verbose", .letter = 'v', .places = IN_ALL, .flag = true, .fallback = WORD(WORD_NO),
        .rule = YES_NO,
        .values = "", .help = "say more",
    },
    [KEY_POLICY] = {
        .name = "policy", .letter = 'p', .places = IN_ARG | IN_ENV, .rule = A_TEXT, .fallback = NONE,
        .values = "FILE|NAME", .help = "read a policy file (NAME: /etc/fdfit/NAME.conf)",
    },
    [KEY_NOFILE] = {
        .name = "nofile", .letter = 'n', .places = IN_ARG, .rule = A_TEXT, .fallback = NONE,
        .values = "SOFT[:HARD]", .help = "both limits as prlimit(1) reads them: N, S:H, S:, :H, unlimited",
    },
    [KEY_EXPLAIN] = {
        .name = "explain", .places = IN_ARG, .flag = true, .rule = YES_NO, .fallback = WORD(WORD_NO),
        .values = "", .help = "print the whole decision and start nothing",
    },
    [KEY_INSTALL] = {
        .name = "install", .places = IN_ARG, .rule = A_TEXT, .fallback = NONE,
        .values = "DEST", .help = "copy this program to a file or into a folder",
    },
    [KEY_HELP] = {
        .name = "help", .letter = 'h', .places = IN_ARG, .flag = true, .fallback = WORD(WORD_NO),
        .rule = YES_NO,
        .values = "", .help = "print this text",
    },
    [KEY_VERSION] = {
        .name = "version", .letter = 'V', .places = IN_ARG, .flag = true, .fallback = WORD(WORD_NO),
        .rule = YES_NO,
        .values = "", .help = "print the version",
    },
};
/* clang-format on */

_Static_assert(sizeof(keys) / sizeof(keys[0]) == KEY_COUNT, "each key has its row");

const struct key *key_row(enum key_id id)
{
    return &keys[id];
}

struct value key_fallback(enum key_id id)
{
    return (struct value){.kind = keys[id].fallback.kind, .number = keys[id].fallback.number};
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
