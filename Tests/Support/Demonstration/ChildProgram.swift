package import Foundation
import Synchronization

/// One of our programs, started as a person would start it; what it prints as JSON lines can be waited for.
///
/// `@unchecked Sendable`: `process` is started once and then only asked for its state; everything that changes is
/// behind the mutex.
package final class ChildProgram: @unchecked Sendable {
    private struct Output {
        var lines: [String] = []
        var unfinished = Data()
        var hasEnded = false
    }

    package let name: String
    private let process = Process()
    private let output = Mutex(Output())
    private let timeout: Duration

    /// - Parameters:
    ///   - log: takes the program's standard error.
    ///   - timeout: how long it may take to end when it is asked to. Our own programs have things to say at their end, on
    ///     a machine that may be busy; some third-party ones get no SIGTERM, because a child begins with its parent's mask.
    package init(
        name: String, program: URL, arguments: [String], log: URL, timeout: Duration = .seconds(30)
    ) throws {
        self.name = name
        self.timeout = timeout
        let standardOutput = Pipe()
        try Data().write(to: log)
        process.executableURL = program
        process.arguments = arguments
        process.standardError = try FileHandle(forWritingTo: log)
        process.standardOutput = standardOutput
        process.standardInput = FileHandle.nullDevice
        standardOutput.fileHandleForReading.readabilityHandler = { [weak self] handle in
            let data = handle.availableData
            if data.isEmpty { handle.readabilityHandler = nil }
            self?.received(data)
        }
        try process.run()
    }

    /// What it printed so far, whole lines.
    package var lines: [String] { output.withLock { $0.lines } }

    /// For signals: it was started here.
    package var processIdentifier: Int32 { process.processIdentifier }

    /// Nil while it runs.
    package var exitStatus: Int32? { process.isRunning ? nil : process.terminationStatus }

    /// The first line for which `match` gives a value; nil when the program ends, or `limit` passes, without one.
    package func line<Value>(within limit: Duration, where match: (String) -> Value?) async -> Value? {
        let deadline = ContinuousClock.now + limit
        while true {
            let (lines, hasEnded) = output.withLock { ($0.lines, $0.hasEnded) }
            if let found = lines.lazy.compactMap(match).first { return found }
            guard !hasEnded, ContinuousClock.now < deadline else { return nil }
            try? await Task.sleep(for: .milliseconds(10))
        }
    }

    /// The exit status, with all in `lines` that it printed; nil when it still ran after `limit`.
    package func ended(within limit: Duration) async -> Int32? {
        await wait(until: ContinuousClock.now + limit) { !process.isRunning }
        guard let status = exitStatus else { return nil }
        // What it printed last may come after its end. A child of its own may hold the pipe open for longer.
        await wait(until: ContinuousClock.now + .seconds(5)) { output.withLock { $0.hasEnded } }
        return status
    }

    /// Asks it to end, and makes it end when it does not.
    package func stop() async {
        if process.isRunning {
            process.terminate()
            if await ended(within: timeout) == nil { kill(process.processIdentifier, SIGKILL) }
        }
        _ = await ended(within: .seconds(5))
    }

    private func wait(until deadline: ContinuousClock.Instant, for condition: () -> Bool) async {
        while !condition(), ContinuousClock.now < deadline {
            try? await Task.sleep(for: .milliseconds(10))
        }
    }

    private func received(_ data: Data) {
        output.withLock { output in
            guard !data.isEmpty else {
                output.hasEnded = true
                return
            }
            output.unfinished.append(data)
            while let end = output.unfinished.firstIndex(of: UInt8(ascii: "\n")) {
                output.lines.append(String(decoding: output.unfinished[..<end], as: UTF8.self))
                output.unfinished = Data(output.unfinished[(end + 1)...])
            }
        }
    }
}
