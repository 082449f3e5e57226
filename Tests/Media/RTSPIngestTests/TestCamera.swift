import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

/// A camera of Tests/Rigs/rtsp: a process of its own on a free port.
final class TestCamera: @unchecked Sendable {
    // `Process` is used from one task at a time.
    private let process = Process()
    private let input = Pipe()
    /// What it printed, line by line.
    let lines = Watched<[String]>([])
    private(set) var port: UInt16 = 0
    private let hasTurn = Atomic(false)

    static let rigs = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("Rigs")
    static let python = "/usr/bin/python3"
    static let hasPython = FileManager.default.isExecutableFile(atPath: python)

    /// Debian's python3-gi and gst-rtsp-server.
    static let hasGStreamer: Bool = {
        guard hasMedia else { return false }
        let program = "import gi; gi.require_version('GstRtspServer', '1.0'); from gi.repository import GstRtspServer"
        return run(python, ["-c", program]) == 0
    }()

    static let hasGStreamerLibav =
        hasGStreamer
        && run(
            python,
            [
                "-c",
                "import gi, sys; gi.require_version('Gst', '1.0'); from gi.repository import Gst; Gst.init(None); "
                    + "sys.exit(Gst.ElementFactory.find('avenc_g726') is None)",
            ]) == 0

    /// What cameras send, made once; nil when it could not be made, which fails the tests that want it.
    static let media = MadeFiles { place in
        run("/bin/bash", [rigs.appendingPathComponent("rtsp/make-media").path, place.url.path]) == 0
    }

    /// Is there what `make-media` needs? Whether it succeeds is for the tests to say.
    static let hasMedia = hasPython && ForeignEncoders.has("libx264", "libx265", "aac", "mjpeg")

    /// Frames of several hundred kilobytes and AAC, made once; nil when they could not be made.
    static let largeMedia = MadeFiles { place in
        run("/bin/bash", [rigs.appendingPathComponent("rtsp/make-media").path, "--large", place.url.path]) == 0
    }

    /// JPEG images of 320x240: the left half red, the right half blue, with noise. Made once; nil when they could not
    /// be made, which fails the tests that want them.
    static let frames = MadeFiles { place in
        let arguments = [
            "-v", "error", "-nostdin", "-f", "lavfi", "-i", "color=red:size=160x240:rate=10", "-f", "lavfi", "-i",
            "color=blue:size=160x240:rate=10", "-filter_complex", "hstack,noise=alls=6:allf=t", "-frames:v", "8",
            "-pix_fmt", "yuvj420p", place.path("%02d.jpg"),
        ]
        return run("/usr/bin/ffmpeg", arguments) == 0
    }

    /// Is there what `frames` needs?
    static let hasFrames = hasPython && ForeignEncoders.has("mjpeg")

    static func run(_ program: String, _ arguments: [String]) -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch { return -1 }
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// For a camera that ends and comes back: a port that is not given to another meanwhile.
    static func stayingPort() throws -> [String] { ["--port", "\(try FreePort.take())"] }

    /// One that misbehaves as the query of the URL says.
    ///
    /// - Parameter earlier: a camera that has ended, and kept its turn for this one.
    static func quirky(_ arguments: [String] = [], after earlier: TestCamera? = nil) async throws -> TestCamera {
        let media = try #require(await media.place)
        let files = ["h264.h264", "h265.h265", "second.h264"].map { media.path($0) }
        return try await TestCamera("rtsp/quirk-camera.py", arguments + files, after: earlier)
    }

    /// The same camera with the large frames, and audio with `audio=aac`.
    static func large() async throws -> TestCamera {
        let media = try #require(await largeMedia.place)
        let files = ["large.h264", "large.h265"].map { media.path($0) }
        return try await TestCamera("rtsp/quirk-camera.py", ["--aac", media.path("large.aac")] + files)
    }

    static func wellBehaved(_ arguments: [String] = [], after earlier: TestCamera? = nil) async throws -> TestCamera {
        let media = try #require(await media.place)
        return try await TestCamera(
            "rtsp/gst-rtsp-server.py",
            ["--h264", media.path("h264.mp4"), "--h265", media.path("h265.mp4")] + arguments,
            after: earlier)
    }

    /// One that sends JPEG images over HTTP, and misbehaves as the query of the URL says.
    static func overHTTP(_ arguments: [String] = [], after earlier: TestCamera? = nil) async throws -> TestCamera {
        let frames = try #require(await frames.place)
        return try await TestCamera("rtsp/http-camera.py", arguments + [frames.url.path], after: earlier)
    }

    /// The ONVIF side of a camera; its streams are at the given address.
    static func device(rtsp: String, _ arguments: [String] = []) async throws -> TestCamera {
        try await TestCamera("onvif/onvif-camera.py", ["--rtsp", rtsp] + arguments)
    }

    var serviceURL: String { "http://127.0.0.1:\(port)/onvif/device_service" }

    init(_ script: String, _ arguments: [String], after earlier: TestCamera? = nil) async throws {
        // Those of ONVIF work little, and a test that has a camera may want one of them beside it.
        let isStream = script.hasPrefix("rtsp/")
        if isStream {
            if earlier?.hasTurn.exchange(false, ordering: .relaxed) != true { await Turns.shared.take() }
            hasTurn.store(true, ordering: .relaxed)
        }
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: Self.python)
        process.arguments = [Self.rigs.appendingPathComponent(script).path] + arguments
        process.arguments? += isStream ? ["--until-eof"] : []
        // Its end is the camera's as well, should this process not live to end it.
        process.standardInput = isStream ? input : FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let lines = lines
        let descriptor = output.fileHandleForReading.fileDescriptor
        let thread = Thread {
            withExtendedLifetime(output) {
                var rest = ""
                var buffer = [UInt8](repeating: 0, count: 4096)
                while true {
                    let count = read(descriptor, &buffer, buffer.count)
                    guard count > 0 else { break }
                    rest += String(decoding: buffer[0..<count], as: UTF8.self)
                    var whole = rest.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
                    rest = whole.removeLast()
                    let found = whole
                    if !found.isEmpty { lines.change { $0 += found } }
                }
                lines.change { $0.append("END") }
            }
        }
        thread.start()
        let known = try await lines.wait("\(script) to listen") { $0.contains { $0.hasPrefix("READY") || $0 == "END" } }
        let ready = try #require(known.first { $0.hasPrefix("READY") }, "\(script) did not start")
        port = try #require(ready.split(separator: " ").dropFirst().first.flatMap { UInt16($0) })
    }

    func url(_ query: String) -> String { "rtsp://127.0.0.1:\(port)/cam?\(query)" }
    /// Of a camera that sends frames over HTTP.
    func web(_ path: String, scheme: String = "http") -> String { "\(scheme)://127.0.0.1:\(port)\(path)" }
    func url(path: String) -> String { "rtsp://127.0.0.1:\(port)\(path)" }

    /// What the quirk camera said of connections that ended.
    struct Connection: Decodable, Sendable {
        var methods: [String]?
        var reports: Int?
        var agent: String?
        var algorithm: String?
        var basic: Bool?
        var refusals: Int?
        var paths: [String]?
        var logins: [String]?
        var frames: Int?
        var expired: Bool?
        var transport: String?
        var error: String?
    }

    static func connections(_ lines: [String]) -> [Connection] {
        lines.compactMap { try? JSONDecoder().decode(Connection.self, from: Data($0.utf8)) }
    }

    func connection(_ what: String, where isIt: @escaping @Sendable (Connection) -> Bool) async throws -> Connection {
        let lines = try await lines.wait(what) { Self.connections($0).contains(where: isIt) }
        return try #require(Self.connections(lines).first(where: isIt))
    }

    /// As a power cut would.
    ///
    /// - Parameter keepsTurn: for a camera that follows it.
    func end(keepsTurn: Bool = false) {
        if process.isRunning {
            kill(process.processIdentifier, SIGKILL)
            // Until then its port is taken.
            process.waitUntilExit()
        }
        if !keepsTurn, hasTurn.exchange(false, ordering: .relaxed) { Turns.shared.giveBack() }
    }

    deinit { end() }
}

/// So many cameras at once: more would be slow on a machine with two processors, and slow ones look frozen.
final class Turns: Sendable {
    static let shared = Turns(6)

    private struct State {
        var left: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(_ count: Int) { state = Mutex(State(left: count)) }

    func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.left > 0 {
                    state.left -= 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    func giveBack() {
        let next: CheckedContinuation<Void, Never>? = state.withLock { state in
            if state.waiting.isEmpty {
                state.left += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
