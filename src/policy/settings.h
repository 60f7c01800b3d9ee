/* What was asked for, key by key, with where each value comes from. */
#ifndef FDFIT_POLICY_SETTINGS_H
#define FDFIT_POLICY_SETTINGS_H

#include "policy/keys.h"

/** Where a value comes from, in rising precedence. */
enum origin_kind { ORIGIN_DEFAULT, ORIGIN_FILE, ORIGIN_ENV, ORIGIN_ARG };

struct origin {
    enum origin_kind kind;
    unsigned line; /* of the policy file; else 0 */
};

struct settings {
    struct value value[KEY_COUNT];
    struct origin origin[KEY_COUNT];
};

/** Every key at its default. */
void settings_init(struct settings *s);

/** Read the text of a key's value and put it into the settings, unless something of higher precedence stands
 * there (it is checked all the same). The same origin again replaces. `nofile` sets soft and hard. Returns 0,
 * or -EINVAL with reterr naming what was wrong, without the key. The text must outlive the settings. */
int settings_put(struct settings *s, enum key_id id, const char *value, struct origin origin,
                 struct text *reterr);

/** Append an origin: "argument", "FDFIT_PEAK_FILE", "FILE:3", "default". */
void origin_format(const struct origin *origin, enum key_id id, const char *file, struct text *t);

#endif
