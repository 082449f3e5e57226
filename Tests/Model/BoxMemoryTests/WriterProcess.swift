import Foundation
import TestSupport
import Testing

/// A process of its own that writes to a store: `MemoryWriter`, which the build puts beside the tests.
final class WriterProcess {
    static let program = BuiltProgram.path("MemoryWriter")

    private let speaker: SpeakingProgram
    private let said = Said()

    private final class Said {
        var last: Int?
    }

    /// The last step that it said it had made; nil: none.
    var acknowledged: Int? { said.last }

    init(path: String, first: Int, last: Int) throws {
        speaker = try SpeakingProgram("MemoryWriter", [path, "\(first)", "\(last)"]) { [said] line in
            guard let number = Int(line) else {
                Issue.record("the writer said: \(line)")
                return
            }
            said.last = number
        }
    }

    /// Reads until step `number` was said, or the process has ended.
    func wait(for number: Int) {
        while acknowledged ?? 0 < number, speaker.listen() {}
    }

    /// Kills it wherever it is, and reads what it had said until then.
    func kill() { speaker.kill() }

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
