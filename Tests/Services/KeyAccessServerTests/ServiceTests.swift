import Cryptography
import Foundation
import KeyAccess
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import ServiceLifecycle
import Synchronization
import Testing
import Wire

@testable import KeyAccessServer

/// The service over real sockets on loopback.
@Suite(.timeLimit(.minutes(15))) struct ServiceTests {
    private func json<T: Decodable>(_ response: HTTPTestClient.Response, _ type: T.Type = T.self) throws -> T {
        try JSONDecoder().decode(type, from: Data(response.body))
    }

    @Test func `a viewer's whole way over one connection`() async throws {
        let rig = try Rig()
        let header = try rig.sealedHeader()
        let token = try rig.accessToken([Scope.publish, Scope.rewrap], streams: ["front"])
        let client = TestClient()
        let took = try await rig.running() { port in
            try await HTTPTestClient.connected(port: port) { session in
                let key = try await session.request("GET", Route.publicKey + "?algorithm=ec:secp256r1")
                #expect(key.status == 200)
                #expect(key.headers["cache-control"] == "max-age=300")
                #expect(key.headers["content-type"] == "application/json")
                #expect(key.headers["watchbox-key-identifiers"] == "1")
                #expect(try self.json(key, PublicKeyResponse.self).kid == "e1")
                let tag = try #require(key.headers["etag"])
                let same = try await session.request("GET", Route.publicKey, headers: [("If-None-Match", tag)])
                #expect(same.status == 304)

                let authorization = [("Authorization", "Bearer \(token)"), ("Content-Type", "application/json")]
                let registration = try rig.registration(header: header, stream: "front", publisher: "viewer")
                let registered = try await session.request(
                    "POST", Route.collections, headers: authorization, body: JSONCoding.encode(registration))
                #expect(registered.status == 200)
                #expect(
                    registered.headers["watchbox-time"].flatMap { Int64($0) } == rig.clock.unixMilliseconds())
                let rewrap = try await session.request(
                    "POST", Route.rewrap, headers: authorization,
                    body: client.request(client.body([header]), now: rig.time.seconds))
                #expect(rewrap.status == 200)
                #expect(rewrap.headers["cache-control"] == "no-store")
                let response = try self.json(rewrap, RewrapResponse.self)
                let wrapped = try #require(response.responses[0].results[0].kasWrappedKey)
                #expect(try client.unwrap(wrapped, session: response.sessionPublicKey) == rig.expectedKey(header))

                let refused = try await session.request("POST", Route.rewrap, body: Array("{}".utf8))
                #expect(refused.status == 401)
                #expect(refused.headers["www-authenticate"] == "Bearer")
                #expect(try self.json(refused, ErrorEnvelope.self).code == "unauthenticated")
                for (method, path, status) in [
                    ("HEAD", Route.publicKey, 200), ("PUT", Route.publicKey, 405), ("GET", "/nothing", 404),
                ] {
                    let response = try await session.request(method, path)
                    #expect(response.status == status)
                }
            }
        }
        print("shutdown without clients: \(took)")
        #expect(took < .seconds(30))
    }

    @Test func `otdf-python's captured rewrap, byte for byte over the socket`() async throws {
        let captured = try #require(Captured.rewraps.last)
        let decoded = try #require(captured.token_decoded)
        let rig = try Rig(now: decoded.claims.iat) { configuration, _ in
            configuration.requiresRegisteredHeaders = false
        }
        try rig.importTestKey()
        let token = try rig.accessToken()
        _ = try await rig.running() { port in
            try await HTTPTestClient.connected(port: port) { session in
                let response = try await session.request(
                    "POST", captured.path,
                    headers: [
                        ("authorization", "Bearer \(token)"), ("connect-protocol-version", "1"),
                        ("content-encoding", "gzip"), ("content-type", "application/proto"),
                    ], body: captured.bytes)
                #expect(response.status == 200)
                #expect(response.headers["content-type"] == "application/proto")
                let message = try RewrapResponse(protobuf: response.body)
                #expect(message.responses[0].results[0].isPermitted)
            }
        }
    }

    @Test func `bodies and headers beyond their limits`() async throws {
        let rig = try Rig()
        let token = try rig.accessToken()
        _ = try await rig.running() { port in
            let authorization = [("Authorization", "Bearer \(token)"), ("Content-Type", "application/json")]
            for head in ["", "Authorization: Bearer \(token)\r\n"] {
                let start = "POST \(Route.rewrap) HTTP/1.1\r\nHost: x\r\n\(head)"
                try await HTTPTestClient.connected(port: port) { session in
                    try await session.send(Array("\(start)Content-Length: 2097152\r\n\r\n".utf8))
                    let response = try await session.response()
                    // Who has no token is not asked for the body at all.
                    #expect(response.status == (head.isEmpty ? 401 : 413))
                }
                try await HTTPTestClient.connected(port: port) { session in
                    // No length announced: chunks, until it is too much.
                    try await session.send(Array("\(start)Transfer-Encoding: chunked\r\n\r\n".utf8))
                    let chunk = Array("20000\r\n".utf8) + [UInt8](repeating: 32, count: 0x20000) + [13, 10]
                    for _ in 0..<9 { try? await session.send(chunk) }
                    let response = try await session.response()
                    #expect(response.status == (head.isEmpty ? 401 : 413))
                }
            }
            try await HTTPTestClient.connected(port: port) { session in
                let response = try await session.request(
                    "POST", Route.connectPublicKey, headers: [("Content-Type", "application/proto")],
                    body: [UInt8](repeating: 0, count: 20_000))
                #expect(response.status == 413)
            }
            try await HTTPTestClient.connected(port: port) { session in
                let bomb = gzip([UInt8](repeating: 32, count: 900_000))
                let headers = authorization + [("Content-Encoding", "gzip")]
                let response = try await session.request("POST", Route.rewrap, headers: headers, body: bomb)
                #expect(response.status == 413)
            }
            let status = try? await HTTPTestClient.connected(port: port) { session in
                let long = [("X-Long", String(repeating: "a", count: 100_000))]
                return try await session.request("GET", Route.publicKey, headers: long).status
            }
            #expect(status == nil || (400...499).contains(status!))
            for garbage in ["\u{0}\u{1}\u{2}\r\n\r\n", "GET\r\n\r\n", "POST / HTTP/9.9\r\nContent-Length: -1\r\n\r\n"] {
                let status = try? await HTTPTestClient.connected(port: port) { session in
                    try await session.send(Array(garbage.utf8))
                    return try await session.response().status
                }
                #expect(status == nil || (400...505).contains(status!))
            }
            // And after all of that it still answers.
            try await HTTPTestClient.connected(port: port) { session in
                let response = try await session.request("GET", Route.health)
                #expect(response.status == 200)
            }
        }
    }

    @Test func `a shutdown doesn't wait for a client that says nothing`() async throws {
        final class Connection: ChannelInboundHandler, Sendable {
            typealias InboundIn = ByteBuffer
            let channel = Mutex<(any Channel)?>(nil)
            let bytesHeard = Mutex(0)

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                let count = unwrapInboundIn(data).readableBytes
                bytesHeard.withLock { $0 += count }
            }
        }
        let rig = try Rig()
        let connection = Connection()
        let took = try await rig.running() { port in
            let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .channelInitializer { $0.pipeline.addHandler(connection) }
                .connect(host: "127.0.0.1", port: port).get()
            // A route that needs no token: a refusal would be sent before the body comes.
            let head = "POST \(Route.connectPublicKey) HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n"
            try await channel.writeAndFlush(ByteBuffer(string: head))
            connection.channel.withLock { $0 = channel }
        }
        // Who waits for the client would have answered, after the 10 s that a body may take, that it is too late.
        #expect(connection.bytesHeard.withLock { $0 } == 0)
        print("shutdown with a client that says nothing: \(took)")
        #expect(took < .seconds(30))
        try? await connection.channel.withLock { $0 }?.close()
    }

    @Test func `TLS is served, and nothing older than 1.2`() async throws {
        let rig = try Rig()
        let certificate = Fixtures.folder.appending(path: "tls-certificate.pem").path
        let key = rig.path + "/tls-key.pem"
        try writeFile(key, Array(Data(contentsOf: Fixtures.folder.appending(path: "tls-key.pem"))))
        let tls = KeyAccessServerConfiguration.TLSFiles(certificateChainFile: certificate, privateKeyFile: key)
        var trusting = TLSConfiguration.makeClientConfiguration()
        trusting.trustRoots = .file(certificate)
        let context = try NIOSSLContext(configuration: trusting)
        trusting.minimumTLSVersion = .tlsv1
        trusting.maximumTLSVersion = .tlsv11
        let old = try NIOSSLContext(configuration: trusting)
        _ = try await rig.running({ $0.tls = tls }) { port in
            try await HTTPTestClient.connected(port: port, tls: context) { session in
                let response = try await session.request("GET", Route.configuration)
                let document = try self.json(response, ServiceConfigurationDocument.self)
                #expect(document.kas.uri == "https://localhost/kas")
            }
            await #expect(throws: (any Error).self) {
                try await HTTPTestClient.connected(port: port, tls: old) { session in
                    _ = try await session.request("GET", Route.health)
                }
            }
            await #expect(throws: (any Error).self) {
                try await HTTPTestClient.connected(port: port) { session in
                    _ = try await session.request("GET", Route.health)
                }
            }
        }
    }

    @Test func `files for TLS that can't be used are named`() async throws {
        let rig = try Rig()
        let certificate = Fixtures.folder.appending(path: "tls-certificate.pem").path
        let key = rig.path + "/tls-key.pem"
        try writeFile(key, Array(Data(contentsOf: Fixtures.folder.appending(path: "tls-key.pem"))), mode: 0o644)
        let wide = KeyAccessServerConfiguration.TLSFiles(certificateChainFile: certificate, privateKeyFile: key)
        await #expect(throws: StateDirectoryError.permissionsTooWide(path: key, mode: 0o644, expected: 0o640)) {
            _ = try await rig.running({ $0.tls = wide }) { _ in }
        }
        let missing = KeyAccessServerConfiguration.TLSFiles(certificateChainFile: rig.path + "/no", privateKeyFile: key)
        await #expect(throws: StateDirectoryError.self) { _ = try await rig.running({ $0.tls = missing }) { _ in } }
        try writeFile(key, Array("no key".utf8))
        let broken = KeyAccessServerConfiguration.TLSFiles(certificateChainFile: certificate, privateKeyFile: key)
        await #expect(throws: KeyAccessServerError.self) { _ = try await rig.running({ $0.tls = broken }) { _ in } }
    }
}
