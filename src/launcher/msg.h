/* What the launcher says to people: one line, one write. */
#ifndef FDFIT_LAUNCHER_MSG_H
#define FDFIT_LAUNCHER_MSG_H

enum msg_level {
    MSG_ERROR,   /* always said */
    MSG_WARNING, /* unless quiet */
    MSG_INFO,    /* unless quiet */
    MSG_DETAIL   /* only when verbose */
};

/** Write "fdfit: LINE" to stderr when the level asks for it. A closed or broken stderr is no error, and no
 * SIGPIPE. */
void msg(enum msg_level level, enum msg_level most, const char *line);

/** The same for the supervisor: a reader that does not read, or is gone, must not stop the reaping, so the
 * line is dropped where it can't be written at once. Needs SIGPIPE to be blocked. */
void msg_try(enum msg_level level, enum msg_level most, const char *line);

/** Write a text to stdout. Returns 0 or -errno. */
int msg_print(const char *bytes);

#endif
