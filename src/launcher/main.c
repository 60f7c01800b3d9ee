/* fdfit: give one workload the descriptor limit that it needs. */
#include "base/err.h"
#include "launcher/exec.h"
#include "launcher/explain.h"
#include "launcher/inherited.h"
#include "launcher/install.h"
#include "launcher/launch.h"
#include "launcher/options.h"

#include <unistd.h>

static int fail(const struct text *line)
{
    msg(MSG_ERROR, MSG_ERROR, line->at);
    return EXIT_FDFIT;
}

static int print(const char *bytes)
{
    return msg_print(bytes) < 0 ? EXIT_FDFIT : 0;
}

static int print_help(void)
{
    char buffer[8192];
    TEXT_ON(help, buffer);

    options_help(&help);
    return print(help.at);
}

static int install(const char *dest)
{
    char good[2 * PATH_MAX], bad[TEXT_LINE];
    TEXT_ON(line, good);
    TEXT_ON(why, bad);

    if (install_self(dest, &line, &why) < 0)
        return fail(&why);
    text_char(&line, '\n');
    return print(line.at);
}

static void say_text(const struct launch *l, enum msg_level level, const struct text *t)
{
    if (t->len > 0)
        msg(level, l->most, t->at);
}

static void say_plan(const struct launch *l, const struct text *peak_warning)
{
    char one[TEXT_LINE], two[TEXT_LINE], three[TEXT_LINE];
    TEXT_ON(decision, one);
    TEXT_ON(warning, two);
    TEXT_ON(foreign, three);

    say_text(l, MSG_WARNING, peak_warning);
    plan_format(&l->plan, &decision);
    say_text(l, MSG_INFO, &decision);
    plan_warning(&l->plan, &warning);
    say_text(l, MSG_WARNING, &warning);
    if (l->most < MSG_DETAIL)
        return;
    options_foreign(l->environment, &foreign);
    if (foreign.len > 0)
        text_str(&foreign, ": not known to fdfit, left to the workload");
    say_text(l, MSG_DETAIL, &foreign);
}

static int explain(const struct launch *l, bool have_plan, const struct text *peak_warning)
{
    char buffer[2 * PATH_MAX + 8192];
    TEXT_ON(text, buffer);

    say_text(l, MSG_WARNING, peak_warning);
    explain_launch(l, have_plan, &text);
    return print(text.at);
}

/* From here on this process is the workload, but for what exec changes. */
static int run(struct launch *l)
{
    char buffer[TEXT_LINE], info[TEXT_LINE], bad[TEXT_LINE];
    TEXT_ON(warning, buffer);
    TEXT_ON(locked, info);
    TEXT_ON(why, bad);
    int r;

    inherited_handle(&l->settings.value[KEY_INHERITED_FDS], l->plan.limit.soft, l->environment, &warning);
    say_text(l, MSG_WARNING, &warning);
    if (launch_lock(l, &locked, &why) < 0)
        return fail(&why);
    say_text(l, MSG_INFO, &locked);
    r = exec_search(l->command, l->environment);
    text_init(&warning, buffer, sizeof(buffer));
    r = exec_explain(l->command[0], r, l->environment, &warning);
    msg(MSG_ERROR, l->most, warning.at);
    return r;
}

static int launch(struct launch *l)
{
    char bad[TEXT_LINE], odd[TEXT_LINE];
    TEXT_ON(why, bad);
    TEXT_ON(peak_warning, odd);
    int r;

    if (!l->command[0] && !launch_flag(l, KEY_EXPLAIN)) {
        text_str(&why, "no command to start; usage: fdfit [options] [--] COMMAND [ARG...], or fdfit --help");
        return fail(&why);
    }
    r = launch_limit(l, &peak_warning, &why);
    if (r < 0)
        return fail(&why);
    if (launch_flag(l, KEY_EXPLAIN))
        return explain(l, r == 0, &peak_warning);
    if (r == PLAN_NO_TARGET) {
        text_str(&why, "no limit asked for; give -n SOFT[:HARD], or soft = N in a policy (-p)");
        return fail(&why);
    }
    say_plan(l, &peak_warning);
    return run(l);
}

int main(int argc, char **argv)
{
    struct launch l;
    char bad[TEXT_LINE];
    TEXT_ON(why, bad);

    if (launch_read(&l, argc, argv, environ, &why) < 0)
        return fail(&why);
    if (launch_flag(&l, KEY_HELP))
        return print_help();
    if (launch_flag(&l, KEY_VERSION))
        return print("fdfit " FDFIT_VERSION "\n");
    if (launch_text(&l, KEY_INSTALL))
        return install(launch_text(&l, KEY_INSTALL));
    return launch(&l);
}
