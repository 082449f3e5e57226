/// How long `body` took.
package func elapsed(_ body: () async throws -> Void) async rethrows -> Duration {
    let clock = ContinuousClock()
    let begin = clock.now
    try await body()
    return clock.now - begin
}
