/* The one table of keys. Options, FDFIT_* variables and the policy file are all read through it, so that
 * `soft` is
 * --soft, FDFIT_SOFT and "soft =", and a new key is one row. */
#ifndef FDFIT_POLICY_KEYS_H
#define FDFIT_POLICY_KEYS_H

#include "policy/value.h"

enum key_id {
    KEY_SOFT,
    KEY_HARD,
    KEY_PEAK,
    KEY_PEAK_FILE,
    KEY_HEADROOM,
    KEY_FLOOR,
    KEY_CEILING,
    KEY_FALLBACK,
    KEY_SETTLE,
    KEY_WHEN_DENIED,
    KEY_INHERITED_FDS,
    KEY_LOCK,
    KEY_LABEL,
    KEY_RECORD,
    KEY_SAMPLE,
    KEY_REPORT,
    KEY_WARN_AT,
    KEY_INIT,
    KEY_SIGNAL_TO,
    KEY_REWRITE,
    KEY_GRACE,
    KEY_WAIT_ALL,
    KEY_EXIT_MAP,
    KEY_PARENT_DEATH,
    KEY_QUIET,
    KEY_VERBOSE,
    KEY_POLICY,
    KEY_NOFILE,
    KEY_EXPLAIN,
    KEY_INSTALL,
    KEY_HELP,
    KEY_VERSION,
    KEY_COUNT
};

/** Where a key may stand. */
enum key_place { IN_ARG = 1, IN_ENV = 2, IN_FILE = 4, IN_ALL = 7 };

/** The value of a key that was not given: no text, and a number of 32 bits, which keeps the table small. */
struct key_default {
    enum value_kind kind;
    uint32_t number;
};

struct key {
    const char *name;     /* as in the policy file; --name; FDFIT_NAME with '_' for '-' */
    char letter;          /* the short option, or 0 */
    unsigned char places; /* of enum key_place */
    bool flag;            /* as an option it takes no value, and means "yes" */
    bool init_only;       /* means something in init mode alone */
    struct value_rule rule;
    /* What the rule can't say: returns 0, or -EINVAL with the reason; or NULL. */
    int (*check)(const struct value *value, struct text *reterr);
    struct key_default fallback;
    const char *values; /* for --help: what it takes */
    const char *help;   /* for --help: what it does */
};

/** The row of a key. */
const struct key *key_row(enum key_id id);

/** Its default. */
struct value key_fallback(enum key_id id);

/** Find a key by its name of n bytes among those that may stand in a place. Returns its id, or KEY_COUNT. */
enum key_id key_find(const char *name, size_t n, enum key_place place);

/** The same by the name of an environment variable without its FDFIT_ ("PEAK_FILE"). */
enum key_id key_find_env(const char *name, size_t n);

/** Find a key by its short option. Returns its id, or KEY_COUNT. */
enum key_id key_find_letter(char letter);

/** The key of that place whose name is nearest to a mistyped one, or KEY_COUNT when none is near
 *  (more than a third of the letters differ). */
enum key_id key_nearest(const char *name, size_t n, enum key_place place);

/** Append "unknown <what> 'name'" and the nearest name, if any, with a prefix ("--" for options). */
void key_unknown(const char *what, const char *prefix, const char *name, size_t n, enum key_place place,
                 struct text *t);

#endif
