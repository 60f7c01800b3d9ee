/* The words of TOML: blanks, keys, strings. Part of inspect/toml.c. */
#ifndef FDFIT_INSPECT_TOML_SCAN_H
#define FDFIT_INSPECT_TOML_SCAN_H

#include <stdbool.h>
#include <stddef.h>

struct toml_scan {
    const char *at, *end;
    unsigned line;
    const char *why; /* what was wrong, after -EBADMSG */
};

/** Say what is wrong. Returns -EBADMSG. */
int toml_scan_refuse(struct toml_scan *s, const char *why);

/** Whether the next bytes are `word`; if so they are stepped over. */
bool toml_scan_take(struct toml_scan *s, const char *word);

/** Over blanks; over blanks, comments and line ends. Control characters in a comment are let through. */
void toml_scan_blanks(struct toml_scan *s);
void toml_scan_lines(struct toml_scan *s);

/** Over the rest of the line: to behind its end. */
void toml_scan_rest(struct toml_scan *s);

/** Whether a quotation mark of either kind is next. */
bool toml_scan_is_string(const struct toml_scan *s);

/** Read a string of the four kinds. *ret is the caller's. Returns 0, -EBADMSG or -ENOMEM. */
int toml_scan_string(struct toml_scan *s, char **ret);

/** Read one part of a key, bare or quoted. *ret is the caller's. Returns 0, -EBADMSG or -ENOMEM. */
int toml_scan_key(struct toml_scan *s, char **ret);

/** Read what stands bare: a number, a date, true. *ret is the caller's. Returns 0, -EBADMSG or -ENOMEM. */
int toml_scan_bare(struct toml_scan *s, char **ret);

#endif
