import Foundation
import Testing

/// ffmpeg and ffprobe, as independent tools to make and check files.
enum Tool {
    static let reason: Comment = "ffmpeg and ffprobe are not installed (Debian package ffmpeg)"
    static let areInstalled = path("ffmpeg") != nil && path("ffprobe") != nil

    struct Failed: Error, CustomStringConvertible {
        var description: String
    }

    static func path(_ name: String) -> String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
        return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Runs a tool to its end; returns what it printed.
    static func run(_ name: String, _ arguments: [String]) throws -> (output: String, errors: String, status: Int32) {
        guard let path = path(name) else { throw Failed(description: "\(name) is not installed") }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        // Files, not pipes: nothing has to read while the tool runs.
        let output = Scratch.path("output")
        let errors = Scratch.path("errors")
        for file in [output, errors] { _ = FileManager.default.createFile(atPath: file, contents: nil) }
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: errors))
        try process.run()
        process.waitUntilExit()
        defer { for file in [output, errors] { try? FileManager.default.removeItem(atPath: file) } }
        return (
            try String(contentsOfFile: output, encoding: .utf8), try String(contentsOfFile: errors, encoding: .utf8),
            process.terminationStatus
        )
    }

    /// Makes a file with ffmpeg; throws with its output on failure.
    static func make(_ arguments: [String], _ file: String) throws {
        let result = try run("ffmpeg", ["-v", "error", "-y"] + arguments + [file])
        guard result.status == 0 else { throw Failed(description: result.errors) }
    }

    /// Decodes a whole file with ffmpeg; returns its complaints, none for an audio file.
    static func complaints(_ file: String) throws -> String {
        let result = try run("ffmpeg", ["-v", "warning", "-xerror", "-i", file, "-f", "null", "-"])
        return result.status == 0 ? result.errors : "exit \(result.status): \(result.errors)"
    }

    /// Frames that ffprobe decodes from the first stream of a kind, "v" or "a".
    static func frameCount(_ file: String, _ kind: String) throws -> Int {
        let result = try run(
            "ffprobe",
            [
                "-v", "error", "-count_frames", "-select_streams", "\(kind):0", "-show_entries",
                "stream=nb_read_frames", "-of", "csv=p=0", file,
            ])
        let lines = result.output.split(whereSeparator: { !$0.isNumber })
        return lines.first.flatMap { Int($0) } ?? 0
    }

    /// An encoded packet as ffprobe lists it.
    struct Packet: Equatable {
        var pts: Double
        var dts: Double
        var isKeyFrame: Bool
        /// MD5, in hexadecimal.
        var hash: String
    }

    static func packets(_ file: String, _ kind: String) throws -> [Packet] {
        let result = try run(
            "ffprobe",
            [
                "-v", "error", "-select_streams", "\(kind):0", "-show_packets", "-show_data_hash", "md5",
                "-show_entries", "packet=pts_time,dts_time,flags,data_hash", "-of", "json", file,
            ])
        struct Listing: Decodable {
            struct Entry: Decodable {
                var pts_time: String?
                var dts_time: String?
                var flags: String
                var data_hash: String
            }
            var packets: [Entry]
        }
        let listing = try JSONDecoder().decode(Listing.self, from: Data(result.output.utf8))
        return listing.packets.map {
            Packet(
                pts: $0.pts_time.flatMap(Double.init) ?? .nan, dts: $0.dts_time.flatMap(Double.init) ?? .nan,
                isKeyFrame: $0.flags.contains("K"), hash: String($0.data_hash.dropFirst(4)))
        }
    }
}

/// Files of this run of the tests, gone with the next cleaning of the temporary directory.
enum Scratch {
    static let folder: String = {
        let path = NSTemporaryDirectory() + "watchbox-media-\(ProcessInfo.processInfo.processIdentifier)"
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(atPath: Scratch.folder) }
        return path
    }()

    /// A new name; nothing is there yet.
    static func path(_ name: String) -> String { "\(folder)/\(UUID().uuidString)-\(name)" }

    static func write(_ bytes: [UInt8], _ name: String) throws -> String {
        let path = path(name)
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        return path
    }

    static func read(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }
}
