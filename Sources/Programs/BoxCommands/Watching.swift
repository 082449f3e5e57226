import Console

/// Shows something again and again, over restarts of the daemon.
enum Watching {
    /// - Parameter count: end after so many times; a failure then ends it as well.
    static func again(
        every pause: Duration, count: Int? = nil, _ output: OutputOptions,
        _ show: (_ isAgain: Bool) async throws -> Void
    ) async throws {
        var shown = 0
        while true {
            do {
                try await show(shown > 0)
            } catch let failure as CommandFailure {
                guard count == nil, isPassing(failure) else { throw failure }
                clear(shown > 0, output)
                report(failure, output)
            }
            shown += 1
            if let count, shown >= count { return }
            try await Task.sleep(for: pause)
        }
    }

    /// A daemon that restarts; a refusal is an answer.
    static func isPassing(_ failure: CommandFailure) -> Bool {
        failure.status == .daemonUnreachable || failure.status == .failed
    }

    /// The next screen, for people.
    static func clear(_ isAgain: Bool, _ output: OutputOptions) {
        if isAgain, output.chosen == .table { StandardOutput.clear() }
    }

    private static func report(_ failure: CommandFailure, _ output: OutputOptions) {
        let line = "\(failure.what): \(failure.why); asked again".terminalSafe
        output.chosen == .table ? StandardOutput.writeLine(line) : StandardError.writeLine(line)
    }
}
