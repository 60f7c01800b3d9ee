#include "launcher/options.h"

#include "base/err.h"

#include <string.h>

#define PREFIX "FDFIT_"

/* The argument being read: what follows it may be its value. */
struct cursor {
    int argc;
    char *const *argv;
    int at;
};

static int put_option(struct settings *settings, enum key_id id, const char *value, struct text *reterr)
{
    char reason[TEXT_LINE];
    TEXT_ON(why, reason);

    if (settings_put(settings, id, value, (struct origin){ORIGIN_ARG, 0}, &why) == 0)
        return 0;
    text_join(reterr, "--", key_row(id)->name, ": ", why.at, NULL);
    return -EINVAL;
}

static int missing(const char *dashes, const char *name, enum key_id id, struct text *reterr)
{
    text_join(reterr, dashes, name, " needs a value: ", key_row(id)->values, NULL);
    return -EINVAL;
}

/* --name, --name=value, --name value */
static int parse_long(struct cursor *c, struct settings *settings, struct text *reterr)
{
    const char *name = c->argv[c->at] + 2;
    const char *equals = strchr(name, '=');
    size_t n = equals ? (size_t)(equals - name) : strlen(name);
    enum key_id id = key_find(name, n, IN_ARG);

    if (id == KEY_COUNT) {
        key_unknown("option", "--", name, n, IN_ARG, reterr);
        return -EINVAL;
    }
    if (equals)
        return put_option(settings, id, equals + 1, reterr);
    if (key_row(id)->flag)
        return put_option(settings, id, "yes", reterr);
    if (c->at + 1 == c->argc)
        return missing("--", key_row(id)->name, id, reterr);
    return put_option(settings, id, c->argv[++c->at], reterr);
}

/* -q, -qv, -n1024, -n 1024 */
static int parse_short(struct cursor *c, struct settings *settings, struct text *reterr)
{
    for (const char *letter = c->argv[c->at] + 1; *letter; letter++) {
        enum key_id id = key_find_letter(*letter);
        int r;

        if (id == KEY_COUNT) {
            text_str(reterr, "unknown option '-");
            text_escaped(reterr, letter, 1);
            text_str(reterr, "'; fdfit --help lists them");
            return -EINVAL;
        }
        if (!key_row(id)->flag) {
            if (letter[1] != '\0')
                return put_option(settings, id, letter + 1, reterr);
            if (c->at + 1 == c->argc)
                return missing("-", (char[]){*letter, '\0'}, id, reterr);
            return put_option(settings, id, c->argv[++c->at], reterr);
        }
        r = put_option(settings, id, "yes", reterr);
        if (r < 0)
            return r;
    }
    return 0;
}

int options_parse(int argc, char *const *argv, struct settings *settings, int *ret_command,
                  struct text *reterr)
{
    struct cursor c = {argc, argv, argc > 0 ? 1 : 0};

    for (; c.at < argc; c.at++) {
        const char *arg = argv[c.at];
        int r;

        if (arg[0] != '-' || arg[1] == '\0')
            break;
        if (strcmp(arg, "--") == 0) {
            c.at++;
            break;
        }
        r = arg[1] == '-' ? parse_long(&c, settings, reterr) : parse_short(&c, settings, reterr);
        if (r < 0)
            return r;
    }
    *ret_command = c.at < argc ? c.at : argc;
    return 0;
}

/* Returns the key of a variable, or KEY_COUNT; the value follows its '='. */
static enum key_id variable_key(const char *variable, const char **ret_value)
{
    const char *name = text_behind(variable, PREFIX);
    const char *equals = name ? strchr(name, '=') : NULL;

    if (!equals)
        return KEY_COUNT;
    *ret_value = equals + 1;
    return key_find_env(name, (size_t)(equals - name));
}

static int put_variable(struct settings *settings, enum key_id id, const char *value, struct text *reterr)
{
    const struct origin origin = {ORIGIN_ENV, 0};
    char reason[TEXT_LINE];
    TEXT_ON(why, reason);

    if (settings->origin[id].kind == ORIGIN_ENV || settings_put(settings, id, value, origin, &why) == 0)
        return 0;
    origin_format(&origin, id, NULL, reterr);
    text_join(reterr, ": ", why.at, NULL);
    return -EINVAL;
}

int options_environment(char **environment, struct settings *settings, struct text *reterr)
{
    char **kept = environment;

    for (char **variable = environment; *variable; variable++) {
        const char *value = NULL;
        enum key_id id = variable_key(*variable, &value);
        int r;

        if (id == KEY_COUNT) {
            *kept++ = *variable;
            continue;
        }
        r = put_variable(settings, id, value, reterr);
        if (r < 0)
            return r;
    }
    *kept = NULL;
    return 0;
}

void options_foreign(char *const *environment, struct text *t)
{
    for (; *environment; environment++)
        if (text_behind(*environment, PREFIX)) {
            if (t->len > 0)
                text_char(t, ' ');
            text_escaped(t, *environment, (size_t)(strchrnul(*environment, '=') - *environment));
        }
}

static void help_option(const struct key *key, struct text *t)
{
    size_t begin = t->len;

    text_str(t, "  ");
    if (key->letter) {
        text_char(t, '-');
        text_char(t, key->letter);
        text_str(t, ", ");
    } else {
        text_str(t, "    ");
    }
    text_join(t, "--", key->name, key->flag ? "" : "=", key->values, NULL);
    do
        text_char(t, ' ');
    while (t->len - begin < 40);
    text_join(t, key->help, "\n", NULL);
}

void options_help(struct text *t)
{
    text_str(
        t,
        "Usage: fdfit [options] [--] COMMAND [ARG...]\n"
        "Start COMMAND under the descriptor limit (nofile) that it needs, not the one it would inherit.\n\n");
    for (unsigned id = 0; id < KEY_COUNT; id++)
        if (key_row((enum key_id)id)->places & IN_ARG)
            help_option(key_row((enum key_id)id), t);
    text_str(
        t, "\nThe options of the policy are keys of its file (soft = N) and variables (FDFIT_SOFT) as well.\n"
           "Exit: the command's own status; 125 fdfit failed; 126 found but not executable; 127 not found.\n"
           "See fdfit(1) and fdfit.conf(5).\n");
}
