#include "launcher/explain.h"

#include "launcher/exec.h"

static void pad(struct text *t, size_t begin, size_t width)
{
    do
        text_char(t, ' ');
    while (t->len - begin < width);
}

static void explain_key(const struct launch *l, enum key_id id, struct text *t)
{
    size_t begin = t->len;

    text_str(t, key_row(id)->name);
    pad(t, begin, 16);
    value_format(&l->settings.value[id], t);
    pad(t, begin, 32);
    origin_format(&l->settings.origin[id], id, l->policy_name, t);
    text_char(t, '\n');
}

static void explain_command(const struct launch *l, struct text *t)
{
    char path[PATH_MAX];
    int r;

    if (!l->command[0])
        return;
    text_str(t, "command         ");
    r = exec_find(l->command[0], l->environment, path, sizeof(path));
    if (r == 0) {
        text_str(t, path);
    } else {
        int status = exec_explain(l->command[0], r, l->environment, t);

        text_number(t, "; a start would exit with ", (uint64_t)status);
    }
    text_char(t, '\n');
}

void explain_launch(const struct launch *l, bool have_plan, struct text *t)
{
    if (have_plan)
        plan_format(&l->plan, t);
    else
        text_str(t, "no limit asked for");
    text_char(t, '\n');
    if (l->policy_name[0])
        text_join(t, "policy          ", l->policy_name, "\n", NULL);
    for (unsigned id = 0; id < KEY_COUNT; id++)
        if (key_row((enum key_id)id)->places & IN_FILE)
            explain_key(l, (enum key_id)id, t);
    if (l->in.nr_open) {
        text_number(t, "fs.nr_open      ", l->in.nr_open);
        text_char(t, '\n');
    }
    explain_command(l, t);
}
