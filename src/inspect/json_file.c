#include "inspect/json_file.h"

#include "base/err.h"
#include "base/num.h"

#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t\r\n";

static unsigned line_of(const char *bytes, const char *at)
{
    unsigned line = 1;

    while ((bytes = memchr(bytes, '\n', (size_t)(at - bytes)))) {
        bytes++;
        line++;
    }
    return line;
}

static int add_syntax_error(const struct json_error_t *error, const char *path, struct problems *problems)
{
    char line[TEXT_LINE];
    TEXT_ON(text, line);

    text_str(&text, "no JSON: ");
    text_escaped(&text, error->text, strlen(error->text));
    return problems_add(problems, path, error->line > 0 ? (unsigned)error->line : 0, text.at);
}

int json_file_parse(char *bytes, size_t n, const char *path, struct json_file *ret, struct problems *problems)
{
    static const char mark[] = "\xef\xbb\xbf";
    size_t skip = n >= 3 && memcmp(bytes, mark, 3) == 0 ? 3 : 0;
    struct json_file file = {.bytes = bytes, .n = n};
    json_error_t error;
    int r = 0;

    memset(bytes, ' ', skip);
    if (strspn(bytes, blanks) < n) {
        /* As real numbers, since the hard limit of "unlimited" in an OCI file is above jansson's integers. */
        file.json = json_loadb(bytes, n, JSON_DECODE_INT_AS_REAL, &error);
        if (!file.json)
            r = json_error_code(&error) == json_error_out_of_memory
                    ? -ENOMEM
                    : add_syntax_error(&error, path, problems);
        if (!file.json && r == 0)
            r = -EBADMSG;
    }
    if (r < 0)
        json_file_deinit(&file);
    else
        *ret = file;
    return r;
}

int json_file_read(const struct root *root, const char *path, struct json_file *ret,
                   struct problems *problems)
{
    char *bytes;
    size_t n;
    int r = root_read(root, path, &bytes, &n);

    return r < 0 ? r : json_file_parse(bytes, n, path, ret, problems);
}

void json_file_deinit(struct json_file *file)
{
    json_decref(file->json);
    free(file->bytes);
    *file = (struct json_file){0};
}

/* The scan trusts nothing but the end: all steps stay inside [at, end]. */
struct scan {
    const char *at, *end;
};

static bool is_at(const struct scan *s, char c)
{
    return s->at < s->end && *s->at == c;
}

static void skip_blanks(struct scan *s)
{
    while (s->at < s->end && memchr(blanks, *s->at, sizeof(blanks) - 1))
        s->at++;
}

static void skip_string(struct scan *s)
{
    s->at++;
    while (s->at < s->end && *s->at != '"')
        s->at += *s->at == '\\' && s->at + 1 < s->end ? 2 : 1;
    if (s->at < s->end)
        s->at++;
}

/* Over a whole value. Brackets are counted, not matched: jansson has seen that they match. */
static void skip_value(struct scan *s)
{
    size_t depth = 0;

    while (s->at < s->end) {
        if (*s->at == '"') {
            skip_string(s);
        } else if (*s->at == '{' || *s->at == '[') {
            depth++;
            s->at++;
        } else if (*s->at == '}' || *s->at == ']') {
            if (depth == 0)
                return;
            depth--;
            s->at++;
        } else if (depth == 0 && memchr(", \t\r\n", *s->at, 5)) {
            return;
        } else {
            s->at++;
            continue;
        }
        if (depth == 0)
            return;
    }
}

/* Between two members or elements: over the comma. */
static bool next(struct scan *s, char closing)
{
    skip_blanks(s);
    if (is_at(s, ',')) {
        s->at++;
        skip_blanks(s);
    }
    return s->at < s->end && *s->at != closing;
}

/* A key may have been written with escapes, so jansson reads it too. */
static bool is_key(const char *token, size_t n, const char *key)
{
    json_t *json;
    bool same;

    if (!memchr(token, '\\', n))
        return n == strlen(key) + 2 && memcmp(token + 1, key, n - 2) == 0;
    json = json_loadb(token, n, JSON_DECODE_ANY, NULL);
    same = json_is_string(json) && strcmp(json_string_value(json), key) == 0;
    json_decref(json);
    return same;
}

static bool find_member(struct scan *s, const char *key)
{
    const char *found = NULL;

    if (!is_at(s, '{'))
        return false;
    s->at++;
    while (next(s, '}') && *s->at == '"') {
        const char *token = s->at;
        bool same;

        skip_string(s);
        same = is_key(token, (size_t)(s->at - token), key);
        skip_blanks(s);
        if (!is_at(s, ':'))
            break;
        s->at++;
        skip_blanks(s);
        if (same)
            found = s->at;
        skip_value(s);
    }
    if (found)
        s->at = found;
    return found;
}

static bool find_element(struct scan *s, size_t index)
{
    if (!is_at(s, '['))
        return false;
    s->at++;
    while (next(s, ']')) {
        const char *before = s->at;

        if (index-- == 0)
            return true;
        skip_value(s);
        if (s->at == before)
            break;
    }
    return false;
}

bool json_file_find(const struct json_file *file, const struct json_step *steps, size_t count,
                    struct json_place *ret)
{
    struct scan s = {file->bytes, file->bytes + file->n};
    const char *begin;

    if (!file->json)
        return false;
    skip_blanks(&s);
    for (size_t i = 0; i < count; i++)
        if (!(steps[i].key ? find_member(&s, steps[i].key) : find_element(&s, steps[i].index)))
            return false;
    begin = s.at;
    skip_value(&s);
    *ret = (struct json_place){begin, (size_t)(s.at - begin), line_of(file->bytes, begin)};
    return true;
}

int json_file_u64(const struct json_place *place, uint64_t *ret, bool *ret_negative)
{
    bool negative = ret_negative && place->n > 0 && place->at[0] == '-';
    int r = num_parse(place->at + negative, place->n - negative, ret);

    if (r == 0 && ret_negative)
        *ret_negative = negative;
    return r;
}
