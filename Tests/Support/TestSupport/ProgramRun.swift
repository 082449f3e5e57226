import Foundation

/// A program of this package, run to its end.
package struct ProgramRun: Sendable {
    /// As it exited; of one that a signal ended, the signal's number below zero.
    package var status: Int32
    /// Standard output.
    package var bytes: [UInt8]
    package var errors: String

    /// Standard output as text.
    package var output: String { String(decoding: bytes, as: UTF8.self) }

    /// - Parameters:
    ///   - directory: where it runs.
    ///   - variables: in addition to this process's, without what a person who runs tests has set for themselves.
    package init(
        _ program: String, _ arguments: [String], in directory: String, variables: [String: String] = [:]
    ) async throws {
        let process = Process()
        process.executableURL = URL(filePath: BuiltProgram.path(program))
        process.arguments = arguments
        process.currentDirectoryURL = URL(filePath: directory)
        var environment = ProcessInfo.processInfo.environment
        for name in ["COLUMNS", "WATCHBOX_HOST"] { environment[name] = nil }
        process.environment = environment.merging(variables) { $1 }
        // Files beside the directory, not pipes: neither side can block on the other.
        let files = ["out", "err"].map { "\(directory).\(UUID().uuidString).\($0)" }
        defer { for file in files { try? FileManager.default.removeItem(atPath: file) } }
        for file in files { try Data().write(to: URL(filePath: file)) }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: URL(filePath: files[0]))
        process.standardError = try FileHandle(forWritingTo: URL(filePath: files[1]))
        let (ends, continuation) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingOldest(1))
        process.terminationHandler = {
            // A trap is signal 4 or 5: as it stands that looks like an exit status of ours.
            let status = $0.terminationStatus
            continuation.yield($0.terminationReason == .uncaughtSignal ? -status : status)
        }
        try process.run()
        var iterator = ends.makeAsyncIterator()
        status = await iterator.next() ?? -1
        bytes = Array(try Data(contentsOf: URL(filePath: files[0])))
        errors = String(decoding: try Data(contentsOf: URL(filePath: files[1])), as: UTF8.self)
    }
}
