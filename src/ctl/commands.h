/* The commands of fdfitctl. One table (commands.c) drives both dispatch and help; each command is a file that
 * exports its row. */
#ifndef FDFIT_CTL_COMMANDS_H
#define FDFIT_CTL_COMMANDS_H

#include "base/text.h"
#include "ctl/out.h"

/** What fdfitctl ends with. Only main ends the program. */
enum ctl_exit {
    CTL_FINE = 0,
    CTL_FINDING = 1, /* there is something to look at: the command's man page section says what */
    CTL_USAGE = 2,
    CTL_UNREAD = 3 /* what was to be read or written could not be */
};

/** One option. A table of them ends with a row without a name. */
struct command_option {
    const char *name;
    char letter;        /* the short option, or 0 */
    const char *values; /* for help: what it takes; NULL for a flag */
    const char *help;
    int id; /* the command's own, 0 and up */
};

struct command {
    const char *name;
    const char *arguments; /* for help: what follows the options */
    const char *summary;
    const struct command_option *options;

    /** Take one option into the command's data; value is NULL for a flag. Returns 0, or -EINVAL with reterr
     * saying what was wrong with the value, without the option's name. */
    int (*take)(void *data, int id, const char *value, struct text *reterr);

    /** Do it. argv[0] is the command's name. Returns an enum ctl_exit; what went wrong has been said. */
    int (*run)(struct out *out, int argc, char **argv);
};

extern const struct command command_measure;
extern const struct command command_suggest;

/** Find a command by its name, or NULL. */
const struct command *command_find(const char *name);

/** Print the list of the commands, or the options of one. */
void commands_help(struct out *out);
void command_help(struct out *out, const struct command *command);

#define COMMAND_HELPED 1 /* help was asked for, and has been printed */

/** Read the options of a command by its table (and --help) into data. Gives the index of the first argument
 * behind them; options may stand behind arguments, and argv is reordered as getopt_long(3) does.
 *  Returns 0, COMMAND_HELPED, or -EINVAL: then the reason has been said. */
int command_parse(struct out *out, const struct command *command, int argc, char **argv, void *data,
                  int *ret_first);

#endif
