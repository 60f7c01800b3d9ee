#include "policy/plan.h"

static void two_digits(struct text *t, uint64_t value)
{
    text_char(t, (char)('0' + value / 10 % 10));
    text_char(t, (char)('0' + value % 10));
}

static uint64_t days_of_month(uint64_t year, uint64_t month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && leap ? 1u : 0u);
}

/* " of 2025-12-01", in UTC. Not by gmtime_r(3): that of glibc allocates and reads /etc/localtime. */
static void format_day(uint64_t seconds, struct text *t)
{
    uint64_t days = seconds / 86400, year = 1970, month = 1;

    if (seconds > 253402300799u) /* the end of year 9999 */
        return;
    while (days >= 337 + days_of_month(year, 2))
        days -= 337 + days_of_month(year++, 2);
    while (days >= days_of_month(year, month))
        days -= days_of_month(year, month++);
    text_number(t, " of ", year);
    text_char(t, '-');
    two_digits(t, month);
    text_char(t, '-');
    two_digits(t, days + 1);
}

static void format_peak(const struct plan *plan, struct text *t)
{
    text_number(t, "peak ", plan->peak);
    if (plan->since)
        format_day(plan->since, t);
    text_str(t, plan->headroom.kind == VALUE_EXTRA ? " " : " + ");
    value_format(&plan->headroom, t);
    if (plan->bounded == BOUNDED_FLOOR) {
        text_number(t, ", floor ", plan->floor);
    } else if (plan->bounded == BOUNDED_CEILING) {
        text_str(t, ", ceiling ");
        limit_format(plan->ceiling, t);
    } else if (plan->bounded == BOUNDED_CLASS) {
        text_number(t, ", a table of ", plan->bound);
    }
}

static void format_fallback(const struct plan *plan, struct text *t)
{
    const struct plan_peak *recorded = &plan->recorded;

    text_str(t, "fallback: ");
    if (!recorded->present) {
        text_str(t, "no peak yet");
        return;
    }
    text_number(t, "peak ", recorded->need);
    text_str(t, " counts after ");
    text_duration(t, recorded->remaining);
    text_str(t, " more");
}

static void format_notes(const struct plan *plan, const char *between, struct text *t)
{
    static const struct {
        unsigned note;
        const char *text;
    } notes[] = {
        {NOTE_NR_OPEN_CAPPED, "hard brought down to fs.nr_open"},
        {NOTE_NR_OPEN_CLAMPED, "clamped to fs.nr_open"},
        {NOTE_SOFT_CLAMPED, "soft clamped to hard"},
        {NOTE_HARD_CLAMPED, "clamped to the inherited hard limit: no CAP_SYS_RESOURCE"},
    };

    for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
        if (plan->notes & notes[i].note) {
            text_join(t, between, notes[i].text, NULL);
            between = ", ";
        }
}

void plan_format(const struct plan *plan, struct text *t)
{
    char inner[TEXT_LINE];
    TEXT_ON(reasons, inner);

    if (plan->soft_from == SOFT_PEAK)
        format_peak(plan, &reasons);
    else if (plan->soft_from == SOFT_FALLBACK)
        format_fallback(plan, &reasons);
    else if (plan->soft_from == SOFT_UNLIMITED)
        text_str(&reasons, "unlimited is fs.nr_open");
    format_notes(plan, reasons.len ? ", " : "", &reasons);

    text_str(t, "nofile ");
    nofile_format(&plan->inherited, t);
    if (plan_changes(plan)) {
        text_str(t, " -> ");
        nofile_format(&plan->limit, t);
    } else {
        text_str(t, " kept");
    }
    if (reasons.len)
        text_join(t, " (", reasons.at, ")", NULL);
}

void plan_warning(const struct plan *plan, struct text *t)
{
    if (!(plan->notes & NOTE_PEAK_AT_CEILING))
        return;
    text_number(t, "the peak ", plan->peak);
    text_str(t, " reaches the ceiling ");
    limit_format(plan->ceiling, t);
    text_str(t, ": the workload leaks descriptors, or the ceiling is too low");
}
