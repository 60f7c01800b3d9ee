#include "launcher/launch.h"

#include "base/err.h"
#include "base/frame.h"
#include "launcher/options.h"
#include "measure/peakfile.h"
#include "policy/apply.h"
#include "policy/lock.h"

#include <string.h>

const char *launch_text(const struct launch *l, enum key_id id)
{
    return l->settings.value[id].kind == VALUE_TEXT ? l->settings.value[id].text : NULL;
}

bool launch_flag(const struct launch *l, enum key_id id)
{
    return value_is(&l->settings.value[id], WORD_YES);
}

bool launch_starts_nothing(const struct launch *l)
{
    return launch_flag(l, KEY_HELP) || launch_flag(l, KEY_VERSION) || launch_text(l, KEY_INSTALL);
}

int launch_read_policy(struct launch *l, struct launch_policy *room, struct text *reterr)
{
    size_t n;
    int r = policy_path(launch_text(l, KEY_POLICY), room->name, sizeof(room->name), reterr);

    if (r == 0)
        r = policy_read(room->name, room->bytes, &n, reterr);
    if (r == 0)
        r = policy_parse(room->bytes, n, room->name, &l->settings, reterr);
    if (r == 0)
        l->policy_name = room->name;
    return r;
}

/* Only a supervisor can answer the calls that clamp asks about. */
static int check_lock(const struct launch *l, struct text *reterr)
{
    if (lock_mode(&l->settings.value[KEY_LOCK]) != LOCK_CLAMP || launch_flag(l, KEY_INIT))
        return 0;
    text_str(reterr, "lock = clamp (");
    origin_format(&l->settings.origin[KEY_LOCK], KEY_LOCK, l->policy_name, reterr);
    text_str(reterr, ") needs init = yes: only a supervisor can answer for the limit; "
                     "without one use lock = deny or pretend");
    return -EINVAL;
}

/* Under the name fdfit-init, init mode is the default. */
static void read_name(struct launch *l, const char *name)
{
    const char *slash = strrchr(name, '/');

    if (strcmp(slash ? slash + 1 : name, "fdfit-init") == 0)
        l->settings.value[KEY_INIT] = (struct value){.kind = VALUE_WORD, .number = WORD_YES};
}

int launch_read(struct launch *l, int argc, char **argv, char **environment, struct text *reterr)
{
    int command, r;

    settings_init(&l->settings);
    l->policy_name = "";
    l->environment = environment;
    if (argc > 0)
        read_name(l, argv[0]);
    r = options_parse(argc, argv, &l->settings, &command, reterr);
    l->command = argv + (r == 0 ? command : argc);
    if (r == 0 && launch_starts_nothing(l))
        return 0; /* a bad variable or policy must not keep anybody from the help text */
    return r < 0 ? r : options_environment(environment, &l->settings, reterr);
}

int launch_check(struct launch *l, struct text *reterr)
{
    l->most = launch_flag(l, KEY_QUIET) ? MSG_ERROR : launch_flag(l, KEY_VERBOSE) ? MSG_DETAIL : MSG_INFO;
    return check_lock(l, reterr);
}

static OWN_FRAME void read_peak(struct launch *l, const char *path, struct text *warning)
{
    struct peak_summary sum;
    struct peak_file file;
    char reason[TEXT_LINE];
    TEXT_ON(why, reason);
    int r;

    r = peakfile_read(path, &file, &why);
    if (r < 0 && r != -ENOENT)
        text_join(warning, "peak file ", path, " ", why.at, "; it is left out", NULL);
    if (r < 0 || !peakfile_summary(&file, l->settings.value[KEY_SETTLE].number, &sum))
        return;
    l->in.recorded = (struct plan_peak){
        .present = true,
        .counts = sum.counts,
        .need = sum.need,
        .bound = sum.bound,
        .remaining = sum.remaining,
        .since = sum.since,
    };
}

int launch_limit(struct launch *l, struct text *warning, struct text *reterr)
{
    const char *path = launch_text(l, KEY_PEAK_FILE);
    int r;

    l->in = (struct plan_in){.nr_open = 0};
    r = sys_prlimit_nofile(0, NULL, &l->in.inherited);
    if (r < 0) {
        text_join(reterr, "can't read the nofile limit: ", err_text(-r), NULL);
        return r;
    }
    if (path && value_is(&l->settings.value[KEY_SOFT], WORD_PEAK))
        read_peak(l, path, warning);
    r = apply_settings(&l->settings, &l->in, 0, &l->plan, reterr);
    if (r == PLAN_NO_TARGET) /* what is there is what a lock keeps */
        l->plan = (struct plan){.inherited = l->in.inherited, .limit = l->in.inherited};
    return r;
}

int launch_lock(const struct launch *l, struct text *line, struct text *reterr)
{
    enum lock_mode mode = lock_mode(&l->settings.value[KEY_LOCK]);
    bool no_new_privs;
    int r;

    if (mode == LOCK_NO)
        return 0;
    r = lock_load(mode, &no_new_privs, reterr);
    if (r < 0)
        return r;
    if (no_new_privs)
        lock_explain_no_new_privs(line);
    return 0;
}
