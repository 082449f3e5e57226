internal import Glibc

/// A core dump would hold every private key of the service.
enum CoreDumps {
    /// For the whole process and for good; false when the kernel refuses.
    static func forbid() -> Bool {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        return setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0
    }
}
