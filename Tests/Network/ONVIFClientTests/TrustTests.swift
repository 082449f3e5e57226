import CameraModel
import Foundation
import HTTPClient
import ONVIF
import Testing

@testable import ONVIFClient

/// Cameras that speak TLS, with certificates of their own making.
@Suite(
    .serialized, .enabled(if: Certificate.isPossible, "python3 or openssl is not installed"), .timeLimit(.minutes(15)))
struct TrustTests {
    @Test(arguments: ["wsse", "digest"])
    func `the first certificate is trusted, and its pin learned before a login is sent`(_ scheme: String) async throws {
        let certificate = try Certificate()
        let camera = try await SimulatedCamera(["--auth", scheme, "--tls"] + certificate.files)
        defer { camera.stop() }
        let device = camera.device()
        let description = try await device.describe()
        #expect(description.device.profiles.count == 2)
        #expect(description.device.profiles.allSatisfy { $0.snapshotURL?.hasPrefix("https://") == true })
        #expect(device.learnedFacts.pin == certificate.pin)
        #expect(camera.requests.first?.why == "open")

        var access = camera.access()
        access.trust = .pinned(certificate.pin)
        #expect(try await ONVIFDevice(access, logger: .silent).describe().device.serial == "SN1")
    }

    @Test func `another certificate gets nothing`() async throws {
        let certificate = try Certificate()
        let camera = try await SimulatedCamera(["--tls"] + certificate.files)
        defer { camera.stop() }
        var access = camera.access()
        access.trust = .pinned(try Certificate().pin)
        let device = ONVIFDevice(access, logger: .silent)
        await #expect(throws: ONVIFError.certificateChanged(host: "127.0.0.1")) { try await device.describe() }
        #expect(camera.requests.isEmpty)
    }

    @Test func `a certificate that no CA vouches for is refused where that is required`() async throws {
        let certificate = try Certificate()
        let camera = try await SimulatedCamera(["--tls"] + certificate.files)
        defer { camera.stop() }
        var access = camera.access()
        access.trust = .system
        let device = ONVIFDevice(access, logger: .silent)
        let error = await #expect(throws: ONVIFError.self) { try await device.describe() }
        guard case .certificate? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `a pin is a promise of TLS`() async throws {
        let camera = try await SimulatedCamera()
        defer { camera.stop() }
        var access = camera.access()
        access.trust = .pinned(try Certificate().pin)
        let device = ONVIFDevice(access, logger: .silent)
        let error = ONVIFError.certificate(
            host: "127.0.0.1", reason: "a pin is known, and this address has no TLS")
        await #expect(throws: error) { try await device.describe() }
        #expect(camera.requests.isEmpty)
        for port: UInt16? in [nil, 80, 8000] {
            let urls = ONVIFDevice.urls(host: "192.0.2.7", port: port, trust: access.trust)
            #expect(!urls.isEmpty && urls.allSatisfy { $0.hasPrefix("https://") })
        }
    }

    @Test func `two servers behind one address, first met at the same time, are one too many`() throws {
        let device = ONVIFDevice(
            ONVIFDevice.Access(url: "https://192.0.2.7/onvif/device_service"), logger: .silent)
        var response = HTTPResponse(status: 200)
        response.pin = "sha256//" + String(repeating: "A", count: 43) + "="
        try device.learn(from: response, isEncrypted: true)
        try device.learn(from: response, isEncrypted: true)
        response.pin = "sha256//" + String(repeating: "B", count: 43) + "="
        #expect(throws: ONVIFError.certificateChanged(host: "192.0.2.7")) {
            try device.learn(from: response, isEncrypted: true)
        }
        #expect(device.learnedFacts.pin?.contains("B") == false)
    }

    @Test(arguments: [false, true])
    func `HTTP Basic is answered only where it is allowed`(_ isAllowed: Bool) async throws {
        let certificate = try Certificate()
        let camera = try await SimulatedCamera(["--auth", "basic", "--tls"] + certificate.files)
        defer { camera.stop() }
        var access = camera.access()
        access.allowsPlainPassword = isAllowed
        let device = ONVIFDevice(access, logger: .silent)
        if isAllowed {
            #expect(try await device.describe().device.serial == "SN1")
        } else {
            await #expect(throws: ONVIFError.self) { try await device.describe() }
        }
        #expect(camera.requests.contains { $0.why.hasSuffix("http:basic") } == isAllowed)
    }

    @Test(arguments: ["itself", "redirect", "status"])
    func `a camera that speaks TLS alone is found behind http`(_ way: String) async throws {
        let certificate = try Certificate()
        let camera = try await SimulatedCamera(["--tls"] + certificate.files)
        defer { camera.stop() }
        var access = camera.access()
        var web: SimulatedCamera?
        defer { web?.stop() }
        switch way {
        case "redirect":
            // Of its address, the port alone.
            let target = "https://192.0.2.99:\(camera.port)/"
            let server = try await SimulatedCamera(["--redirect", target], program: "web-server.py")
            access.url = server.url
            web = server
        case "status":
            let server = try await SimulatedCamera(["--status", "400"], program: "web-server.py")
            access.url = server.url
            web = server
        default: access.url = "http" + camera.url.dropFirst(5)
        }
        let device = ONVIFDevice(access, logger: .silent)
        guard way != "status" else {
            // Nothing behind it speaks TLS: it stays what it was.
            _ = try? await device.describe()
            #expect(device.learnedFacts.url == access.url)
            return
        }
        #expect(try await device.describe().device.serial == "SN1")
        #expect(device.learnedFacts.url == camera.url)
        #expect(device.learnedFacts.pin == certificate.pin)
    }
}

/// A key and a self-signed certificate that `openssl` makes, with the pin that `openssl` computes.
private final class Certificate {
    static let isPossible =
        SimulatedCamera.isInstalled && FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")

    let files: [String]
    let pin: String
    private let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "watchbox-onvif-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        files = ["certificate.pem", "key.pem"].map { [directory] in directory.appending(path: $0).path }
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = [
            "-c",
            """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=camera \
                -keyout "$1" -out "$0" 2>/dev/null &&
            openssl x509 -in "$0" -noout -pubkey | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary |
                openssl base64
            """, files[0], files[1],
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        pin = "sha256//" + text.prefix { !$0.isNewline }
    }

    deinit { try? FileManager.default.removeItem(at: directory) }
}
