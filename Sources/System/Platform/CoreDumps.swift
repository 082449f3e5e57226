internal import Glibc

/// A core dump would hold every key that a process has, and what it opened with them.
public enum CoreDumps {
    /// For the whole process and for good.
    ///
    /// - Returns: false when the kernel refuses.
    public static func forbid() -> Bool {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        return setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0
    }
}
