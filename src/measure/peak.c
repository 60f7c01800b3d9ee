#include "measure/peak.h"

#include "base/dir.h"
#include "base/err.h"
#include "base/frame.h"
#include "base/num.h"
#include "base/sys.h"
#include "measure/tree.h"

#include <limits.h>
#include <string.h>

/* Flags of an entry. */
#define MEMBER     1   /* of the workload; counted in result.seen */
#define FOREIGN    2   /* put into the pid namespace from outside, or a child of such a process */
#define LOOK       4   /* new, or in a new class, or with more open than ever: look for its highest number */
#define THREADS    8   /* look at its threads too, in case that one has a table of its own */
#define SEVERAL    16  /* one has */
#define DENIED     32  /* its highest number may not be read */
#define SAID_NEAR  64  /* PEAK_NEAR_LIMIT was told */
#define SAID_LIMIT 128 /* PEAK_AT_LIMIT was told */
#define ENDED      256 /* a zombie leader, kept as its threads run on */

/* What may change without showing in FDSize or count (a lowered limit, a thread that left the common table)
 * is looked at in every so many ticks, each process in another one. */
#define STAGGER 64

/* Reading FDSize costs ten times what the count does, since the kernel makes the whole of /proc/PID/status
 * for it. So of many processes only about so many are read in one tick, each in its turn. FDSize never
 * shrinks: what it has to tell comes a few ticks later, unless the process has ended by then. */
#define SIZES_A_TICK 256

static uint32_t to_u32(uint64_t value)
{
    return (uint32_t)num_min(value, UINT32_MAX);
}

/* ---- the table of known processes: open addressing by pid, which leaves neighbours in one page ---- */

static uint32_t home_of(const struct peak_meter *m, pid_t pid)
{
    return (uint32_t)pid & (m->entries - 1);
}

static uint32_t next_slot(const struct peak_meter *m, uint32_t slot)
{
    return (slot + 1) & (m->entries - 1);
}

/* The entry of a pid, or the unused one where it would stand. */
static struct peak_entry *find(const struct peak_meter *m, pid_t pid)
{
    uint32_t slot = home_of(m, pid);

    while (m->entry[slot].pid != 0 && m->entry[slot].pid != pid)
        slot = next_slot(m, slot);
    return &m->entry[slot];
}

static bool is_full(const struct peak_meter *m)
{
    return m->used >= m->entries - m->entries / 8;
}

/* Empty a slot, and move those back that stand behind it only since it was taken. */
static void take_out(struct peak_meter *m, uint32_t hole)
{
    uint32_t mask = m->entries - 1;

    for (uint32_t slot = next_slot(m, hole); m->entry[slot].pid != 0; slot = next_slot(m, slot)) {
        uint32_t from_home = (slot - home_of(m, m->entry[slot].pid)) & mask;

        if (from_home < ((slot - hole) & mask))
            continue;
        m->entry[hole] = m->entry[slot];
        hole = slot;
    }
    memset(&m->entry[hole], 0, sizeof(m->entry[hole]));
    m->used--;
}

static void forget_the_ended(struct peak_meter *m)
{
    for (uint32_t slot = 0; m->used > m->met;)
        if (m->entry[slot].pid != 0 && m->entry[slot].tick != m->tick)
            take_out(m, slot); /* and look at the same slot again */
        else
            slot++;
}

/* ---- what one process adds to the result ---- */

static struct process_status status_of(const struct peak_entry *e)
{
    return (struct process_status){.size = e->size, .threads = e->threads, .zombie = e->flags & ENDED};
}

static void offer(struct peak_meter *m, pid_t pid, uint64_t need)
{
    struct peak_result *result = &m->result;

    if (need <= result->need)
        return;
    result->need = need;
    result->need_at = m->now;
    result->need_pid = pid;
    memset(&result->need_by, 0, sizeof(result->need_by));
    process_name(m->config.proc, pid, &result->need_by);
}

/* Look for the highest number, where a tick gives reason to. */
static void look(struct peak_meter *m, struct peak_entry *e)
{
    const struct process_status status = status_of(e);
    struct process_tables t;
    unsigned flags = e->flags & ~(unsigned)(LOOK | THREADS | DENIED);
    uint64_t rest;

    if (process_measure_tables(m->config.proc, e->pid, &status, e->flags & THREADS, &t) != 0)
        return;
    if (e->flags & THREADS)
        flags &= ~(unsigned)SEVERAL;
    flags |= (t.several ? SEVERAL : 0) | (t.exact ? 0 : DENIED);
    e->flags = (uint16_t)flags;
    e->size = to_u32(num_max(e->size, t.size));
    e->open = to_u32(t.open);
    e->most = to_u32(num_max(e->most, t.open));
    if (!t.exact)
        t.need = num_max(t.need, t.open);
    else if (t.need > m->result.need && process_is_script_slot(m->config.proc, e->pid, t.need, &rest))
        t.need = rest;
    offer(m, e->pid, t.need);
}

static void tell(const struct peak_meter *m, const struct peak_entry *e, enum peak_event_kind kind)
{
    struct peak_event event = {.kind = kind, .pid = e->pid, .open = e->open, .soft = e->soft};

    if (!m->config.notify)
        return;
    process_name(m->config.proc, e->pid, &event.name);
    m->config.notify(&event, m->config.data);
}

static bool is_near(const struct peak_meter *m, const struct peak_entry *e)
{
    return m->config.warn_at > 0 && e->soft != UINT64_MAX &&
           num_mul(e->open, 100) >= num_mul(e->soft, m->config.warn_at);
}

/* Judge the count by the soft limit. Programs raise theirs (Java, Go), so it is read anew before a word is
 * said. */
static void watch(struct peak_meter *m, struct peak_entry *e)
{
    bool near = is_near(m, e) && !(e->flags & SAID_NEAR);

    if ((e->flags & SAID_LIMIT) || (e->open < e->soft && !near))
        return;
    process_soft(m->config.proc, e->pid, &e->soft);
    if (e->open >= e->soft) {
        e->flags |= SAID_LIMIT | SAID_NEAR;
        m->result.at_limit++;
        tell(m, e, PEAK_AT_LIMIT);
    } else if (near && is_near(m, e)) {
        e->flags |= SAID_NEAR;
        tell(m, e, PEAK_NEAR_LIMIT);
    }
}

static void take_in(struct peak_meter *m, struct peak_entry *e)
{
    struct peak_result *result = &m->result;

    if (e->flags & (LOOK | THREADS))
        look(m, e);
    result->processes++;
    result->denied += (e->flags & DENIED) != 0;
    result->bound = num_max(result->bound, e->size);
    if (e->open > result->open || result->open_pid == 0) {
        result->open = e->open;
        result->open_pid = e->pid;
    }
    watch(m, e);
}

/* ---- which processes belong to the workload ---- */

static void make_member(struct peak_meter *m, struct peak_entry *e)
{
    if (!(e->flags & MEMBER))
        m->result.seen++;
    e->flags |= MEMBER;
}

/* Below PID 1 is every process of the namespace but those that were put into it from outside (a debug shell),
 * and their children: their ancestry ends at 0 without passing PID 1. Decided once: an orphan of such a shell
 * becomes a child of PID 1, and is still none of the workload's. A parent that is not in the table has just
 * ended, and the next tick tells; or the table is full, and then all are taken for members. */
static void resolve(struct peak_meter *m, struct peak_entry *e)
{
    const struct peak_entry *at = e;

    /* A pid that is used again while /proc is read could close a circle: no chain is longer than the table.
     */
    for (uint32_t steps = 0; at->pid != 0 && steps <= m->used; steps++) {
        if ((at->flags & FOREIGN) || (at->parent == 0 && !(at->flags & MEMBER))) {
            e->flags |= FOREIGN;
            return;
        }
        if ((at->flags & MEMBER) || at->parent == m->config.root) {
            make_member(m, e);
            return;
        }
        at = find(m, at->parent);
    }
    if (at->pid == 0 && is_full(m))
        make_member(m, e);
}

/* ---- the first pass of a tick: what is there ---- */

/* Is this still the process that the entry is about? A new inode alone may come from a dropped cache. */
static bool is_same(const struct peak_meter *m, struct peak_entry *e, uint64_t inode)
{
    uint64_t start;

    if (e->inode == inode)
        return true;
    if (process_start(m->config.proc, e->pid, &start) != 0 || start != e->start)
        return false;
    e->inode = inode;
    return true;
}

static void begin_entry(struct peak_meter *m, struct peak_entry *e, pid_t pid, uint64_t inode)
{
    if (e->pid == 0)
        m->used++;
    memset(e, 0, sizeof(*e));
    e->pid = pid;
    e->inode = inode;
    e->flags = LOOK | THREADS;
    e->soft = m->config.soft;
    process_start(m->config.proc, pid, &e->start);
    process_soft(m->config.proc, pid, &e->soft);
}

static void note(struct peak_meter *m, struct peak_entry *e, const struct process_status *status,
                 uint64_t count)
{
    uint16_t threads = (uint16_t)num_min(status->threads, UINT16_MAX);
    unsigned flags = e->flags & ~(unsigned)(ENDED);
    bool due = (m->tick + (uint32_t)e->pid) % STAGGER == 0;

    if (status->size > e->size || count > e->most)
        flags |= LOOK;
    if (threads != 1 && (threads != e->threads || due || status->zombie || (flags & SEVERAL)))
        flags |= THREADS;
    if (due)
        process_soft(m->config.proc, e->pid, &e->soft);
    if (status->zombie)
        flags |= ENDED;
    e->flags = (uint16_t)flags;
    e->parent = status->parent;
    e->threads = threads;
    e->size = to_u32(num_max(e->size, status->size));
    e->open = to_u32(count);
    e->most = to_u32(num_max(e->most, count));
    e->tick = m->tick;
    m->met++;
}

/* There is no entry left: the process is measured as if it were new, but looked at only when its table is
 * large enough to raise the peak. */
static void add_untracked(struct peak_meter *m, pid_t pid, const struct process_status *status,
                          uint64_t count, bool member)
{
    struct peak_entry passing = {.pid = pid, .flags = SAID_NEAR | SAID_LIMIT};
    const struct peak_entry *parent = find(m, status->parent);

    if (!member && (status->parent == 0 || (parent->flags & FOREIGN)))
        return;
    passing.size = to_u32(status->size);
    passing.open = to_u32(count);
    passing.threads = (uint16_t)num_min(status->threads, UINT16_MAX);
    passing.flags |= status->zombie ? ENDED | THREADS : 0;
    passing.flags |= status->size > m->result.need ? LOOK : 0;
    m->result.untracked++;
    take_in(m, &passing);
}

/* May a tick do with the count of a known process? Not when it is its turn, nor when the count is a record,
 * may be that of a zombie, or is not all of it. */
static bool is_count_enough(const struct peak_meter *m, struct peak_entry *e, uint64_t count, uint64_t inode)
{
    if (e->pid == 0 || !(e->flags & (MEMBER | FOREIGN)) || (e->flags & (SEVERAL | ENDED | DENIED)))
        return false;
    if (count == 0 || count > e->most || (m->tick + (uint32_t)e->pid) % m->result.sizes_every == 0)
        return false;
    return is_same(m, e, inode);
}

static void add_by_status(struct peak_meter *m, struct peak_entry *e, pid_t pid, bool member, uint64_t count,
                          uint64_t inode)
{
    struct process_status status;
    int r = process_status(m->config.proc, pid, &status);

    if (r == PROCESS_DENIED && member)
        m->result.denied++;
    if (r != 0 || (status.zombie && status.threads == 1))
        return;
    if (e->pid == 0 && is_full(m)) {
        add_untracked(m, pid, &status, count, member);
        return;
    }
    if (e->pid == 0 || !is_same(m, e, inode))
        begin_entry(m, e, pid, inode);
    if (member)
        make_member(m, e);
    note(m, e, &status, count);
}

/* Note one process; whether it belongs to the workload is found out later, unless it is a member for sure. */
static void add(struct peak_meter *m, pid_t pid, bool member)
{
    struct peak_entry *e = find(m, pid);
    uint64_t count = 0, inode = 0;
    int r;

    if (e->pid != 0 && e->tick == m->tick)
        return;
    r = process_open_count(m->config.proc, pid, 0, &count, &inode);
    if (r < 0 || r == PROCESS_GONE)
        return;
    if (is_count_enough(m, e, count, inode)) {
        e->open = to_u32(count);
        e->tick = m->tick;
        m->met++;
    } else {
        add_by_status(m, e, pid, member, count, inode);
    }
}

/* ---- the sample ---- */

static uint64_t thread_cpu(void)
{
    return sys_clock(CLOCK_THREAD_CPUTIME_ID);
}

int peak_meter_init(struct peak_meter *m, const struct peak_config *config, struct peak_entry *memory,
                    uint32_t entries)
{
    if (entries < 16 || entries > 65536 || (entries & (entries - 1)) != 0 || config->root < 0)
        return -EINVAL;
    memset(m, 0, sizeof(*m));
    m->config = *config;
    m->config.interval = num_max(config->interval, PEAK_INTERVAL_LEAST);
    m->entry = memory;
    m->entries = entries;
    m->result.interval = m->config.interval;
    m->result.sizes_every = 1;
    return 0;
}

void peak_meter_begin(struct peak_meter *m, uint64_t now)
{
    m->tick++;
    m->met = 0;
    m->now = now;
    m->cpu = thread_cpu();
    m->result.processes = 0;
    m->result.open = 0;
    m->result.open_pid = 0;
    m->result.denied = 0;
    m->result.untracked = 0;
}

void peak_meter_add(struct peak_meter *m, pid_t pid)
{
    add(m, pid, true);
}

/* A hundredth of a core: wait a hundred times as long as the sample took. */
static void set_due(struct peak_meter *m)
{
    uint64_t cost = thread_cpu() - m->cpu + m->carried;

    m->carried = 0;
    m->result.interval = num_max(m->config.interval, (num_mul(cost, 100) + 999999) / 1000000);
    m->result.widened = m->result.interval > m->config.interval ? m->result.widened + 1 : 0;
    m->due = m->now + m->result.interval;
}

static void end(struct peak_meter *m, bool listed)
{
    for (uint32_t slot = 0, left = m->met; left > 0; slot++) {
        struct peak_entry *e = &m->entry[slot];

        if (e->pid == 0 || e->tick != m->tick)
            continue;
        left--;
        if (!(e->flags & (MEMBER | FOREIGN)))
            resolve(m, e);
        if (e->flags & MEMBER)
            take_in(m, e);
    }
    m->result.sizes_every = 1 + (m->used > 0 ? m->used - 1 : 0) / SIZES_A_TICK;
    if (listed) {
        forget_the_ended(m);
        if (m->result.samples++ == 0)
            m->began = m->now;
        m->result.span = m->now - m->began;
    }
    set_due(m);
}

void peak_meter_end(struct peak_meter *m)
{
    end(m, true);
}

static void scan_entry(const char *name, void *data)
{
    struct peak_meter *m = data;
    uint64_t pid;

    if (num_parse(name, strlen(name), &pid) == 0 && pid <= INT_MAX && (pid_t)pid != m->config.root)
        add(m, (pid_t)pid, false);
}

static OWN_FRAME int add_tree(struct peak_meter *m)
{
    struct tree tree;
    int r = tree_list(m->config.proc, m->config.root, &tree);

    for (size_t i = 0; r >= 0 && i < tree.count; i++)
        add(m, tree.pid[i], true);
    return r < 0 ? r : 0;
}

int peak_meter_tick(struct peak_meter *m, uint64_t now)
{
    int r = 0;

    peak_meter_begin(m, now);
    if (m->config.root == 1)
        r = dir_each(m->config.proc, scan_entry, m);
    else if (m->config.root > 1)
        r = add_tree(m);
    end(m, r == 0);
    return r;
}

/* The need of one process if it is above `best`, else anything up to best. */
static uint64_t need_above(const struct peak_meter *m, const struct peak_entry *e, uint64_t best)
{
    const struct process_status status = status_of(e);
    struct process_tables tables;
    uint64_t need = best, rest;

    if (e->flags & (SEVERAL | ENDED)) {
        if (process_measure_tables(m->config.proc, e->pid, &status, true, &tables) == 0)
            need = tables.need;
    } else if (process_need(m->config.proc, e->pid, 0, e->size, best, &need) != 0) {
        return 0;
    }
    return need > best && process_is_script_slot(m->config.proc, e->pid, need, &rest) ? rest : need;
}

uint64_t peak_meter_current(struct peak_meter *m, uint64_t now)
{
    uint64_t began = thread_cpu(), best = 0;

    m->now = now;
    for (uint32_t slot = 0; slot < m->entries; slot++) {
        struct peak_entry *e = &m->entry[slot];
        uint64_t need;

        if (e->pid == 0 || !(e->flags & MEMBER) || e->size <= best)
            continue;
        need = need_above(m, e, best);
        offer(m, e->pid, need);
        best = num_max(best, need);
    }
    m->carried += thread_cpu() - began;
    return best;
}
