import NIOCore
import NIOPosix
import NIOSSL

/// Just enough of HTTP/1.1 to send any bytes and read any answer.
final class HTTPTestClient {
    struct Response {
        var status: Int
        /// Names in lower case.
        var headers: [String: String]
        var body: [UInt8]
    }

    struct Closed: Error {}

    private let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// Opens a connection, lends a client to `body`, and closes it.
    static func connected<R>(
        port: Int, tls: NIOSSLContext? = nil, _ body: (inout Session) async throws -> R
    ) async throws -> R {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLClientHandler(context: tls, serverHostname: "localhost"))
                    }
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            var session = Session(input: inbound.makeAsyncIterator(), output: outbound)
            return try await body(&session)
        }
    }

    private init(_ channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>) { self.channel = channel }

    struct Session {
        var input: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
        var output: NIOAsyncChannelOutboundWriter<ByteBuffer>
        private var pending: [UInt8] = []

        init(
            input: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator,
            output: NIOAsyncChannelOutboundWriter<ByteBuffer>
        ) {
            self.input = input
            self.output = output
        }

        func send(_ bytes: [UInt8]) async throws {
            try await output.write(ByteBuffer(bytes: bytes))
        }

        mutating func request(
            _ method: String, _ path: String, headers: [(String, String)] = [], body: [UInt8] = []
        ) async throws -> Response {
            var head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n"
            for (name, value) in headers { head += "\(name): \(value)\r\n" }
            if method == "POST" { head += "Content-Length: \(body.count)\r\n" }
            try await send(Array(head.utf8) + [13, 10] + body)
            return try await response(hasBody: method != "HEAD")
        }

        mutating func response(hasBody: Bool = true) async throws -> Response {
            let end: [UInt8] = [13, 10, 13, 10]
            while pending.firstRange(of: end) == nil { try await more() }
            let range = pending.firstRange(of: end)!
            let lines = String(decoding: pending[..<range.lowerBound], as: UTF8.self).split(separator: "\r\n")
            pending.removeFirst(range.upperBound)
            var headers: [String: String] = [:]
            for line in lines.dropFirst() {
                let parts = line.split(separator: ":", maxSplits: 1)
                headers[parts[0].lowercased()] = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
            }
            let count = hasBody ? headers["content-length"].flatMap { Int($0) } ?? 0 : 0
            while pending.count < count { try await more() }
            let body = Array(pending[..<count])
            pending.removeFirst(count)
            return Response(status: Int(lines[0].split(separator: " ")[1])!, headers: headers, body: body)
        }

        private mutating func more() async throws {
            guard var buffer = try await input.next(isolation: nil) else { throw Closed() }
            pending += buffer.readBytes(length: buffer.readableBytes) ?? []
        }
    }
}
