import Foundation

/// The ffmpeg of this machine, run in a directory that goes with it: an implementation that is not ours.
public final class ForeignFFmpeg {
    public struct Failure: Error {
        public let message: String
    }

    public let directory: String
    private let program: String

    /// The FFmpeg 7 that `make test` gets from PyPI (`WATCHBOX_FFMPEG7`), for what this machine's may be too old for; nil: it is not here.
    public static let newer: String? = ProcessInfo.processInfo.environment["WATCHBOX_FFMPEG7"].flatMap {
        FileManager.default.isExecutableFile(atPath: $0) ? $0 : nil
    }

    /// - Parameter program: another than this machine's.
    /// - Throws: when there is no ffmpeg; see ``ForeignEncoders`` for what tests are skipped by.
    public init(_ program: String? = nil) throws {
        let candidates = program.map { [$0] } ?? ["/usr/bin/ffmpeg", "/usr/local/bin/ffmpeg"]
        guard let found = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
            throw Failure(message: "there is no ffmpeg")
        }
        self.program = found
        directory = NSTemporaryDirectory() + "watchbox-ffmpeg-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    public func path(_ name: String) -> String { "\(directory)/\(name)" }

    public func write(_ bytes: [UInt8], _ name: String) throws { try Data(bytes).write(to: URL(filePath: path(name))) }

    public func read(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path(name)))) }

    /// Runs it in the directory and waits for its end.
    ///
    /// - Returns: what it wrote to standard output and to standard error, whatever its exit status was.
    @discardableResult
    public func run(_ arguments: [String]) throws -> (output: String, errors: String) {
        // Files, not pipes: neither side can block on the other.
        let name = UUID().uuidString
        let files = [path("\(name).out"), path("\(name).err")]
        for file in files { try Data().write(to: URL(filePath: file)) }
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = ["-hide_banner", "-nostdin", "-y"] + arguments
        process.currentDirectoryURL = URL(filePath: directory)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: URL(filePath: files[0]))
        process.standardError = try FileHandle(forWritingTo: URL(filePath: files[1]))
        try process.run()
        process.waitUntilExit()
        defer { for file in files { try? FileManager.default.removeItem(atPath: file) } }
        let texts = try files.map { String(decoding: try Data(contentsOf: URL(filePath: $0)), as: UTF8.self) }
        return (texts[0], texts[1])
    }

    /// Makes a file, and throws what ffmpeg says when it does not.
    public func make(_ name: String, _ arguments: [String]) throws -> [UInt8] {
        let errors = try run(["-v", "error"] + arguments + [path(name)]).errors
        guard let bytes = try? read(name), !bytes.isEmpty else { throw Failure(message: errors) }
        return bytes
    }
}
