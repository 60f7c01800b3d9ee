#include "policy/plan.h"

#include "base/err.h"
#include "base/num.h"

/* The smallest size of a descriptor table that holds `need` descriptors: tables have 64 entries at first and
 * double (kernel fs/file.c, alloc_fdtable). */
static uint64_t table_size(uint64_t need)
{
    uint64_t size = 64;

    while (size < need && size < UINT64_MAX / 2)
        size *= 2;
    return size;
}

static uint64_t with_headroom(uint64_t need, const struct value *headroom)
{
    uint64_t extra = headroom->number;

    if (headroom->kind == VALUE_PERCENT) {
        uint64_t product = num_mul(need, headroom->number);

        extra = product / 100 + (product % 100 != 0);
    }
    return num_add(need, extra);
}

/* The ceiling: as given, else the fallback (so that a leak does not raise the limit from start to start),
 * else what is inherited. The floor's default yields to a lower ceiling; a floor that was written does not.
 */
static int plan_bounds(const struct settings *s, struct plan *p, struct text *reterr)
{
    const struct value *ceiling = &s->value[KEY_CEILING], *fallback = &s->value[KEY_FALLBACK];

    p->ceiling = ceiling->kind != VALUE_NONE    ? ceiling->number
                 : fallback->kind != VALUE_NONE ? fallback->number
                                                : p->inherited.hard;
    p->floor = s->value[KEY_FLOOR].number;
    if (s->origin[KEY_FLOOR].kind == ORIGIN_DEFAULT)
        p->floor = num_min(p->floor, p->ceiling);
    if (p->floor > p->ceiling || (fallback->kind != VALUE_NONE && fallback->number > p->ceiling)) {
        text_join(reterr, p->floor > p->ceiling ? "floor " : "fallback ", NULL);
        text_u64(reterr, p->floor > p->ceiling ? p->floor : fallback->number);
        text_str(reterr, " is above the ceiling ");
        limit_format(p->ceiling, reterr);
        return -EINVAL;
    }
    return 0;
}

/* The peak to use: the larger of what was given and what was recorded. A record that does not count yet may
 * not decide alone, but nothing it shows is left out once another number counts. */
static bool plan_peak(const struct settings *s, struct plan *p)
{
    const struct value *given = &s->value[KEY_PEAK];
    const struct plan_peak *recorded = &p->recorded;
    bool have_given = given->kind == VALUE_NUMBER;

    if (!have_given && !(recorded->present && recorded->counts))
        return false;
    p->peak = have_given ? given->number : 0;
    if (recorded->present && recorded->need > p->peak) {
        p->peak = recorded->need;
        p->since = recorded->since;
    }
    if (recorded->present)
        p->bound = recorded->bound;
    return true;
}

/* soft = the peak with headroom, between floor and ceiling; but when a table was once larger than the peak
 * explains, a burst passed between two samples, and that table's size is the least that is known to be
 * enough. */
static void derive_soft(const struct settings *s, struct plan *p)
{
    uint64_t soft;

    p->headroom = s->value[KEY_HEADROOM];
    soft = with_headroom(p->peak, &p->headroom);
    if (soft < p->floor) {
        soft = p->floor;
        p->bounded = BOUNDED_FLOOR;
    }
    if (p->bound > table_size(p->peak) && p->bound > soft) {
        soft = p->bound;
        p->bounded = BOUNDED_CLASS;
    }
    if (soft > p->ceiling) {
        soft = p->ceiling;
        p->bounded = BOUNDED_CEILING;
    }
    if (p->peak >= p->ceiling)
        p->notes |= NOTE_PEAK_AT_CEILING;
    p->soft_from = SOFT_PEAK;
    p->limit.soft = soft;
}

static int plan_soft_from_peak(const struct settings *s, struct plan *p, struct text *reterr)
{
    const struct value *fallback = &s->value[KEY_FALLBACK];
    int r;

    if (fallback->kind == VALUE_NONE && s->value[KEY_PEAK].kind == VALUE_NONE) {
        text_str(reterr, "soft = peak needs a fallback (the soft limit while there is no peak that counts), "
                         "or a peak; add fallback = N");
        return -EINVAL;
    }
    r = plan_bounds(s, p, reterr);
    if (r < 0)
        return r;
    if (plan_peak(s, p)) {
        derive_soft(s, p);
        return 0;
    }
    p->soft_from = SOFT_FALLBACK;
    p->limit.soft = fallback->number;
    return 0;
}

static int plan_soft(const struct settings *s, struct plan *p, struct text *reterr)
{
    const struct value *soft = &s->value[KEY_SOFT];

    if (value_is(soft, WORD_PEAK))
        return plan_soft_from_peak(s, p, reterr);
    if (value_is(soft, WORD_UNLIMITED)) {
        p->soft_from = SOFT_UNLIMITED;
        p->limit.soft = p->nr_open;
    } else if (soft->kind == VALUE_NUMBER) {
        p->soft_from = SOFT_GIVEN;
        p->limit.soft = soft->number;
    } else {
        p->soft_from = SOFT_INHERITED;
        p->limit.soft = p->inherited.soft;
    }
    return 0;
}

static void plan_hard(const struct settings *s, struct plan *p)
{
    const struct value *hard = &s->value[KEY_HARD];

    if (hard->kind == VALUE_NUMBER)
        p->limit.hard = hard->number;
    else if (value_is(hard, WORD_UNLIMITED))
        p->limit.hard = p->nr_open;
    else if (value_is(hard, WORD_SOFT))
        p->limit.hard = p->limit.soft;
    else if (value_is(hard, WORD_INHERIT) || p->soft_from == SOFT_INHERITED)
        p->limit.hard = p->inherited.hard;
    else if (p->soft_from == SOFT_PEAK || p->soft_from == SOFT_FALLBACK)
        p->limit.hard = p->ceiling;
    else
        p->limit.hard = p->limit.soft;
}

static int deny(const struct plan *p, struct text *reterr, const char *why)
{
    text_str(reterr, "nofile ");
    nofile_format(&p->limit, reterr);
    text_join(reterr, " can't be had: ", why, NULL);
    return -EPERM;
}

/* fs.nr_open is above every capability. An inherited hard limit above it (it was lowered later) can't even be
 * kept: the kernel refuses any change then, so it is brought down without being asked. */
static int fit_nr_open(bool clamp, struct plan *p, struct text *reterr)
{
    if (p->nr_open == 0)
        return 0;
    if (p->limit.hard > p->nr_open && p->limit.hard == p->inherited.hard && p->limit.soft <= p->nr_open) {
        p->limit.hard = p->nr_open;
        p->notes |= NOTE_NR_OPEN_CAPPED;
    }
    if (p->limit.hard <= p->nr_open && p->limit.soft <= p->nr_open)
        return 0;
    if (!clamp) {
        deny(p, reterr, "fs.nr_open is ");
        text_u64(reterr, p->nr_open);
        text_str(reterr, ", and no privilege passes it; lower the limit, raise it with sysctl, or set "
                         "when-denied = clamp");
        return -EPERM;
    }
    p->limit.hard = num_min(p->limit.hard, p->nr_open);
    p->limit.soft = num_min(p->limit.soft, p->nr_open);
    p->notes |= NOTE_NR_OPEN_CLAMPED;
    return 0;
}

static int fit_hard(bool clamp, bool raise_refused, struct plan *p, struct text *reterr)
{
    if (!raise_refused || p->limit.hard <= p->inherited.hard)
        return 0;
    if (!clamp) {
        deny(p, reterr, "the hard limit is ");
        limit_format(p->inherited.hard, reterr);
        text_str(reterr,
                 ", and raising it needs CAP_SYS_RESOURCE on the host itself (a user namespace's does not "
                 "count); lower the limit, or set when-denied = clamp");
        if (p->nr_open == 0)
            text_str(reterr, " (or fs.nr_open is lower: it can't be read here)");
        return -EPERM;
    }
    p->limit.hard = p->inherited.hard;
    p->limit.soft = num_min(p->limit.soft, p->limit.hard);
    p->notes |= NOTE_HARD_CLAMPED;
    return 0;
}

static int fit_soft(bool clamp, struct plan *p, struct text *reterr)
{
    if (p->limit.soft <= p->limit.hard)
        return 0;
    if (!clamp)
        return deny(p, reterr, "soft is above hard; raise hard, lower soft, or set when-denied = clamp");
    p->limit.soft = p->limit.hard;
    p->notes |= NOTE_SOFT_CLAMPED;
    return 0;
}

int plan_make(const struct settings *s, const struct plan_in *in, struct plan *ret, struct text *reterr)
{
    struct plan p = {.inherited = in->inherited, .nr_open = in->nr_open, .recorded = in->recorded};
    const struct value *soft = &s->value[KEY_SOFT], *hard = &s->value[KEY_HARD];
    bool clamp = value_is(&s->value[KEY_WHEN_DENIED], WORD_CLAMP);
    int r;

    if (soft->kind == VALUE_NONE && hard->kind == VALUE_NONE)
        return PLAN_NO_TARGET;
    if (in->nr_open == 0 && (value_is(soft, WORD_UNLIMITED) || value_is(hard, WORD_UNLIMITED)))
        return PLAN_NEEDS_NR_OPEN;
    r = plan_soft(s, &p, reterr);
    if (r < 0)
        return r;
    plan_hard(s, &p);
    r = fit_nr_open(clamp, &p, reterr);
    if (r == 0)
        r = fit_soft(clamp, &p, reterr);
    if (r == 0)
        r = fit_hard(clamp, in->raise_refused, &p, reterr);
    if (r == 0)
        *ret = p;
    return r;
}

bool plan_changes(const struct plan *plan)
{
    return plan->limit.soft != plan->inherited.soft || plan->limit.hard != plan->inherited.hard;
}
