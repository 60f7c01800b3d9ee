#include "launcher/init/caps.h"

#include "base/err.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CAP_BIT(cap) (UINT64_C(1) << (cap))

/* To signal and reap under any uid, to read what a process of another user has open, and to set its limit. */
static const uint64_t needed = CAP_BIT(CAP_KILL) | CAP_BIT(CAP_SETUID) | CAP_BIT(CAP_SETGID) |
                               CAP_BIT(CAP_SYS_PTRACE) | CAP_BIT(CAP_DAC_OVERRIDE) |
                               CAP_BIT(CAP_SYS_RESOURCE);

static uint64_t join(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

int caps_get(struct caps *ret)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct half[_LINUX_CAPABILITY_U32S_3];

    if (syscall(SYS_capget, &header, half) < 0)
        return -errno;
    ret->effective = join(half[0].effective, half[1].effective);
    ret->permitted = join(half[0].permitted, half[1].permitted);
    ret->inheritable = join(half[0].inheritable, half[1].inheritable);
    return 0;
}

int caps_set(const struct caps *caps)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct half[_LINUX_CAPABILITY_U32S_3] = {
        {(uint32_t)caps->effective, (uint32_t)caps->permitted, (uint32_t)caps->inheritable},
        {(uint32_t)(caps->effective >> 32), (uint32_t)(caps->permitted >> 32),
         (uint32_t)(caps->inheritable >> 32)},
    };

    return syscall(SYS_capset, &header, half) < 0 ? -errno : 0;
}

int caps_drop(bool clamps)
{
    struct caps caps;
    int r = caps_get(&caps);

    if (r < 0)
        return r;
    if (!clamps || (caps.effective & CAP_BIT(CAP_SYS_PTRACE)))
        caps.permitted &= needed;
    caps.effective &= needed;
    caps.inheritable = 0; /* nothing is executed any more */
    return caps_set(&caps);
}

int caps_raise(void)
{
    struct caps caps;
    int r = caps_get(&caps);

    if (r < 0)
        return r;
    caps.effective = caps.permitted;
    return caps_set(&caps);
}
