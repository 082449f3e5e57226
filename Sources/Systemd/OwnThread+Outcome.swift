internal import Platform

extension OwnThread {
    /// The outcome of `body`, which ran on a thread of its own.
    static func run<T: Sendable>(
        _ body: @escaping @Sendable () throws(SystemdError) -> T
    ) async throws(SystemdError) -> T {
        let outcome: Result<T, SystemdError> = await withCheckedContinuation { continuation in
            let started = start {
                do throws(SystemdError) {
                    continuation.resume(returning: .success(try body()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
            if !started { continuation.resume(returning: .failure(.unavailable("no thread can be made"))) }
        }
        return try outcome.get()
    }
}
