internal import Synchronization

/// How long `body` took by a clock that stands still while this process does not get to run.
///
/// It counts pauses of ten milliseconds that end beside `body`. So a promise with a number, held at five times of it, means the same on a
/// machine that is busy, and under a sanitizer; and what waits too long is noticed all the same.
package func elapsed(_ body: () async throws -> Void) async rethrows -> Duration {
    let pause = Duration.milliseconds(10)
    let pauses = PauseCount()
    let counting = Task {
        while (try? await Task.sleep(for: pause)) != nil { pauses.add() }
    }
    defer { counting.cancel() }
    try await body()
    return pause * pauses.value
}

private final class PauseCount: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }

    func add() { count.wrappingAdd(1, ordering: .relaxed) }
}
