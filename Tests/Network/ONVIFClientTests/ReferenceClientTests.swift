import Foundation
import ONVIF
import ONVIFClient
import Testing

/// PyPI's onvif-zeep-async reads the simulated camera by ONVIF's own WSDL and schema: what passes here is ONVIF, and not
/// only what we take for it.
@Suite(
    .serialized,
    .enabled(
        if: ReferenceClient.interpreter != nil,
        "WATCHBOX_ONVIF_PYTHON names no Python that has onvif-zeep-async 4.3.0 (`make test` installs one)"),
    .timeLimit(.minutes(15)))
struct ReferenceClientTests {
    @Test func `the reference client reads everything that the simulated camera answers`() async throws {
        let camera = try await SimulatedCamera()
        defer { camera.stop() }
        let lines = try ReferenceClient.run(camera.port, ["--encoders", "--ptz", "--events"])
        #expect(lines.last == "PASS")
        #expect(lines.contains("device SimCo WB-1 SN1"))
        #expect(lines.contains("endpoint \(camera.endpoint)"))
        #expect(lines.contains("profile Profile_1 1920x1080 rtsp://127.0.0.1:8554/h264"))
        #expect(lines.contains("options 1920x1080 1280x720 640x360"))
        #expect(lines.contains("encoder VE1 2000"))
        #expect(lines.contains("presets 2 Door Gate"))
        #expect(lines.contains("position 0.25 -0.5"))
        #expect(lines.contains("event tns1:RuleEngine/CellMotionDetector/Motion"))
    }

    @Test(arguments: [["--skew", "3600"], ["--chunked", "--bom"], ["--kapow", "3"], ["--no-media2"]])
    func `it passes where it is known to pass`(_ options: [String]) async throws {
        let camera = try await SimulatedCamera(options)
        defer { camera.stop() }
        #expect(try ReferenceClient.run(camera.port, ["--adjust-time"]).last == "PASS")
    }

    /// So the simulator's faults are faults.
    @Test(arguments: [["--skew", "3600"], ["--auth", "digest"], ["--password", "another"]])
    func `it fails where it is known to fail`(_ options: [String]) async throws {
        let camera = try await SimulatedCamera(options)
        defer { camera.stop() }
        #expect(try ReferenceClient.run(camera.port, []).last?.hasPrefix("FAIL") == true)
    }
}

private enum ReferenceClient {
    static var interpreter: String? {
        let path = ProcessInfo.processInfo.environment["WATCHBOX_ONVIF_PYTHON"] ?? ""
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }

    static func run(_ port: UInt16, _ options: [String]) throws -> [String] {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: try #require(interpreter))
        let script = SimulatedCamera.rig.appending(path: "reference-client.py").path()
        process.arguments = [script, "127.0.0.1", String(port)] + options
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.split(separator: "\n").map(String.init)
    }
}
