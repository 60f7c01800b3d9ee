#include "policy/value.h"

#include "base/err.h"
#include "base/num.h"
#include "base/signals.h"

#include <string.h>

static const char *const words[WORD_COUNT] = {
    [WORD_NO] = "no",
    [WORD_YES] = "yes",
    [WORD_INHERIT] = "inherit",
    [WORD_SOFT] = "soft",
    [WORD_PEAK] = "peak",
    [WORD_FAIL] = "fail",
    [WORD_UNLIMITED] = "unlimited",
    [WORD_CLAMP] = "clamp",
    [WORD_WARN] = "warn",
    [WORD_CHILD] = "child",
    [WORD_GROUP] = "group",
    [WORD_TREE] = "tree",
    [WORD_KEEP] = "keep",
    [WORD_CLOSE] = "close",
    [WORD_DENY] = "deny",
    [WORD_PRETEND] = "pretend",
    [WORD_RESET] = "reset",
};

static const struct kind {
    enum value_kind kind;
    const char *description;
} kinds[] = {
    {VALUE_NUMBER, "a number"},
    {VALUE_PERCENT, "a percentage (50%)"},
    {VALUE_EXTRA, "an addition (+200)"},
    {VALUE_DURATION, "a duration (500ms, 90s, 24h)"},
    {VALUE_SIGNAL, "a signal (TERM, 15)"},
    {VALUE_TEXT, "a text"},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static int parse_signal(const char *s, size_t n, uint64_t *ret)
{
    int signal = signals_parse(s, n);

    if (signal < 0)
        return signal;
    *ret = (uint64_t)signal;
    return 0;
}

static int parse_kind(enum value_kind kind, const char *s, size_t n, uint64_t *ret)
{
    switch (kind) {
    case VALUE_NUMBER: return num_parse(s, n, ret);
    case VALUE_PERCENT: return n > 0 && s[n - 1] == '%' ? num_parse(s, n - 1, ret) : -EINVAL;
    case VALUE_EXTRA: return n > 0 && s[0] == '+' ? num_parse(s + 1, n - 1, ret) : -EINVAL;
    case VALUE_DURATION: return num_parse_duration(s, n, ret);
    case VALUE_SIGNAL: return parse_signal(s, n, ret);
    default: return -EINVAL;
    }
}

static bool parse_word(const char *s, uint32_t allowed, uint64_t *ret)
{
    for (unsigned i = 0; i < WORD_COUNT; i++)
        if ((allowed & WORD_BIT(i)) && strcmp(s, words[i]) == 0) {
            *ret = i;
            return true;
        }
    return false;
}

void value_describe(const struct value_rule *rule, struct text *t)
{
    unsigned left = 0;
    const char *between = "";

    for (size_t i = 0; i < KINDS; i++)
        left += (rule->kinds & KIND_BIT(kinds[i].kind)) != 0;
    for (unsigned i = 0; i < WORD_COUNT; i++)
        left += (rule->words & WORD_BIT(i)) != 0;
    for (size_t i = 0; i < KINDS; i++)
        if (rule->kinds & KIND_BIT(kinds[i].kind)) {
            text_join(t, between, kinds[i].description, NULL);
            between = --left > 1 ? ", " : " or ";
        }
    for (unsigned i = 0; i < WORD_COUNT; i++)
        if (rule->words & WORD_BIT(i)) {
            text_join(t, between, "'", words[i], "'", NULL);
            between = --left > 1 ? ", " : " or ";
        }
}

static int refuse(const char *s, size_t n, const struct value_rule *rule, int error, struct text *reterr)
{
    if (n == 0)
        text_str(reterr, "the value is empty");
    else
        text_quoted(reterr, s, n);
    text_str(reterr, n == 0 ? ", but should be " : error == -ERANGE ? " is too large for " : " is not ");
    value_describe(rule, reterr);
    return -EINVAL;
}

int value_parse(const char *s, const struct value_rule *rule, struct value *ret, struct text *reterr)
{
    size_t n = strlen(s);
    struct value value = {.kind = VALUE_NONE, .number = 0, .text = NULL};
    int error = -EINVAL;

    if (n > 0 && parse_word(s, rule->words, &value.number)) {
        value.kind = VALUE_WORD;
    } else if (n > 0 && (rule->kinds & KIND_BIT(VALUE_TEXT))) {
        value.kind = VALUE_TEXT;
        value.text = s;
    }
    for (size_t i = 0; i < KINDS && n > 0 && value.kind == VALUE_NONE; i++) {
        if (!(rule->kinds & KIND_BIT(kinds[i].kind)))
            continue;
        int r = parse_kind(kinds[i].kind, s, n, &value.number);

        if (r == 0)
            value.kind = kinds[i].kind;
        else if (r == -ERANGE)
            error = r;
    }
    if (value.kind == VALUE_NONE)
        return refuse(s, n, rule, error, reterr);
    *ret = value;
    return 0;
}

static void format_duration(uint64_t ms, struct text *t)
{
    text_u64(t, ms % 1000 == 0 ? ms / 1000 : ms);
    text_str(t, ms % 1000 == 0 ? "s" : "ms");
}

/* The whole of it, however long: text_escaped would end it with "...". */
static void format_text(const char *s, struct text *t)
{
    size_t n = strlen(s);

    for (; n > TEXT_SHOWN; s += TEXT_SHOWN, n -= TEXT_SHOWN)
        text_escaped(t, s, TEXT_SHOWN);
    text_escaped(t, s, n);
}

void value_format(const struct value *value, struct text *t)
{
    switch (value->kind) {
    case VALUE_NONE: text_char(t, '-'); break;
    case VALUE_WORD: text_str(t, words[value->number]); break;
    case VALUE_NUMBER: text_u64(t, value->number); break;
    case VALUE_PERCENT:
        text_u64(t, value->number);
        text_char(t, '%');
        break;
    case VALUE_EXTRA:
        text_char(t, '+');
        text_u64(t, value->number);
        break;
    case VALUE_DURATION: format_duration(value->number, t); break;
    case VALUE_SIGNAL: signals_format((int)value->number, t); break;
    case VALUE_TEXT: format_text(value->text, t); break;
    }
}
