#include "policy/settings.h"

#include "base/err.h"

#include <string.h>

void settings_init(struct settings *s)
{
    for (unsigned id = 0; id < KEY_COUNT; id++) {
        s->value[id] = key_fallback((enum key_id)id);
        s->origin[id] = (struct origin){ORIGIN_DEFAULT, 0};
    }
}

static void put(struct settings *s, enum key_id id, const struct value *value, struct origin origin)
{
    if (origin.kind < s->origin[id].kind)
        return;
    s->value[id] = *value;
    s->origin[id] = origin;
}

/* One half of SOFT:HARD, of n bytes; an empty one leaves that limit as it is, as in prlimit(1). */
static int parse_half(const char *s, size_t n, enum key_id id, struct value *ret, struct text *reterr)
{
    static const struct value_rule rule = {WORD_BIT(WORD_UNLIMITED), KIND_BIT(VALUE_NUMBER)};
    char half[32];

    if (n == 0) {
        *ret = (struct value){.kind = VALUE_WORD, .number = WORD_INHERIT};
        return 0;
    }
    if (n >= sizeof(half)) {
        text_join(reterr, "the ", key_row(id)->name, " limit ", NULL);
        text_quoted(reterr, s, n);
        text_str(reterr, " is too long");
        return -EINVAL;
    }
    memcpy(half, s, n);
    half[n] = '\0';
    return value_parse(half, &rule, ret, reterr);
}

static int put_pair(struct settings *s, const char *pair, struct origin origin, struct text *reterr)
{
    const char *colon = strchr(pair, ':');
    size_t soft_len = colon ? (size_t)(colon - pair) : strlen(pair);
    struct value soft, hard;
    int r;

    if (pair[0] == '\0' || strcmp(pair, ":") == 0) {
        text_str(reterr, "no limit in it; write SOFT, SOFT:HARD, SOFT: or :HARD");
        return -EINVAL;
    }
    r = parse_half(pair, soft_len, KEY_SOFT, &soft, reterr);
    if (r < 0)
        return r;
    hard = soft;
    if (colon)
        r = parse_half(colon + 1, strlen(colon + 1), KEY_HARD, &hard, reterr);
    if (r < 0)
        return r;
    put(s, KEY_SOFT, &soft, origin);
    put(s, KEY_HARD, &hard, origin);
    return 0;
}

int settings_put(struct settings *s, enum key_id id, const char *value, struct origin origin,
                 struct text *reterr)
{
    struct value parsed;
    int r = value_parse(value, &key_row(id)->rule, &parsed, reterr);

    if (r == 0 && key_row(id)->check)
        r = key_row(id)->check(&parsed, reterr);
    if (r < 0)
        return r;
    put(s, id, &parsed, origin);
    return id == KEY_NOFILE ? put_pair(s, value, origin, reterr) : 0;
}

void origin_format(const struct origin *origin, enum key_id id, const char *file, struct text *t)
{
    switch (origin->kind) {
    case ORIGIN_DEFAULT: text_str(t, "default"); return;
    case ORIGIN_ARG: text_str(t, "argument"); return;
    case ORIGIN_FILE:
        text_join(t, file, ":", NULL);
        text_u64(t, origin->line);
        return;
    case ORIGIN_ENV: break;
    }
    text_str(t, "FDFIT_");
    for (const char *c = key_row(id)->name; *c; c++)
        text_char(t, *c == '-' ? '_' : (char)(*c - 'a' + 'A'));
}
