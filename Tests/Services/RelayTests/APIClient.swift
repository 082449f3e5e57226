import ChannelTestSupport
import Foundation
import NIOCore
import NIOPosix

@testable import Relay

/// Speaks HTTP to the relay's API, byte by byte as a test wants it.
final class APIClient: Sendable {
    struct Response: Sendable {
        let status: Int
        let headers: [String: String]
        let body: String

        init?(_ text: String) {
            guard let end = text.range(of: "\r\n\r\n") else { return nil }
            let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
            guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
                return nil
            }
            self.status = status
            headers = Dictionary(
                lines.dropFirst().compactMap { line in
                    let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
                    return parts.count == 2 ? (parts[0].lowercased(), parts[1]) : nil
                }, uniquingKeysWith: { _, last in last })
            body = String(text[end.upperBound...])
        }

        func document<Document: Decodable>(_ type: Document.Type) throws -> Document {
            try JSONDecoder().decode(type, from: Data(body.utf8))
        }
    }

    /// What came, and nil at the end.
    let log: EventLog<String?>
    private let channel: any Channel

    private init(channel: any Channel, log: EventLog<String?>) {
        self.channel = channel
        self.log = log
    }

    static let token = "0123456789abcdef"
    static let authorized = ["Authorization: Bearer \(token)"]

    /// - Parameters:
    ///   - request: sent as soon as the connection stands: the relay's time for it runs, and a test may get to run late.
    ///   - source: the address that it comes from.
    static func connect(
        _ port: Int, sending request: String? = nil, reads: Bool = true, from source: String = "127.0.0.1"
    ) async throws -> APIClient {
        let log = EventLog<String?>()
        let channel = try await ClientBootstrap(group: Timers.loop)
            .channelOption(.autoRead, value: reads)
            .channelOption(.socketOption(.so_rcvbuf), value: reads ? 1 << 20 : 4096)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(TextReader(log: log, request: request))
                }
            }
            .bind(to: SocketAddress(ipAddress: source, port: 0))
            .connect(host: "127.0.0.1", port: port).get()
        return APIClient(channel: channel, log: log)
    }

    func send(_ text: String) async throws {
        try await channel.writeAndFlush(ByteBuffer(string: text)).get()
    }

    func readOn() { channel.setOption(.autoRead, value: true).whenSuccess { self.channel.read() } }

    /// Everything up to the end of the connection.
    func rest() async throws -> String {
        try await log.next(within: .seconds(60)) { $0 == nil }
        return log.all.compactMap { $0 }.joined()
    }

    /// Waits until this came.
    func await(_ part: String) async throws {
        while !log.all.compactMap({ $0 }).joined().contains(part) {
            guard try await log.next(within: .seconds(60), { _ in true }) != nil else { throw Ended() }
        }
    }

    struct Ended: Error {}

    func close() async { try? await channel.close().get() }

    static func request(
        _ method: String, _ path: String, host: String = "localhost", headers: [String] = APIClient.authorized,
        body: String = ""
    ) -> String {
        var lines = ["\(method) \(path) HTTP/1.1", "Host: \(host)"] + headers
        if !body.isEmpty { lines.append("Content-Length: \(body.utf8.count)") }
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
    }
}

private final class TextReader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let log: EventLog<String?>
    private let request: String?
    private var hasEnded = false

    init(log: EventLog<String?>, request: String?) {
        self.log = log
        self.request = request
    }

    func channelActive(context: ChannelHandlerContext) {
        if let request { context.writeAndFlush(NIOAny(ByteBuffer(string: request)), promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        log.add(String(buffer: unwrapInboundIn(data)))
    }

    func channelInactive(context: ChannelHandlerContext) { end() }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func end() {
        guard !hasEnded else { return }
        hasEnded = true
        log.add(nil)
    }
}

extension RunningRelay {
    /// One request, answered until the connection's end.
    func ask(
        _ method: String, _ path: String, host: String = "localhost", headers: [String] = APIClient.authorized,
        body: String = ""
    ) async throws -> APIClient.Response {
        try await ask(text: APIClient.request(method, path, host: host, headers: headers, body: body))
    }

    func ask(text: String) async throws -> APIClient.Response {
        let client = try await APIClient.connect(apiPort, sending: text)
        let rest = try await client.rest()
        guard let response = APIClient.Response(rest) else { throw APIClient.Ended() }
        return response
    }

    /// Listens to events; the relay has begun to send them.
    func listen(reads: Bool = true) async throws -> APIClient {
        let client = try await APIClient.connect(
            apiPort, sending: APIClient.request("GET", "/v1/events"), reads: reads)
        if reads { try await client.await(": ping") }
        return client
    }
}
