import Foundation
import HTTPClient
import Logging
import ONVIFClient
import Synchronization

/// `Tests/Rigs/onvif/onvif-camera.py` at a port of its own, and what it says of each request.
final class SimulatedCamera: Sendable {
    static let program = "/usr/bin/python3"
    static let isInstalled = FileManager.default.isExecutableFile(atPath: program)
    static let rig = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appending(path: "Rigs/onvif")

    /// One request, as the simulator prints it.
    struct Request: Decodable, Sendable {
        var op: String
        var path: String
        var ok: Bool
        var why: String
        var to: String
        var fault: String?
        var token: String?
        var name: String?
        var timeout: String?
        var pan: Double?
        var tilt: Double?
        var zoom: Double?
        var codec: String?
        var width: Int?
        var fps: Double?
        var kbps: Int?
        var gop: Int?
    }

    let port: UInt16
    let endpoint: String
    private let scheme: String
    private let process: Process
    /// What it prints, and what Python says when it fails.
    private let output: URL
    private let isStopped = Atomic(false)

    /// Returns when it listens.
    init(_ arguments: [String] = [], program: String = "onvif-camera.py") async throws {
        // A file, not a pipe: a line that was printed before an answer was sent is there when the answer is.
        output = FileManager.default.temporaryDirectory.appending(path: "watchbox-onvif-\(UUID().uuidString)")
        try Data().write(to: output)
        process = Process()
        process.executableURL = URL(filePath: Self.program)
        process.arguments = [Self.rig.appending(path: program).path()] + arguments
        let file = try FileHandle(forWritingTo: output)
        process.standardOutput = file
        process.standardError = file
        process.standardInput = FileHandle.nullDevice
        scheme = arguments.contains("--tls") ? "https" : "http"
        try process.run()
        while true {
            let lines = Self.lines(output)
            if let ready = lines.first?.split(separator: " "), ready.count == 3, let port = UInt16(ready[1]) {
                self.port = port
                endpoint = String(ready[2])
                return
            }
            guard process.isRunning else {
                throw Failure(message: lines.joined(separator: "\n"))
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    struct Failure: Error {
        let message: String
    }

    deinit { stop() }

    /// Ends it, as a camera whose cable is pulled.
    func stop() {
        // Once: the number may be another process's by then.
        guard !isStopped.exchange(true, ordering: .relaxed) else { return }
        kill(process.processIdentifier, SIGKILL)
        try? FileManager.default.removeItem(at: output)
    }

    var url: String { "\(scheme)://127.0.0.1:\(port)/onvif/device_service" }

    func access(user: String? = "admin", password: String? = "s3cret") -> ONVIFDevice.Access {
        ONVIFDevice.Access(url: url, user: user, password: password)
    }

    func device() -> ONVIFDevice { ONVIFDevice(access(), logger: .silent) }

    /// So far: all that were answered, and perhaps one more.
    var requests: [Request] {
        Self.lines(output).dropFirst().compactMap { try? JSONDecoder().decode(Request.self, from: Data($0.utf8)) }
    }

    var refused: [Request] { requests.filter { !$0.ok } }
    func requests(_ operation: String) -> [Request] { requests.filter { $0.op == operation } }

    /// Returns as soon as the requests so far are as described. The test's time limit bounds it.
    func wait(until isMet: ([Request]) -> Bool) async throws {
        while !isMet(requests) { try await Task.sleep(for: .milliseconds(10)) }
    }

    private static func lines(_ output: URL) -> [String] {
        guard let data = try? Data(contentsOf: output), let end = data.lastIndex(of: UInt8(ascii: "\n")) else {
            return []
        }
        return String(decoding: data[..<end], as: UTF8.self).split(separator: "\n").map(String.init)
    }
}

extension Logger {
    static var silent: Logger { Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }) }
}
