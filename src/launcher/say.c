#include "launcher/say.h"

#include "launcher/options.h"

void say_text(const struct launch *l, enum msg_level level, const struct text *t)
{
    if (t->len > 0)
        msg(level, l->most, t->at);
}

static void say_foreign(const struct launch *l)
{
    char buffer[TEXT_LINE];
    TEXT_ON(line, buffer);

    options_foreign(l->environment, &line);
    if (line.len > 0)
        text_str(&line, ": not known to fdfit, left to the workload");
    say_text(l, MSG_DETAIL, &line);
}

void say_limit(const struct launch *l, bool have_plan, const char *peak_warning)
{
    char one[TEXT_LINE], two[TEXT_LINE];
    TEXT_ON(decision, one);
    TEXT_ON(warning, two);

    if (peak_warning[0])
        msg(MSG_WARNING, l->most, peak_warning);
    if (have_plan) {
        plan_format(&l->plan, &decision);
        plan_warning(&l->plan, &warning);
    }
    say_text(l, MSG_INFO, &decision);
    say_text(l, MSG_WARNING, &warning);
    if (l->most >= MSG_DETAIL)
        say_foreign(l);
}
