#include "policy/apply.h"

#include "base/err.h"

static int learn_nr_open(struct plan_in *in, struct text *reterr)
{
    int r = sys_nr_open(&in->nr_open);

    if (r < 0)
        text_join(reterr, "can't read /proc/sys/fs/nr_open, which 'unlimited' stands for: ", err_text(-r),
                  NULL);
    return r;
}

static int decide(const struct settings *s, struct plan_in *in, struct plan *ret, struct text *reterr)
{
    int r = plan_make(s, in, ret, reterr);

    if (r != PLAN_NEEDS_NR_OPEN)
        return r;
    r = learn_nr_open(in, reterr);
    return r < 0 ? r : plan_make(s, in, ret, reterr);
}

/* EPERM has two reasons (kernel/sys.c, do_prlimit): above fs.nr_open, or a raise without CAP_SYS_RESOURCE.
 * The first can be looked up, so what it does not explain is the second. Returns false when nothing more can
 * be learnt. */
static bool learn_from_eperm(struct plan_in *in, const struct plan *plan)
{
    if (in->nr_open == 0 && sys_nr_open(&in->nr_open) == 0)
        return true;
    if (in->raise_refused || plan->limit.hard <= plan->inherited.hard)
        return false;
    in->raise_refused = true;
    return true;
}

int apply_settings(const struct settings *s, struct plan_in *in, pid_t pid, struct plan *ret,
                   struct text *reterr)
{
    struct plan plan;

    for (;;) {
        int r = decide(s, in, &plan, reterr);

        if (r != 0)
            return r;
        if (plan_changes(&plan))
            r = sys_prlimit_nofile(pid, &plan.limit, NULL);
        if (r == -EPERM && learn_from_eperm(in, &plan))
            continue;
        if (r < 0) {
            text_str(reterr, "can't set nofile ");
            nofile_format(&plan.limit, reterr);
            text_join(reterr, ": ", err_text(-r), NULL);
            return r;
        }
        *ret = plan;
        return 0;
    }
}
