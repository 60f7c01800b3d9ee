#include "ctl/commands.h"

#include "base/err.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const struct command *const commands[] = {&command_measure, &command_suggest};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

/** No command has more options. */
#define OPTIONS_MAX 32

/* What getopt_long returns for --help, and for the option of index i: i + FIRST_VAL. */
enum { HELP_VAL = 'h', FIRST_VAL = 256 };

const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

void commands_help(struct out *out)
{
    out_print(out, "usage: fdfitctl COMMAND [options] [ARGUMENT...]\n"
                   "       fdfitctl help [COMMAND]\n"
                   "\n"
                   "Find out how many descriptors a workload needs, and give it the limit that fits.\n"
                   "\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        out_print(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    out_print(out,
              "\n"
              "  -h, --help       print this text, or with a command that command's options\n"
              "  -V, --version    print the version\n"
              "\n"
              "Exit status: 0 fine, 1 a finding, 2 wrong usage, 3 something could not be read or written.\n");
}

static void option_help(struct out *out, const struct command_option *option)
{
    char left[64], letter[8] = "    ";

    if (option->letter)
        snprintf(letter, sizeof(letter), "-%c, ", option->letter);
    snprintf(left, sizeof(left), "%s--%s%s%s", letter, option->name, option->values ? "=" : "",
             option->values ? option->values : "");
    out_print(out, "  %-38s %s\n", left, option->help);
}

void command_help(struct out *out, const struct command *command)
{
    static const struct command_option help = {"help", 'h', NULL, "print this text", 0};

    out_print(out, "usage: fdfitctl %s %s\n\n%s\n\n", command->name, command->arguments, command->summary);
    for (const struct command_option *o = command->options; o->name; o++)
        option_help(out, o);
    option_help(out, &help);
}

/* The table in getopt's words. The string of short options begins with ':', so that a missing value is told
 * from an unknown option. */
static void to_getopt(const struct command *command, struct option *ret_long, char *ret_short)
{
    int n = 0;

    *ret_short++ = ':';
    *ret_short++ = 'h';
    for (const struct command_option *o = command->options; o->name && n < OPTIONS_MAX; o++, n++) {
        ret_long[n] =
            (struct option){o->name, o->values ? required_argument : no_argument, NULL, FIRST_VAL + n};
        if (o->letter)
            *ret_short++ = o->letter;
        if (o->letter && o->values)
            *ret_short++ = ':';
    }
    ret_long[n] = (struct option){"help", no_argument, NULL, HELP_VAL};
    *ret_short = '\0';
}

static const struct command_option *option_of(const struct command *command, int val)
{
    if (val >= FIRST_VAL)
        return &command->options[val - FIRST_VAL];
    for (const struct command_option *o = command->options; o->name; o++)
        if (o->letter == val)
            return o;
    return NULL;
}

/* getopt has left what it didn't understand in optopt (a short option, or one that lacks its value or has one
 * too many), or else as the word before optind. */
static int refuse(struct out *out, const struct command *command, char **argv, int val)
{
    const char *word = argv[optind - 1];
    char name[TEXT_LINE];
    TEXT_ON(shown, name);

    if (optopt && optopt < FIRST_VAL && !(word[0] == '-' && word[1] == '-')) {
        char letter[] = {'-', (char)optopt, '\0'};

        text_quoted(&shown, letter, 2);
    } else {
        text_quoted(&shown, word, strcspn(word, "="));
    }
    out_error(out, "%s: option %s %s; see fdfitctl %s --help", command->name, shown.at,
              val == ':'                          ? "needs a value"
              : optopt == 0 || optopt < FIRST_VAL ? "is not known"
                                                  : "takes no value",
              command->name);
    return -EINVAL;
}

static int take(struct out *out, const struct command *command, const struct command_option *option,
                const char *value, void *data)
{
    char bad[TEXT_LINE];
    TEXT_ON(why, bad);
    int r = command->take(data, option->id, value, &why);

    if (r < 0)
        out_error(out, "%s: --%s: %s", command->name, option->name, why.at);
    return r;
}

int command_parse(struct out *out, const struct command *command, int argc, char **argv, void *data,
                  int *ret_first)
{
    struct option longs[OPTIONS_MAX + 2] = {{0}};
    char shorts[2 * OPTIONS_MAX + 4];

    to_getopt(command, longs, shorts);
    opterr = 0;
    optind = 0; /* begin anew: main has been here for its own options */
    for (;;) {
        int val = getopt_long(argc, argv, shorts, longs, NULL);
        int r;

        if (val == -1)
            break;
        if (val == '?' || val == ':')
            return refuse(out, command, argv, val);
        if (val == HELP_VAL) {
            command_help(out, command);
            return COMMAND_HELPED;
        }
        r = take(out, command, option_of(command, val), optarg, data);
        if (r < 0)
            return r;
    }
    *ret_first = optind;
    return 0;
}
