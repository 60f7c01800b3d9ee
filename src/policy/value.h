/* The value of one key: what a person wrote, checked and typed. Parsing and formatting are each other's
 * inverse. */
#ifndef FDFIT_POLICY_VALUE_H
#define FDFIT_POLICY_VALUE_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The words that a value may be instead of a number or a text. */
enum word {
    WORD_NO,
    WORD_YES,
    WORD_INHERIT,
    WORD_SOFT,
    WORD_PEAK,
    WORD_UNLIMITED,
    WORD_FAIL,
    WORD_CLAMP,
    WORD_WARN,
    WORD_KEEP,
    WORD_CLOSE,
    WORD_RESET,
    WORD_CHILD,
    WORD_GROUP,
    WORD_TREE,
    WORD_DENY,
    WORD_PRETEND,
    WORD_COUNT
};

enum value_kind {
    VALUE_NONE,     /* not given, and no default */
    VALUE_WORD,     /* number is an enum word */
    VALUE_NUMBER,   /* a plain number */
    VALUE_PERCENT,  /* "50%" */
    VALUE_EXTRA,    /* "+200" */
    VALUE_DURATION, /* milliseconds */
    VALUE_SIGNAL,   /* a signal's number */
    VALUE_TEXT      /* text is a string that the caller of the parser owns */
};

struct value {
    enum value_kind kind;
    uint64_t number;
    const char *text;
};

/** A set of words and of kinds, as bits: what a key takes. */
#define WORD_BIT(word) (1u << (word))
#define KIND_BIT(kind) (1u << (kind))

struct value_rule {
    uint32_t words;
    uint32_t kinds; /* of VALUE_NUMBER and the like; VALUE_WORD is implied by words */
};

/** Read the string s (NUL-terminated; a VALUE_TEXT keeps pointing into it) under a rule.
 *  Returns 0, or -EINVAL with reterr saying what was wrong and what would have been right. */
int value_parse(const char *s, const struct value_rule *rule, struct value *ret, struct text *reterr);

/** Append the value as it would be written; VALUE_NONE as "-". */
void value_format(const struct value *value, struct text *t);

/** Append what a rule takes, for people: "a number, 'inherit' or 'peak'". */
void value_describe(const struct value_rule *rule, struct text *t);

static inline bool value_is(const struct value *value, enum word word)
{
    return value->kind == VALUE_WORD && value->number == (uint64_t)word;
}

#endif
