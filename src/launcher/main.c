/* fdfit: give one workload the descriptor limit that it needs. */
#include "base/err.h"
#include "base/frame.h"
#include "base/signals.h"
#include "launcher/exec.h"
#include "launcher/explain.h"
#include "launcher/inherited.h"
#include "launcher/init/supervise.h"
#include "launcher/install.h"
#include "launcher/launch.h"
#include "launcher/options.h"
#include "launcher/say.h"

#include <unistd.h>

static int fail(const struct text *line)
{
    msg(MSG_ERROR, MSG_ERROR, line->at);
    return EXIT_FDFIT;
}

static int print(const char *bytes)
{
    char buffer[TEXT_LINE];
    TEXT_ON(line, buffer);
    int r = msg_print(bytes);

    if (r == 0)
        return 0;
    text_join(&line, "can't write to stdout: ", err_text(-r), NULL);
    return fail(&line);
}

static OWN_FRAME int print_help(void)
{
    char buffer[8192];
    TEXT_ON(help, buffer);

    options_help(&help);
    return print(help.at);
}

static OWN_FRAME int install(const char *dest)
{
    char good[2 * PATH_MAX], bad[TEXT_LINE];
    TEXT_ON(line, good);
    TEXT_ON(why, bad);

    if (install_self(dest, &line, &why) < 0)
        return fail(&why);
    text_char(&line, '\n');
    return print(line.at);
}

static OWN_FRAME int explain(const struct launch *l, bool have_plan, const struct text *peak_warning)
{
    char buffer[2 * PATH_MAX + 8192];
    TEXT_ON(text, buffer);

    say_text(l, MSG_WARNING, peak_warning);
    explain_launch(l, have_plan, &text);
    return print(text.at);
}

static OWN_FRAME int say_exec_failure(const struct launch *l, int error)
{
    char buffer[TEXT_LINE];
    TEXT_ON(line, buffer);
    int code = exec_explain(l->command[0], error, l->environment, &line);

    msg(MSG_ERROR, l->most, line.at);
    return code;
}

static OWN_FRAME int load_lock(const struct launch *l)
{
    char good[TEXT_LINE], bad[TEXT_LINE];
    TEXT_ON(line, good);
    TEXT_ON(why, bad);

    if (launch_lock(l, &line, &why) < 0)
        return fail(&why);
    say_text(l, MSG_INFO, &line);
    return 0;
}

/* From here on this process is the workload, but for what exec changes. */
static int run(struct launch *l, int inherited, uint64_t mask)
{
    char buffer[TEXT_LINE];
    TEXT_ON(warning, buffer);

    inherited_handle(&l->settings.value[KEY_INHERITED_FDS], l->plan.limit.soft, inherited, -1, l->environment,
                     &warning);
    say_text(l, MSG_WARNING, &warning);
    if (!value_is(&l->settings.value[KEY_LOCK], WORD_NO) && load_lock(l) != 0)
        return EXIT_FDFIT;
    signals_set_mask(mask, NULL);
    return say_exec_failure(l, exec_search(l->command, l->environment));
}

static OWN_FRAME int stay(struct launch *l, uint64_t mask)
{
    char bad[TEXT_LINE];
    TEXT_ON(why, bad);
    struct init_end end;

    if (supervise(l, mask, &end, &why) < 0)
        return fail(&why);
    if (!end.by_signal)
        return end.value;
    end_by_signal(end.value);
    return 128 + end.value;
}

/* A key that means nothing without init = yes was set by mistake, or init was forgotten. */
static void warn_of_init_keys(const struct launch *l)
{
    for (unsigned id = 0; id < KEY_COUNT; id++)
        if (key_row((enum key_id)id)->init_only && l->settings.origin[id].kind != ORIGIN_DEFAULT) {
            char buffer[TEXT_LINE];
            TEXT_ON(line, buffer);

            text_join(&line, key_row((enum key_id)id)->name, " has no effect without init = yes (--init)",
                      NULL);
            say_text(l, MSG_WARNING, &line);
        }
}

static int exec_mode(struct launch *l, uint64_t mask, struct text *why)
{
    char odd[TEXT_LINE];
    TEXT_ON(peak_warning, odd);
    int inherited = inherited_open(&l->settings);
    int r = launch_limit(l, &peak_warning, why);

    if (r < 0)
        return fail(why);
    if (launch_flag(l, KEY_EXPLAIN))
        return explain(l, r == 0, &peak_warning);
    if (r == PLAN_NO_TARGET) {
        text_str(why, "no limit asked for; give -n SOFT[:HARD], or soft = N in a policy (-p)");
        return fail(why);
    }
    warn_of_init_keys(l);
    say_limit(l, true, peak_warning.at);
    return run(l, inherited, mask);
}

static int launch(struct launch *l, uint64_t mask, struct text *why)
{
    if (launch_check(l, why) < 0)
        return fail(why);
    if (!l->command[0] && !launch_flag(l, KEY_EXPLAIN)) {
        text_str(why, "no command to start; usage: fdfit [options] [--] COMMAND [ARG...], or fdfit --help");
        return fail(why);
    }
    if (launch_flag(l, KEY_INIT) && !launch_flag(l, KEY_EXPLAIN))
        return stay(l, mask);
    return exec_mode(l, mask, why);
}

static OWN_FRAME int launch_by_policy(struct launch *l, uint64_t mask, struct text *why)
{
    struct launch_policy room;

    return launch_read_policy(l, &room, why) < 0 ? fail(why) : launch(l, mask, why);
}

int main(int argc, char **argv)
{
    struct launch l;
    char bad[TEXT_LINE];
    TEXT_ON(why, bad);
    uint64_t mask = 0;

    /* First of all: as PID 1 a TERM that comes before the workload can take it would be dropped. SIGPIPE
     * stays, since a message to a closed stderr raises it, and msg lets it pass only where it is not blocked.
     */
    signals_set_mask(~(SIGNALS_SYNCHRONOUS | SIGNAL_BIT(SIGPIPE)), &mask);
    if (launch_read(&l, argc, argv, environ, &why) < 0)
        return fail(&why);
    if (launch_flag(&l, KEY_HELP))
        return print_help();
    if (launch_flag(&l, KEY_VERSION))
        return print("fdfit " FDFIT_VERSION "\n");
    if (launch_text(&l, KEY_INSTALL))
        return install(launch_text(&l, KEY_INSTALL));
    return launch_text(&l, KEY_POLICY) ? launch_by_policy(&l, mask, &why) : launch(&l, mask, &why);
}
