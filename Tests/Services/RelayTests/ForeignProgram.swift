import ChannelTestSupport
import Foundation
import Glibc
import NIOCore

/// A program of this machine that speaks RTMP and is not ours.
final class ForeignProgram: @unchecked Sendable {
    // `Process` is used from one task at a time; what its handlers touch is locked.
    private let process = Process()
    private let ended = EventLog<Int32>()
    private let errors: URL

    static func path(_ name: String) -> String? {
        ["/usr/bin/", "/usr/local/bin/"].map { $0 + name }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Nil when the program is not installed.
    init?(_ name: String, _ arguments: [String], in directory: TemporaryDirectory) throws {
        guard let path = Self.path(name) else { return nil }
        errors = directory.url.appendingPathComponent("\(UUID().uuidString).log")
        try Data().write(to: errors)
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: errors)
        let ended = self.ended
        process.terminationHandler = { ended.add($0.terminationStatus) }
        try process.run()
    }

    /// Its exit status.
    func end() async throws -> Int32 {
        do {
            return try await ended.next(within: .seconds(60)) { _ in true }
        } catch {
            Glibc.kill(process.processIdentifier, SIGKILL)
            throw error
        }
    }

    /// As a power cut would. SIGTERM is no use: the child inherits the signal mask of a worker thread, which blocks it.
    func kill() async throws {
        if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) }
        _ = try await ended.next(within: .seconds(60)) { _ in true }
    }

    var output: String { (try? String(contentsOf: errors, encoding: .utf8)) ?? "" }
}

/// Removed with everything in it at the end.
final class TemporaryDirectory: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("relay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    func bytes(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: url.appendingPathComponent(name))) }
}
