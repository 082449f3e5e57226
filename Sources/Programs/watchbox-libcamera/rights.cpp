#include "rights.h"

extern "C" {
#include "../../C/CSandbox/include/sandbox.h"
}

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

/// Libraries and their settings, and what the kernel and udev know of devices.
static const char *const readable[] = {"/usr", "/lib", "/lib64", "/etc", "/sys", "/run/udev", nullptr};
/// Which of them it may open is the unit's to say (DeviceAllow=).
static const char *const writable[] = {"/dev", nullptr};

/// That this is the second start.
static const char *const mark = "WATCHBOX_LIBCAMERA_HELD";

void holdBack(char **arguments) {
    bool isHeld = getenv(mark) != nullptr;
    // When a unit's memory is at its end, this is ended before the process that seals frames. Before the kernel gives the file to root.
    int file = isHeld ? -1 : open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file >= 0 && write(file, "1000", 4) < 0) fprintf(stderr, "watchbox-libcamera: /proc/self/oom_score_adj: %s\n", strerror(errno));
    if (file >= 0) close(file);
    int result = wb_process_harden();
    if (isHeld) {
        unsetenv(mark);
        return;
    }
    if (result >= 0) result = wb_landlock_enter_but(readable, writable);
    if (result < 0) {
        fprintf(stderr, "watchbox-libcamera: not held by landlock (%s): it can read what its user can\n", strerror(-result));
        return;
    }
    setenv(mark, "1", 1);
    execv("/proc/self/exe", arguments);
    // Where it is not beneath /usr, as in a folder where it was built.
    fprintf(stderr, "watchbox-libcamera: it cannot start itself once more (%s), so landlock does not hold its libraries' own threads\n", strerror(errno));
    unsetenv(mark);
}
