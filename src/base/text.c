#include "base/text.h"

#include <stdarg.h>
#include <string.h>

void text_init(struct text *t, char *buffer, size_t cap)
{
    t->at = buffer;
    t->len = 0;
    t->cap = cap;
    buffer[0] = '\0';
}

void text_bytes(struct text *t, const char *s, size_t n)
{
    size_t room = t->cap - 1 - t->len;

    if (n > room)
        n = room;
    memcpy(t->at + t->len, s, n);
    t->len += n;
    t->at[t->len] = '\0';
}

void text_str(struct text *t, const char *s)
{
    text_bytes(t, s, strlen(s));
}

void text_char(struct text *t, char c)
{
    text_bytes(t, &c, 1);
}

void text_u64(struct text *t, uint64_t value)
{
    char digits[20];
    size_t n = sizeof(digits);

    do {
        digits[--n] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    text_bytes(t, digits + n, sizeof(digits) - n);
}

void text_number(struct text *t, const char *before, uint64_t value)
{
    text_str(t, before);
    text_u64(t, value);
}

void text_join(struct text *t, ...)
{
    va_list list;

    va_start(list, t);
    for (const char *s = va_arg(list, const char *); s; s = va_arg(list, const char *))
        text_str(t, s);
    va_end(list);
}

void text_escaped(struct text *t, const char *s, size_t n)
{
    static const char hex[] = "0123456789abcdef";
    size_t shown = n > TEXT_SHOWN ? TEXT_SHOWN : n;

    for (size_t i = 0; i < shown; i++) {
        unsigned char c = (unsigned char)s[i];

        if (c < 0x20 || c > 0x7e || c == '\\') {
            text_str(t, "\\x");
            text_char(t, hex[c >> 4]);
            text_char(t, hex[c & 15]);
        } else {
            text_char(t, (char)c);
        }
    }
    if (shown < n)
        text_str(t, "...");
}

void text_quoted(struct text *t, const char *s, size_t n)
{
    text_char(t, '\'');
    text_escaped(t, s, n);
    text_char(t, '\'');
}

const char *text_behind(const char *s, const char *prefix)
{
    while (*prefix)
        if (*s++ != *prefix++)
            return NULL;
    return s;
}

const char *text_find(const char *bytes, size_t n, const char *word)
{
    const char *end = bytes + n;
    size_t length = strlen(word);

    while ((bytes = memchr(bytes, word[0], (size_t)(end - bytes))) && (size_t)(end - bytes) >= length) {
        if (memcmp(bytes, word, length) == 0)
            return bytes;
        bytes++;
    }
    return NULL;
}

void text_duration(struct text *t, uint64_t ms)
{
    static const struct {
        const char *name;
        uint64_t ms;
    } units[] = {{"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};
    const size_t count = sizeof(units) / sizeof(units[0]);
    size_t first = 0;

    /* 24h is a better word than 1d, and 90s than 1m 30s: a unit is used from twice its size on. */
    if (ms == 0) {
        text_char(t, '0');
        return;
    }
    while (first < count - 1 &&
           (ms < units[first].ms || (ms < 2 * units[first].ms && ms % units[first].ms != 0)))
        first++;
    if (first == 0 && ms < 2 * units[0].ms)
        first = 1;
    text_u64(t, ms / units[first].ms);
    text_str(t, units[first].name);
    ms %= units[first].ms;
    if (first + 1 < count && ms >= units[first + 1].ms) {
        text_char(t, ' ');
        text_u64(t, ms / units[first + 1].ms);
        text_str(t, units[first + 1].name);
    }
}
