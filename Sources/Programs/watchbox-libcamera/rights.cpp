#include "rights.h"

extern "C" {
#include "../../C/CSandbox/include/sandbox.h"
}

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

/// Libraries and their settings, and what the kernel and udev know of devices.
static const char *const readable[] = {"/usr", "/lib", "/lib64", "/etc", "/sys", "/run/udev", nullptr};
/// Which of them it may open is the unit's to say (DeviceAllow=).
static const char *const writable[] = {"/dev", nullptr};

void giveUpRights() {
    // When a unit's memory is at its end, this is ended before the process that seals frames. Before the kernel gives the file to root.
    int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file >= 0 && write(file, "1000", 4) < 0) fprintf(stderr, "watchbox-libcamera: /proc/self/oom_score_adj: %s\n", strerror(errno));
    if (file >= 0) close(file);
    int result = wb_process_harden();
    if (result >= 0) result = wb_landlock_enter_but(readable, writable);
    if (result < 0)
        fprintf(stderr, "watchbox-libcamera: not held by landlock (%s): it can read what its user can\n", strerror(-result));
}
