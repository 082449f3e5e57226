internal import Glibc

/// Descriptors that no connection gets, since the process itself needs one now and then. libdispatch looks at its threads in
/// /proc while there is more work than they can do, and ends a process that cannot open that.
enum DescriptorReserve {
    /// Our listeners accept up to 64 before they look again.
    private static let size: rlim_t = 96

    /// Whether so few are left. The kernel gives the lowest number that is free.
    static var isTouched: Bool {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return false }
        let next = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard next >= 0 else { return errno == EMFILE || errno == ENFILE }
        close(next)
        return rlim_t(next) + min(size, limit.rlim_cur / 2) >= limit.rlim_cur
    }
}
