import Foundation
import Glibc
import Testing

/// A process of its own that writes to a store: `MemoryWriter`, which the build puts beside the tests.
final class WriterProcess {
    static let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "MemoryWriter").path

    private let process = Process()
    private let output = Pipe()
    private var rest = Data()
    /// The last step that it said it had made; nil: none.
    private(set) var acknowledged: Int?

    init(path: String, first: Int, last: Int) throws {
        process.executableURL = URL(filePath: Self.program)
        process.arguments = [path, "\(first)", "\(last)"]
        process.standardOutput = output
        try process.run()
    }

    /// Reads until step `number` was said, or the process has ended.
    func wait(for number: Int) {
        while acknowledged ?? 0 < number, read() {}
    }

    /// Kills it wherever it is, and reads what it had said until then.
    func kill() {
        if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) }
        while read() {}
        process.waitUntilExit()
    }

    private func read() -> Bool {
        let data = output.fileHandleForReading.availableData
        guard !data.isEmpty else { return false }
        rest += data
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
            rest = Data(rest[rest.index(after: end)...])
            guard let number = Int(line) else {
                Issue.record("the writer said: \(line)")
                continue
            }
            acknowledged = number
        }
        return true
    }

    /// Runs a command to its end.
    static func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }
}
