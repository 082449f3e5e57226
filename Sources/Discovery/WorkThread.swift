internal import Glibc

/// A thread of its own for work that waits in system calls.
enum WorkThread {
    private final class Work {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }

    /// False when no thread can be made; the body is not called then.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        var attributes = pthread_attr_t()
        guard pthread_attr_init(&attributes) == 0 else { return false }
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, 512 * 1024)
        let argument = Unmanaged.passRetained(Work(body))
        var thread = pthread_t()
        let result = pthread_create(
            &thread, &attributes,
            { argument in
                // Signals belong to the program's own handlers.
                var signals = sigset_t()
                sigfillset(&signals)
                pthread_sigmask(SIG_BLOCK, &signals, nil)
                guard let argument else { return nil }
                Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, argument.toOpaque())
        guard result == 0 else {
            argument.release()
            return false
        }
        return true
    }
}

/// Nanoseconds of CLOCK_MONOTONIC.
enum MonotonicTime {
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Of this thread's own work: what the machine does meanwhile does not count.
    static var ofThread: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// A duration that an operator or a program chose: never negative, no more than an hour.
    static func nanoseconds(_ duration: Duration) -> UInt64 {
        let bounded = min(max(duration, .zero), .seconds(3600))
        return UInt64(bounded.components.seconds) * 1_000_000_000
            + UInt64(bounded.components.attoseconds / 1_000_000_000)
    }

    /// For `poll`: until then, at least 0 and at most a minute.
    static func milliseconds(until deadline: UInt64, from now: UInt64) -> Int32 {
        guard deadline > now else { return 0 }
        return Int32(min((deadline - now) / 1_000_000 + 1, 60_000))
    }
}
