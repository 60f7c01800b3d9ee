/* The words of an engine's command line, each with its place. Part of inspect/engine.c. */
#ifndef FDFIT_INSPECT_ENGINE_WORDS_H
#define FDFIT_INSPECT_ENGINE_WORDS_H

#include "inspect/engine.h"

#include <stddef.h>

struct engine_word {
    char *text; /* owned */
    char *file; /* owned: the unit, or the file that sets the variable behind it */
    unsigned line;
};

struct engine_words {
    struct engine_word *at;
    size_t count;
};

/** Split a command as systemd.service(5) ("Command lines") has it. A word $NAME or ${NAME} is replaced by
 * what the last of `environment` (names of files that may not be there, then NULL) sets, and goes when none
 * does. Returns 0 or -ENOMEM; *ret is to be freed in both cases. */
int engine_words_read(const struct root *root, const struct engine_command *command,
                      const char *const *environment, struct engine_words *ret, struct problems *problems);
void engine_words_deinit(struct engine_words *words);

/** The nth value of an option that is named by one of `names` (then NULL): the next word, or what stands
 * behind
 *  "=", as *ret_value in words. Returns the word that holds it; NULL: there is no nth. */
const struct engine_word *engine_words_option(const struct engine_words *words, const char *const *names,
                                              size_t nth, const char **ret_value);

#endif
