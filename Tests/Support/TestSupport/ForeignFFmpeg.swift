import Foundation

/// The ffmpeg of this machine, run in a directory that goes with it: an implementation that is not ours.
public final class ForeignFFmpeg {
    public struct Failure: Error {
        public let message: String
    }

    public let directory: String

    /// - Throws: when there is no ffmpeg; see ``ForeignEncoders`` for what tests are skipped by.
    public init() throws {
        directory = NSTemporaryDirectory() + "watchbox-ffmpeg-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    public func path(_ name: String) -> String { "\(directory)/\(name)" }

    public func write(_ bytes: [UInt8], _ name: String) throws { try Data(bytes).write(to: URL(filePath: path(name))) }

    public func read(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path(name)))) }

    /// The first number of `ffmpeg -version`.
    public static let majorVersion: Int = {
        let text = (try? ForeignFFmpeg().run(["-version"]).output) ?? ""
        let version = text.split(separator: " ").dropFirst(2).first ?? ""
        return Int(version.prefix { $0.isNumber }) ?? 0
    }()

    /// Runs it in the directory and waits for its end.
    ///
    /// - Returns: what it wrote to standard output and to standard error, whatever its exit status was.
    @discardableResult
    public func run(_ arguments: [String]) throws -> (output: String, errors: String) {
        let candidates = ["/usr/bin/ffmpeg", "/usr/local/bin/ffmpeg"]
        guard let program = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
            throw Failure(message: "there is no ffmpeg")
        }
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
