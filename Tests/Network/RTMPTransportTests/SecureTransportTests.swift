import ChannelTestSupport
import Foundation
import RTMP
import TestSupport
import Testing

@testable import RTMPTransport

@Suite struct SecureTransportTests {
    private static let fixtures = #filePath.prefix(upTo: #filePath.lastIndex(of: "/")!) + "/Fixtures/"
    private static let openssl = "/usr/bin/openssl"
    private static func file(_ name: String) -> String { String(fixtures + name) }
    private static let localhost = RTMPServerTLS(
        certificateFile: file("localhost.pem"), privateKeyFile: file("localhost-key.pem"))
    private static let elsewhere = RTMPServerTLS(
        certificateFile: file("elsewhere.pem"), privateKeyFile: file("elsewhere-key.pem"))
    private static let trusting = RTMPClientTLS(authorityFile: file("authority.pem"))
    /// `openssl x509 -pubkey | openssl pkey -pubin -outform der | openssl dgst -sha256` of localhost.pem.
    private static let pin = "0f5a0d6bedd101e79a9b73a7eb01f58ce7ac74a681a0e147c2cb171eedb04eb4"

    @Test(arguments: ["localhost", "127.0.0.1"])
    func `media pass over TLS to a name and to an address that the certificate names`(host: String) async throws {
        let server = try await TestServer.start(tls: Self.localhost) { $0.host = host }
        let events = PublisherLog()
        let publisher = RTMPPublisherConnection.connect(
            url: server.url(scheme: .rtmps, host: host), tls: Self.trusting, delegate: events)
        try await events.started()
        let payload = [UInt8](repeating: 0x27, count: 200_000)
        try await publisher.send(.video, 1, payload)
        try await server.log.next {
            $0 == .message(RTMPMessage(type: .video, timestamp: 1, streamID: 1, payload: payload))
        }
        await publisher.stop()  // how long that may take: StopTests
        try await server.log.next { $0 == .finished }
        await server.close()
    }

    @Test func `a certificate from no CA that we trust is refused before RTMP begins`() async throws {
        let server = try await TestServer.start(tls: Self.localhost)
        let events = PublisherLog()
        _ = RTMPPublisherConnection.connect(url: server.url(scheme: .rtmps), delegate: events)
        guard case .tlsFailed(let reason) = try await events.closed().cause else {
            Issue.record("\(events.log.all)")
            return
        }
        #expect(reason == "its certificate is not from an authority that is trusted here, or not valid now")
        #expect(!server.log.all.contains { if case .publish = $0 { true } else { false } })
        await server.close()
    }

    @Test(arguments: ["localhost", "127.0.0.1"])
    func `a trusted certificate for another host is refused`(host: String) async throws {
        let server = try await TestServer.start(tls: Self.elsewhere) { $0.host = host }
        let events = PublisherLog()
        _ = RTMPPublisherConnection.connect(
            url: server.url(scheme: .rtmps, host: host), tls: Self.trusting, delegate: events)
        guard case .tlsFailed(let reason) = try await events.closed().cause else {
            Issue.record("\(events.log.all)")
            return
        }
        #expect(reason == "its certificate is for another host")
        await server.close()
    }

    /// OpenSSL speaks TLS 1.1 only where its security level allows it: without that, nothing would be seen here.
    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: Self.openssl), "openssl is missing"),
        arguments: [("-tls1", false), ("-tls1_1", false), ("-tls1_2", true), ("-tls1_3", true)])
    func `TLS 1.2 is the least that a server speaks`(version: String, isSpoken: Bool) async throws {
        let server = try await TestServer.start(tls: Self.localhost)
        let client = Process()
        client.executableURL = URL(filePath: Self.openssl)
        client.arguments =
            ["s_client", "-connect", "127.0.0.1:\(server.port)", version]
            + (version == "-tls1_3" ? [] : ["-cipher", "ALL:@SECLEVEL=0"])
        client.standardInput = FileHandle.nullDevice
        client.standardOutput = FileHandle.nullDevice
        client.standardError = FileHandle.nullDevice
        let status = try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Int32, any Error>) in
            client.terminationHandler = { ended.resume(returning: $0.terminationStatus) }
            do { try client.run() } catch { ended.resume(throwing: error) }
        }
        #expect((status == 0) == isSpoken)
        await server.close()
    }

    @Test func `a pinned key is accepted, another one refused`() async throws {
        let server = try await TestServer.start(tls: Self.localhost)
        var tls = Self.trusting
        tls.publicKeyPin = Self.pin.hexadecimal
        let good = PublisherLog()
        let publisher = RTMPPublisherConnection.connect(url: server.url(scheme: .rtmps), tls: tls, delegate: good)
        try await good.started()
        await publisher.stop()
        tls.publicKeyPin?[0] ^= 1
        let bad = PublisherLog()
        _ = RTMPPublisherConnection.connect(url: server.url(scheme: .rtmps), tls: tls, delegate: bad)
        #expect(try await bad.closed() == RTMPTransportError(.publicKeyMismatch))
        await server.close()
    }

    @Test func `a pin is read from its text, and anything else is not a pin`() throws {
        let text = "sha256//" + Data(Self.pin.hexadecimal).base64EncodedString()
        #expect(
            try RTMPClientTLS(authorityFile: "a", pin: text)
                == .init(authorityFile: "a", publicKeyPin: Self.pin.hexadecimal))
        #expect(try RTMPClientTLS(authorityFile: nil, pin: nil) == RTMPClientTLS())
        for text in ["", "sha256//", Self.pin, String(text.dropLast()), "/etc/passwd", text + text] {
            #expect(throws: RTMPTransportError.self) { try RTMPClientTLS(authorityFile: nil, pin: text) }
        }
    }

    @Test func `a pinned key is never enough without a trusted certificate, nor for a clear connection`()
        async throws
    {
        let server = try await TestServer.start(tls: Self.localhost)
        let untrusted = PublisherLog()
        let pinned = RTMPClientTLS(publicKeyPin: Self.pin.hexadecimal)
        _ = RTMPPublisherConnection.connect(url: server.url(scheme: .rtmps), tls: pinned, delegate: untrusted)
        guard case .tlsFailed = try await untrusted.closed().cause else {
            Issue.record("\(untrusted.log.all)")
            return
        }
        await server.close()
        let open = try await TestServer.start()
        let clear = PublisherLog()
        _ = RTMPPublisherConnection.connect(url: open.url(), tls: pinned, delegate: clear)
        let error = try await clear.closed()
        #expect(error.why == "a public key is pinned, but the URL is not rtmps")
        #expect(!open.log.all.contains { if case .publish = $0 { true } else { false } })
        await open.close()
    }

    @Test func `a server without TLS gets a ClientHello and not one byte of RTMP`() async throws {
        let server = try await TestServer.start()
        let events = PublisherLog()
        _ = RTMPPublisherConnection.connect(url: server.url(scheme: .rtmps), tls: Self.trusting, delegate: events)
        // It closes, as a terminator of TLS does while the relay behind it restarts: to be tried again soon.
        let error = try await events.closed()
        guard case .connectionLost = error.cause else {
            Issue.record("\(events.log.all)")
            return
        }
        #expect(error.retry == .transient)
        #expect(!server.log.all.contains { if case .publish = $0 { true } else { false } })
        await server.close()
    }

    @Test(arguments: [
        (RTMPTransportError.Cause.tlsConfiguration("r"), RetryClass.authentication),
        (.tlsFailed("r"), .transient), (.publicKeyMismatch, .authentication),
        (.unknownHost("h"), .transient), (.connectFailed("r"), .transient), (.timedOut(.connect), .transient),
        (.timedOut(.tls), .transient), (.connectionLost("r"), .transient), (.session(.badName), .badName),
        (.session(.stopped), .never), (.session(.authenticationFailed(code: "c")), .authentication),
    ])
    func `what an operator must fix is tried again slowly, what recovers by itself soon`(
        cause: RTMPTransportError.Cause, retry: RetryClass
    ) {
        #expect(RTMPTransportError(cause).retry == retry)
    }

    @Test func `the system's authorities are parsed once an hour, a file of the operator's each time`() throws {
        var system = SystemTrust()
        let first = try system.context(at: 5)
        #expect(try system.context(at: SystemTrust.lifetime) === first)
        #expect(try system.context(at: 0) === first)
        #expect(try system.context(at: SystemTrust.lifetime + 5) !== first)
        #expect(try RTMPClientTLS().makeContext() === RTMPClientTLS(publicKeyPin: [1]).makeContext())
        #expect(try Self.trusting.makeContext() !== Self.trusting.makeContext())
    }

    @Test func `a new certificate serves from the next connection on, and the others go on`() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "certificate-\(UUID())").path()
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let chain = directory + "/chain.pem"
        let key = directory + "/key.pem"
        func install(_ name: String, _ path: String) throws {
            // Put in place by a rename, as tools for certificates do.
            try FileManager.default.copyItem(atPath: Self.file(name), toPath: path + ".new")
            guard rename(path + ".new", path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        }
        try install("elsewhere.pem", chain)
        try install("elsewhere-key.pem", key)
        let server = try await TestServer.start(tls: RTMPServerTLS(certificateFile: chain, privateKeyFile: key)) {
            $0.certificateCheck = .milliseconds(20)
        }
        let refused = PublisherLog()
        _ = RTMPPublisherConnection.connect(url: server.url(scheme: .rtmps), tls: Self.trusting, delegate: refused)
        guard case .tlsFailed = try await refused.closed().cause else {
            Issue.record("\(refused.log.all)")
            return
        }
        // The certificate alone does not fit the key: the old pair serves on.
        try install("localhost.pem", chain)
        try await server.log.next { if case .certificate(let error) = $0 { error != nil } else { false } }
        let still = PublisherLog()
        _ = RTMPPublisherConnection.connect(url: server.url(scheme: .rtmps), tls: Self.trusting, delegate: still)
        guard case .tlsFailed = try await still.closed().cause else {
            Issue.record("\(still.log.all)")
            return
        }
        try install("localhost-key.pem", key)
        try await server.log.next { $0 == .certificate(nil) }
        let events = PublisherLog()
        let publisher = RTMPPublisherConnection.connect(
            url: server.url(scheme: .rtmps), tls: Self.trusting, delegate: events)
        try await events.started()
        // Another change drops no one.
        try install("elsewhere.pem", chain)
        try await server.log.next { if case .certificate(let error) = $0 { error != nil } else { false } }
        try await publisher.send(.video, 1, [0x17, 1])
        try await server.log.next { if case .message = $0 { true } else { false } }
        await publisher.stop()
        await server.close()
    }

    @Test func `files that cannot be used are named as the reason, at both ends`() async throws {
        let events = PublisherLog()
        _ = RTMPPublisherConnection.connect(
            url: RTMPURL(scheme: .rtmps, host: "127.0.0.1", port: 9, app: "live", streamName: "cam"),
            tls: RTMPClientTLS(authorityFile: "/nonexistent.pem"), delegate: events)
        guard case .tlsConfiguration = try await events.closed().cause else {
            Issue.record("\(events.log.all)")
            return
        }
        await #expect(throws: RTMPTransportError.self) {
            try await TestServer.start(
                tls: RTMPServerTLS(certificateFile: "/nonexistent.pem", privateKeyFile: "/nonexistent.pem"))
        }
    }
}

extension String {
    fileprivate var hexadecimal: [UInt8] {
        stride(from: 0, to: utf8.count, by: 2).map { offset in
            let start = index(startIndex, offsetBy: offset)
            return UInt8(self[start..<index(start, offsetBy: 2)], radix: 16)!
        }
    }
}
