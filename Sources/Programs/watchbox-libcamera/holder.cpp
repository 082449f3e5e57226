#include "holder.h"

#include <fcntl.h>
#include <glob.h>
#include <libcamera/base/unique_fd.h>
#include <set>

pid_t holderOfMediaDevice() {
    std::set<pid_t> holders;
    glob_t paths = {};
    glob("/dev/media*", 0, nullptr, &paths);
    for (size_t index = 0; index < paths.gl_pathc; index++) {
        libcamera::UniqueFD device(open(paths.gl_pathv[index], O_RDONLY | O_CLOEXEC));
        struct flock lock = {};
        lock.l_type = F_WRLCK;
        lock.l_whence = SEEK_SET;
        if (!device.isValid() || fcntl(device.get(), F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) continue;
        // 0 or -1: a process of another container.
        if (lock.l_pid > 0) holders.insert(lock.l_pid);
    }
    globfree(&paths);
    return holders.size() == 1 ? *holders.begin() : 0;
}
