import Glibc

/// How many descriptors this process may have.
enum DescriptorLimit {
    /// As many as the system allows without asking anybody: shells begin with 1,024, a server's connections are more. In
    /// a unit both limits are those of `LimitNOFILE=`.
    static func raise() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
