#include "inspect/engine_words.h"

#include "base/err.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t\n\r";

struct place {
    const char *file;
    unsigned line;
};

/* Take quotes away, and a backslash before the character that it protects. Of a word it ends at a blank
 * outside of quotes; of a variable's value (whole) it goes to the end. Steps *at behind it. NULL: no memory.
 */
static char *unquote(const char **at, bool whole)
{
    const char *s = *at;
    char *word = malloc(strlen(s) + 1), quote = '\0';
    size_t n = 0;

    if (!word)
        return NULL;
    for (; *s && (whole || quote || !strchr(blanks, *s)); s++) {
        if (quote ? *s == quote : *s == '"' || *s == '\'')
            quote = quote ? '\0' : *s;
        else
            word[n++] = *s == '\\' && s[1] ? *++s : *s;
    }
    word[n] = '\0';
    *at = s;
    return word;
}

/* Append a word, which is taken over. */
static int add_word(struct engine_words *words, char *text, const struct place *place)
{
    struct engine_word *larger = text ? realloc(words->at, (words->count + 1) * sizeof(*larger)) : NULL;

    if (!larger) {
        free(text);
        return -ENOMEM;
    }
    words->at = larger;
    larger += words->count++;
    *larger = (struct engine_word){text, strdup(place->file), place->line};
    return larger->file ? 0 : -ENOMEM;
}

static int split(const char *s, const struct place *place, struct engine_words *words)
{
    int r = 0;

    for (s += strspn(s, blanks); *s && r == 0; s += strspn(s, blanks))
        r = add_word(words, unquote(&s, false), place);
    return r;
}

/* What "NAME=VALUE" of a line has for the variable; NULL: another one, or a comment. */
static const char *value_in(const char *line, const char *name, size_t n)
{
    line += strspn(line, blanks);
    return strncmp(line, name, n) == 0 && line[n] == '=' ? line + n + 1 : NULL;
}

/* Join a line that ends with a backslash and the next one: both become blanks. Returns the lines that are
 * joined on. */
static unsigned join_lines(char *text)
{
    unsigned joined = 0;
    char *end = strchr(text, '\n');

    for (; end && end > text && end[-1] == '\\'; end = strchr(end, '\n')) {
        end[-1] = end[0] = ' ';
        joined++;
    }
    if (end)
        *end = '\0';
    return joined;
}

struct variable {
    const char *name;
    size_t n;
    char *value; /* owned, without its quotes; NULL: not set so far */
    struct place place;
};

/* Look into one file of assignments (systemd.exec(5), EnvironmentFile=). The last one counts. */
static int find_in(char *text, size_t n, const char *file, struct variable *variable)
{
    char *end = text + n;

    for (unsigned line = 1; text < end; line++) {
        unsigned joined = join_lines(text);
        const char *value = value_in(text, variable->name, variable->n);

        text += strlen(text) + 1;
        if (value) {
            free(variable->value);
            variable->value = unquote(&value, true);
            variable->place = (struct place){file, line};
            if (!variable->value)
                return -ENOMEM;
        }
        line += joined;
    }
    return 0;
}

static int find_variable(const struct root *root, const char *const *environment, struct variable *variable,
                         struct problems *problems)
{
    int r = 0;

    for (; *environment && r == 0; environment++) {
        char *text;
        size_t n;

        r = root_read(root, *environment, &text, &n);
        if (r == 0) {
            r = find_in(text, n, *environment, variable);
            free(text);
        } else {
            r = problems_add_unless_missing(problems, *environment, r);
        }
    }
    return r;
}

/* The name in a word $NAME or ${NAME}; 0: it is none. */
static size_t variable_in(const char *word, const char **ret_name)
{
    bool braces = word[0] == '$' && word[1] == '{';
    size_t n;

    if (word[0] != '$')
        return 0;
    *ret_name = word + 1 + braces;
    n = strspn(*ret_name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
    return strcmp(*ret_name + n, braces ? "}" : "") == 0 ? n : 0;
}

static int add_variable(const struct root *root, const char *const *environment, struct variable *variable,
                        bool one_word, struct engine_words *ret, struct problems *problems)
{
    int r = find_variable(root, environment, variable, problems);

    if (r == 0 && variable->value && !one_word)
        r = split(variable->value, &variable->place, ret);
    if (r == 0 && variable->value && one_word)
        r = add_word(ret, strdup(variable->value), &variable->place);
    free(variable->value);
    return r;
}

int engine_words_read(const struct root *root, const struct engine_command *command,
                      const char *const *environment, struct engine_words *ret, struct problems *problems)
{
    struct engine_words plain = {0};
    int r = 0;

    *ret = (struct engine_words){0};
    if (command && command->exec && command->file)
        r = split(command->exec, &(struct place){command->file, command->line}, &plain);
    for (size_t i = 0; i < plain.count && r == 0; i++) {
        struct engine_word *word = &plain.at[i];
        struct variable variable = {0};

        variable.n = variable_in(word->text, &variable.name);
        if (variable.n > 0)
            r = add_variable(root, environment, &variable, word->text[1] == '{', ret, problems);
        else
            r = add_word(ret, strdup(word->text), &(struct place){word->file, word->line});
    }
    engine_words_deinit(&plain);
    return r;
}

void engine_words_deinit(struct engine_words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        free(words->at[i].text);
        free(words->at[i].file);
    }
    free(words->at);
    *words = (struct engine_words){0};
}

/* What stands behind an option's name in a word: "" where the value is the next word; NULL: it is not the
 * option. */
static const char *behind_name(const char *word, const char *const *names)
{
    for (; *names; names++) {
        const char *behind = text_behind(word, *names);

        if (behind && (!*behind || *behind == '='))
            return behind;
    }
    return NULL;
}

const struct engine_word *engine_words_option(const struct engine_words *words, const char *const *names,
                                              size_t nth, const char **ret_value)
{
    for (size_t i = 0; i < words->count; i++) {
        const char *behind = behind_name(words->at[i].text, names);

        if (!behind || (!*behind && ++i == words->count))
            continue;
        if (nth-- > 0)
            continue;
        *ret_value = *behind ? behind + 1 : words->at[i].text;
        return &words->at[i];
    }
    return NULL;
}
