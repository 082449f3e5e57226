internal import Glibc

/// A thread for one piece of work that blocks and may hang (a bus, a card that does not answer, a name server that is
/// away), which must not hold up the cooperative pool; and for work that never ends beside others.
public enum OwnThread {
    private final class Work {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Room for what encodes and decodes.
    public static let codingStackBytes = 2 << 20

    /// Returns at once. False when no thread can be made; then `body` does not run.
    public static func start(stackBytes: Int = 512 << 10, _ body: @escaping @Sendable () -> Void) -> Bool {
        var attributes = pthread_attr_t()
        guard pthread_attr_init(&attributes) == 0 else { return false }
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, stackBytes)
        let argument = Unmanaged.passRetained(Work(body))
        var thread = pthread_t()
        let result = pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument else { return nil }
                // A signal belongs to the program's own handlers, and SIGPIPE from a dying connection to none.
                var signals = sigset_t()
                sigfillset(&signals)
                pthread_sigmask(SIG_BLOCK, &signals, nil)
                Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, argument.toOpaque())
        if result != 0 { argument.release() }
        return result == 0
    }

    /// What `body` gave; nil when no thread can be made. When `body` hangs, so does this: the caller sets the limit.
    public static func value<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value? {
        await withCheckedContinuation { continuation in
            if !start({ continuation.resume(returning: body()) }) { continuation.resume(returning: nil) }
        }
    }

    /// The same for work that may fail.
    public static func result<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async -> Result<Value, Failure>? {
        await value { Result(catching: body) }
    }
}
