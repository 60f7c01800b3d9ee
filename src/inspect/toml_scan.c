#include "inspect/toml_scan.h"

#include "base/err.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
static const char numbers[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.:";

int toml_scan_refuse(struct toml_scan *s, const char *why)
{
    s->why = why;
    return -EBADMSG;
}

static bool is_next(const struct toml_scan *s, const char *word)
{
    size_t n = strlen(word);

    return (size_t)(s->end - s->at) >= n && memcmp(s->at, word, n) == 0;
}

bool toml_scan_take(struct toml_scan *s, const char *word)
{
    if (!is_next(s, word))
        return false;
    s->at += strlen(word);
    return true;
}

void toml_scan_blanks(struct toml_scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'))
        s->at++;
}

void toml_scan_rest(struct toml_scan *s)
{
    const char *end = memchr(s->at, '\n', (size_t)(s->end - s->at));

    s->at = end ? end + 1 : s->end;
    s->line += end != NULL;
}

void toml_scan_lines(struct toml_scan *s)
{
    for (;;) {
        toml_scan_blanks(s);
        if (is_next(s, "\n") || is_next(s, "\r\n") || is_next(s, "#"))
            toml_scan_rest(s);
        else
            return;
    }
}

bool toml_scan_is_string(const struct toml_scan *s)
{
    return is_next(s, "\"") || is_next(s, "'");
}

struct string {
    char *text;
    size_t n, cap;
    bool no_memory;
};

static void add(struct string *string, unsigned c)
{
    if (string->n + 1 >= string->cap) {
        size_t cap = string->cap ? 2 * string->cap : 32;
        char *larger = realloc(string->text, cap);

        if (!larger) {
            string->no_memory = true;
            return;
        }
        string->text = larger;
        string->cap = cap;
    }
    string->text[string->n++] = (char)c;
    string->text[string->n] = '\0';
}

/* As UTF-8 (RFC 3629): one byte that begins, six bits in each that follows. */
static void add_code_point(struct string *string, uint32_t c)
{
    if (c < 0x80) {
        add(string, c);
        return;
    }
    if (c < 0x800) {
        add(string, 0xc0 | c >> 6);
    } else if (c < 0x10000) {
        add(string, 0xe0 | c >> 12);
        add(string, 0x80 | (c >> 6 & 0x3f));
    } else {
        add(string, 0xf0 | c >> 18);
        add(string, 0x80 | (c >> 12 & 0x3f));
        add(string, 0x80 | (c >> 6 & 0x3f));
    }
    add(string, 0x80 | (c & 0x3f));
}

static int hexadecimal(struct toml_scan *s, struct string *string, size_t digits)
{
    static const char hex[] = "0123456789abcdef";
    uint32_t c = 0;

    while (digits-- > 0) {
        const char *digit =
            s->at < s->end && *s->at ? strchr(hex, *s->at | (*s->at >= 'A' ? 0x20 : 0)) : NULL;

        if (!digit)
            return toml_scan_refuse(s, "a bad escape in a string");
        c = c << 4 | (uint32_t)(digit - hex);
        s->at++;
    }
    /* What takes a string here takes it as a path, a name or a limit: none holds a NUL. */
    if (c == 0 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return toml_scan_refuse(s, "an escape that is no character");
    add_code_point(string, c);
    return 0;
}

/* Behind a backslash at the end of a line: over all blanks and line ends. */
static int join_lines(struct toml_scan *s)
{
    toml_scan_blanks(s);
    if (!is_next(s, "\n") && !is_next(s, "\r\n"))
        return toml_scan_refuse(s, "a bad escape in a string");
    while (is_next(s, "\n") || is_next(s, "\r\n")) {
        toml_scan_rest(s);
        toml_scan_blanks(s);
    }
    return 0;
}

static int escape(struct toml_scan *s, struct string *string, bool several)
{
    static const char names[] = "btnfre\"\\", values[] = "\b\t\n\f\r\x1b\"\\";
    const char *name = s->at < s->end && *s->at ? strchr(names, *s->at) : NULL;

    if (name) {
        add(string, (unsigned char)values[name - names]);
        s->at++;
        return 0;
    }
    if (toml_scan_take(s, "x"))
        return hexadecimal(s, string, 2);
    if (toml_scan_take(s, "u"))
        return hexadecimal(s, string, 4);
    if (toml_scan_take(s, "U"))
        return hexadecimal(s, string, 8);
    return several ? join_lines(s) : toml_scan_refuse(s, "a bad escape in a string");
}

/* One or two quotation marks may stand before the three that end a string of several lines. */
static bool ends(struct toml_scan *s, struct string *string, const char *quotes)
{
    if (!toml_scan_take(s, quotes))
        return false;
    for (int more = 0; quotes[1] && more < 2 && s->at < s->end && *s->at == quotes[0]; more++)
        add(string, (unsigned char)*s->at++);
    return true;
}

static int read_character(struct toml_scan *s, struct string *string, const char *quotes)
{
    unsigned char c = (unsigned char)*s->at;
    bool several = quotes[1], new_line = is_next(s, "\n") || is_next(s, "\r\n");

    if (new_line && !several)
        return toml_scan_refuse(s, "a string without its end");
    if (new_line) {
        toml_scan_rest(s);
        add(string, '\n');
        return 0;
    }
    s->at++;
    if (c == '\\' && quotes[0] == '"')
        return escape(s, string, several);
    if ((c < 0x20 && c != '\t') || c == 0x7f)
        return toml_scan_refuse(s, "a control character in a string");
    add(string, c);
    return 0;
}

static int read_string(struct toml_scan *s, struct string *string, const char *quotes)
{
    unsigned line = s->line;
    int r = 0;

    if (quotes[1] && (is_next(s, "\n") || is_next(s, "\r\n")))
        toml_scan_rest(s);
    while (r == 0 && s->at < s->end)
        if (ends(s, string, quotes))
            return 0;
        else
            r = read_character(s, string, quotes);
    if (r == 0) {
        /* All to the file's end was taken for it; what is wrong is where it begins. */
        s->line = line;
        r = toml_scan_refuse(s, "a string without its end");
    }
    return r;
}

/* A string that is done: the empty one has no memory yet. */
static int finish(struct string *string, int r, char **ret)
{
    if (r == 0 && !string->text)
        string->text = strdup("");
    if (r == 0 && (string->no_memory || !string->text))
        r = -ENOMEM;
    if (r == 0)
        *ret = string->text;
    else
        free(string->text);
    return r;
}

int toml_scan_string(struct toml_scan *s, char **ret)
{
    static const char *const kinds[] = {"\"\"\"", "'''", "\"", "'"};
    struct string string = {0};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (toml_scan_take(s, kinds[i]))
            return finish(&string, read_string(s, &string, kinds[i]), ret);
    return toml_scan_refuse(s, "no string where one belongs");
}

static int read_while(struct toml_scan *s, const char *allowed, const char *why, char **ret)
{
    struct string string = {0};

    while (s->at < s->end && *s->at && strchr(allowed, *s->at))
        add(&string, (unsigned char)*s->at++);
    return finish(&string, string.n > 0 || string.no_memory ? 0 : toml_scan_refuse(s, why), ret);
}

int toml_scan_key(struct toml_scan *s, char **ret)
{
    if (is_next(s, "\"\"\"") || is_next(s, "'''"))
        return toml_scan_refuse(s, "a key of several lines");
    if (toml_scan_is_string(s))
        return toml_scan_string(s, ret);
    return read_while(s, letters, "no key where one belongs", ret);
}

int toml_scan_bare(struct toml_scan *s, char **ret)
{
    return read_while(s, numbers, "no value where one belongs", ret);
}
