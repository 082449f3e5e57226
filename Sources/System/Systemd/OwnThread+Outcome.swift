internal import Platform

extension OwnThread {
    /// The outcome of `body`, which ran on a thread of its own.
    static func run<T: Sendable>(
        _ body: @escaping @Sendable () throws(SystemdError) -> T
    ) async throws(SystemdError) -> T {
        guard let outcome = await result(body) else { throw .unavailable("no thread can be made") }
        return try outcome.get()
    }
}
