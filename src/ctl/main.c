/* fdfitctl: find out how many descriptors a workload needs, and give it the limit that fits. */
#include "base/err.h"
#include "ctl/commands.h"

#include <locale.h>
#include <string.h>

static int unknown(struct out *out, const char *what, const char *word)
{
    char name[TEXT_LINE];
    TEXT_ON(shown, name);

    text_quoted(&shown, word, strlen(word));
    out_error(out, "%s %s is not known; see fdfitctl --help", what, shown.at);
    return CTL_USAGE;
}

static int help(struct out *out, int argc, char **argv)
{
    const struct command *command;

    if (argc < 2) {
        commands_help(out);
        return CTL_FINE;
    }
    command = command_find(argv[1]);
    if (!command)
        return unknown(out, "command", argv[1]);
    command_help(out, command);
    return CTL_FINE;
}

static int dispatch(struct out *out, int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : NULL;
    const struct command *command;

    if (!word) {
        out_error(out, "no command given; see fdfitctl --help");
        return CTL_USAGE;
    }
    if (strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return help(out, argc - 1, argv + 1);
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        out_print(out, "fdfitctl " FDFIT_VERSION "\n");
        return CTL_FINE;
    }
    if (word[0] == '-')
        return unknown(out, "option", word);
    command = command_find(word);
    return command ? command->run(out, argc - 1, argv + 1) : unknown(out, "command", word);
}

int main(int argc, char **argv)
{
    struct out out;
    int code, r;

    /* Of the locale only how characters are encoded: it decides how a tree's branches are drawn. */
    setlocale(LC_CTYPE, "");
    out_init(&out);
    code = dispatch(&out, argc, argv);
    r = out_finish(&out);
    if (r == 0)
        return code;
    out_error(&out, "can't write to stdout: %s", err_text(-r));
    return CTL_UNREAD;
}
