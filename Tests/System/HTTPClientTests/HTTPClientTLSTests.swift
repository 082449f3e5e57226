import Cryptography
import Foundation
import Testing

@testable import HTTPClient

/// Against `openssl s_server`, with certificates that `openssl req` makes.
@Suite(.timeLimit(.minutes(15)), .enabled(if: FileManager.default.isExecutableFile(atPath: TLSServer.program)))
struct HTTPClientTLSTests {
    private func failure(_ url: String, trusting file: String?) async -> HTTPClientError? {
        do throws(HTTPClientError) {
            _ = try await HTTPClient(configuration: .init(certificateAuthorityFile: file)).send(HTTPRequest(url: url))
            return nil
        } catch {
            return error
        }
    }

    @Test func `a certificate of the configured authority and the right name is accepted`() async throws {
        let server = try TLSServer(names: "DNS:localhost")
        defer { server.stop() }
        let client = HTTPClient(configuration: .init(certificateAuthorityFile: server.certificate))
        let response = try await client.send(HTTPRequest(url: "https://localhost:\(server.port)/"))
        #expect(response.status == 200)
    }

    @Test func `an unknown authority, a wrong name and an absent file are refused`() async throws {
        let server = try TLSServer(names: "DNS:kas.example.net")
        defer { server.stop() }
        let url = "https://localhost:\(server.port)/"
        for file in [nil, server.certificate, server.certificate + ".absent", "/dev/null"] {
            guard case .tlsFailed(let host, _) = await failure(url, trusting: file) else {
                Issue.record("accepted with \(file ?? "the system's authorities")")
                continue
            }
            #expect(host == "localhost")
        }
    }

    @Test func `a pinned key holds in addition to authority and name`() async throws {
        let server = try TLSServer(names: "DNS:localhost")
        defer { server.stop() }
        let other = try TLSServer(names: "DNS:kas.example.net")
        defer { other.stop() }
        func send(_ server: TLSServer, trusting file: String?, pin: String) async throws {
            _ = try await HTTPClient(configuration: .init(certificateAuthorityFile: file, publicKeyPin: pin))
                .send(HTTPRequest(url: "https://localhost:\(server.port)/"))
        }
        let (pin, otherPin) = (try server.pin, try other.pin)
        try await send(server, trusting: server.certificate, pin: pin)
        await #expect(
            throws: HTTPClientError.tlsFailed(host: "localhost", reason: "its public key is not the pinned one")
        ) {
            try await send(server, trusting: server.certificate, pin: otherPin)
        }
        await #expect(throws: HTTPClientError.self, "no CA vouches for it") {
            try await send(server, trusting: nil, pin: pin)
        }
        await #expect(throws: HTTPClientError.self, "its name is another") {
            try await send(other, trusting: other.certificate, pin: otherPin)
        }
        for pin in ["", "/etc/passwd", server.certificate, pin + ";" + otherPin] {
            await #expect(throws: HTTPClientError.self, "\(pin)") {
                try await send(server, trusting: server.certificate, pin: pin)
            }
        }
        await #expect(throws: HTTPClientError.self, "without TLS") {
            _ = try await HTTPClient(configuration: .init(publicKeyPin: pin))
                .send(HTTPRequest(url: "http://127.0.0.1:\(server.port)/"))
        }
    }

    /// In a process whose OpenSSL would speak TLS 1.0 if it were asked to: Debian's own setting refuses it whatever the client
    /// wants, so that nothing would be seen of ours.
    @Test func `TLS 1.2 is the least that a client speaks`() async throws {
        let settings = LaxOpenSSL.file(of: getpid())
        defer { try? FileManager.default.removeItem(atPath: settings) }
        for (version, status) in [("-tls1_1", LaxOpenSSL.refused), ("-tls1_2", EXIT_SUCCESS)] {
            let server = try TLSServer(names: "DNS:localhost", options: [version, "-cipher", "ALL:@SECLEVEL=0"])
            defer { server.stop() }
            try LaxOpenSSL.write(settings, port: server.port, certificate: server.certificate)
            let process = await #expect(processExitsWith: .exitCode(status), "\(version)") {
                let settings = LaxOpenSSL.file(of: getppid())
                setenv("OPENSSL_CONF", settings, 1)
                let (url, certificate) = try LaxOpenSSL.read(settings)
                do throws(HTTPClientError) {
                    _ = try await HTTPClient(configuration: .init(certificateAuthorityFile: certificate))
                        .send(HTTPRequest(url: url))
                    exit(EXIT_SUCCESS)
                } catch {
                    if case .tlsFailed = error { exit(LaxOpenSSL.refused) }
                    exit(EXIT_FAILURE)
                }
            }
            #expect(process != nil)
        }
    }

    @Test func `https to a server that speaks plain HTTP is a TLS failure`() async {
        let server = StandInServer { _ in .bytes(StandInServer.answer(200, "")) }
        defer { server.stop() }
        // The stand-in waits for a blank line that a ClientHello does not hold.
        let error = await { () async -> HTTPClientError? in
            do throws(HTTPClientError) {
                _ = try await HTTPClient().send(
                    HTTPRequest(
                        url: "https://127.0.0.1:\(server.port)/", connectTimeout: .milliseconds(200),
                        totalTimeout: .seconds(5)))
                return nil
            } catch {
                return error
            }
        }()
        #expect(error == .connectTimedOut(host: "127.0.0.1", after: .milliseconds(200)))
    }
}

/// Settings under which OpenSSL speaks every version, and for the process that loads them, in comments, whom to ask.
enum LaxOpenSSL {
    static let refused: Int32 = 7

    static func file(of process: pid_t) -> String {
        FileManager.default.temporaryDirectory.appending(path: "openssl-\(process).cnf").path
    }

    static func write(_ file: String, port: Int, certificate: String) throws {
        let text = """
            # https://localhost:\(port)/
            # \(certificate)
            openssl_conf = all
            [all]
            ssl_conf = every
            [every]
            system_default = lax
            [lax]
            MinProtocol = TLSv1
            CipherString = ALL:@SECLEVEL=0

            """
        try text.write(toFile: file, atomically: true, encoding: .utf8)
    }

    static func read(_ file: String) throws -> (url: String, certificate: String) {
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        return ("\(lines[0].dropFirst(2))", "\(lines[1].dropFirst(2))")
    }
}

struct TLSServer {
    static let program = "/usr/bin/openssl"

    let port: Int
    let certificate: String
    private let process: Process
    private let directory: URL

    init(names: String, options: [String] = []) throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "tls-\(UInt64.random(in: 0 ..< .max))")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        certificate = directory.appending(path: "certificate.pem").path
        let key = directory.appending(path: "key.pem").path
        let request = Process()
        request.executableURL = URL(filePath: Self.program)
        request.arguments =
            ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
            + ["-subj", "/CN=test", "-addext", "subjectAltName=\(names)", "-keyout", key, "-out", certificate]
        request.standardError = FileHandle.nullDevice
        try request.run()
        request.waitUntilExit()

        process = Process()
        process.executableURL = URL(filePath: Self.program)
        process.arguments = ["s_server", "-accept", "127.0.0.1:0", "-www", "-cert", certificate, "-key", key] + options
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        var text = ""
        while !text.contains("ACCEPT ") || !text.hasSuffix("\n") {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { throw CocoaError(.fileReadUnknown) }
            text += String(decoding: data, as: UTF8.self)
        }
        port = Int(text.split(separator: ":").last?.prefix { $0.isNumber } ?? "") ?? 0
    }

    /// Of its key.
    var pin: String { get throws { try CertificatePin.pin(pem: Array(Data(contentsOf: URL(filePath: certificate)))) } }

    func stop() {
        // SIGTERM would wait for ever: a child inherits the signals that the pool's threads block.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: directory)
    }
}
