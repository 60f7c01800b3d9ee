/* A text that grows in a buffer of the caller's: what stdio would do, without stdio and without allocation.
 * What does not fit is cut off; the text always ends with a NUL. */
#ifndef FDFIT_BASE_TEXT_H
#define FDFIT_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/** One line for people is never longer: a pipe takes it in one piece (PIPE_BUF, pipe(7)). */
#define TEXT_LINE 1024

/** Of what somebody else chose a line shows as much: a path of a usual length is whole. */
#define TEXT_SHOWN 160

struct text {
    char *at;   /* borrowed buffer of cap bytes */
    size_t len; /* bytes used, without the NUL */
    size_t cap;
};

/** Begin an empty text in a buffer of at least one byte. */
void text_init(struct text *t, char *buffer, size_t cap);

/** A text in the array of that name's frame: TEXT_ON(line, buffer). */
#define TEXT_ON(name, buffer)                                                                                \
    struct text name;                                                                                        \
    text_init(&name, buffer, sizeof(buffer))

/** Append a string, n bytes, one character, a decimal number. */
void text_str(struct text *t, const char *s);
void text_bytes(struct text *t, const char *s, size_t n);
void text_char(struct text *t, char c);
void text_u64(struct text *t, uint64_t value);

/** Append a string and a decimal number behind it. */
void text_number(struct text *t, const char *before, uint64_t value);

/** Append several strings; the list ends with NULL: text_join(t, "a", name, "b", NULL). */
void text_join(struct text *t, ...) __attribute__((sentinel));

/** Append n bytes that somebody else chose (a file, a process's name): control characters, DEL, the backslash
 * and bytes above 0x7e appear as \xNN, so that no terminal acts on them. At most TEXT_SHOWN bytes are shown,
 * then
 * "...". */
void text_escaped(struct text *t, const char *s, size_t n);

/** The same between single quotes. */
void text_quoted(struct text *t, const char *s, size_t n);

/** What stands behind a prefix that a string begins with; NULL: it begins otherwise. */
const char *text_behind(const char *s, const char *prefix);

/** The first place where a word, of at least one letter, stands in n bytes; NULL: nowhere. For what is read
 * of /proc, which memmem(3) is built too large for. */
const char *text_find(const char *bytes, size_t n, const char *word);

/** Append milliseconds as people write them: "24h", "90s", "250ms", "1h 30m" (at most two units). */
void text_duration(struct text *t, uint64_t ms);

#endif
