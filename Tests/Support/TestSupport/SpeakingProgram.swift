import Foundation
import Glibc

/// A program of this package that says in lines what it has done, until it is killed: for what must survive that.
package final class SpeakingProgram {
    private let process = Process()
    private let output = Pipe()
    private let heard: (String) -> Void
    private var rest = Data()

    /// - Parameter heard: each line that it says.
    package init(_ program: String, _ arguments: [String], heard: @escaping (String) -> Void) throws {
        self.heard = heard
        process.executableURL = URL(filePath: BuiltProgram.path(program))
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
    }

    /// Reads until something was said, or the process has ended.
    /// - Returns: false: it has ended.
    package func listen() -> Bool {
        let data = output.fileHandleForReading.availableData
        guard !data.isEmpty else { return false }
        rest += data
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            heard(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
            rest = Data(rest[rest.index(after: end)...])
        }
        return true
    }

    /// Kills it wherever it is, and reads what it had said until then.
    package func kill() {
        if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) }
        while listen() {}
        process.waitUntilExit()
    }
}
