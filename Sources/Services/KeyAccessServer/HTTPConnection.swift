internal import Glibc
internal import KeyAccess
internal import NIOCore
internal import NIOHTTP1
internal import Wire

/// One client: collects a request within its limits of size and time, and answers it as soon as it is complete.
///
/// Everything happens on the connection's event loop. The work of an answer is computation, which a thread pool would
/// only make later.
final class HTTPConnection: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    struct Times: Sendable {
        /// For the TLS handshake and the head of the first request.
        var head = TimeAmount.seconds(10)
        /// For a body.
        var body = TimeAmount.seconds(10)
        /// After an answer, for the next request to begin. With the period of `ConnectionTable.closeOverdue` 2 s.
        var idle = TimeAmount.milliseconds(1500)
        /// For a client to read an answer that came before its request's end.
        var linger = TimeAmount.seconds(1)
    }

    private enum State {
        case awaitingHead
        case collecting(ServiceRequest, KeyAccessEndpoints.Admission, ByteBuffer)
        /// Answered already; what still comes of the request is thrown away.
        case answered
        /// Nothing more is answered.
        case ending
    }

    /// A body that is thrown away so that the connection can go on, in bytes.
    private static let discardLimit = 16_384

    private let endpoints: KeyAccessEndpoints
    private let table: ConnectionTable
    private let times: Times
    private let address: String
    private var identifier: UInt64?
    private var state = State.awaitingHead
    private var keepsAlive = true
    private var isHead = false
    private var isReadNeeded = false

    init(endpoints: KeyAccessEndpoints, table: ConnectionTable, address: String, times: Times) {
        self.endpoints = endpoints
        self.table = table
        self.address = address
        self.times = times
    }

    /// - Throws: when the table has no room: the channel is closed then, without an answer, because over TLS an answer is expensive.
    func enter(_ channel: any Channel) throws {
        identifier = table.enter(
            channel, network: NetworkAddress.share(ofClient: address), deadline: .now() + times.head)
        guard let identifier else { throw ChannelError.ioOnClosedChannel }
        channel.closeFuture.whenComplete { [table] _ in table.leave(identifier) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (unwrapInboundIn(data), state) {
        case (.head(let head), .awaitingHead): begin(head, context)
        case (.body(let part), .collecting(let request, let admission, var body)):
            state = .answered
            guard body.readableBytes + part.readableBytes <= admission.bodyLimit else {
                table.release(bodyBytes: body.readableBytes)
                return answerEarly(ServiceAnswer(.tooLarge(Self.tooLong(admission.bodyLimit))), context)
            }
            guard table.reserve(bodyBytes: part.readableBytes) else {
                table.release(bodyBytes: body.readableBytes)
                return answerEarly(ServiceAnswer(.unavailable), context)
            }
            body.writeImmutableBuffer(part)
            state = .collecting(request, admission, body)
        case (.end, .collecting(var request, let admission, let body)):
            state = .answered
            table.release(bodyBytes: body.readableBytes)
            request.body = Array(body.readableBytesView)
            write(endpoints.answer(request, admission), context)
            finishRequest(context)
        case (.end, .answered): finishRequest(context)
        case (_, _): break
        }
    }

    private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        keepsAlive = head.isKeepAlive
        isHead = head.method == .HEAD
        wait(times.body)
        state = .answered
        let length = head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
        let isBounded = head.headers.first(name: "transfer-encoding") == nil && length <= Self.discardLimit
        do throws(ServiceFault) {
            let request = try request(head)
            let admission = try endpoints.admit(request).get()
            guard length <= admission.bodyLimit else { throw .tooLarge(Self.tooLong(admission.bodyLimit)) }
            if head.headers.first(name: "expect")?.lowercased() == "100-continue" {
                context.writeAndFlush(
                    wrapOutboundOut(.head(.init(version: .http1_1, status: .continue))), promise: nil)
            }
            state = .collecting(request, admission, context.channel.allocator.buffer(capacity: min(length, 65_536)))
        } catch {
            let answer = ServiceAnswer(error)
            isBounded ? write(answer, context) : answerEarly(answer, context)
        }
    }

    private func request(_ head: HTTPRequestHead) throws(ServiceFault) -> ServiceRequest {
        guard let method = ServiceRequest.Method(rawValue: isHead ? "GET" : head.method.rawValue) else {
            throw .methodNotAllowed
        }
        let target = RequestTarget(head.uri)
        var request = ServiceRequest(method: method, path: target.path, query: target.query, address: address)
        request.authorization = head.headers.first(name: "authorization")
        request.dpop = head.headers.first(name: "dpop")
        request.contentType = head.headers.first(name: "content-type")
        request.contentEncoding = head.headers.first(name: "content-encoding")
        request.ifNoneMatch = head.headers.first(name: "if-none-match")
        request.authority = head.headers.first(name: "host")
        request.wantsFacts =
            head.headers.first(name: CollectionFacts.requestHeader.name) == CollectionFacts.requestHeader.value
        return request
    }

    private static func tooLong(_ limit: Int) -> String { "The body is longer than \(limit) bytes." }

    // MARK: answers

    private func write(_ answer: ServiceAnswer, _ context: ChannelHandlerContext) {
        var headers = HTTPHeaders()
        headers.reserveCapacity(8)
        if answer.status != 304 {
            headers.add(name: "content-type", value: answer.contentType.rawValue)
            headers.add(name: "content-length", value: String(answer.body.count))
        }
        headers.add(name: "cache-control", value: answer.maxAge.map { "max-age=\($0)" } ?? "no-store")
        headers.add(name: "x-content-type-options", value: "nosniff")
        headers.add(name: "date", value: Self.date())
        headers.add(name: "server", value: "WatchBox")
        if let tag = answer.entityTag { headers.add(name: "etag", value: tag) }
        for (name, value) in answer.headers { headers.add(name: name, value: value) }
        if answer.status == 401 { headers.add(name: "www-authenticate", value: "Bearer") }
        if answer.status == 429 || answer.status == 503 { headers.add(name: "retry-after", value: "1") }
        if !keepsAlive { headers.add(name: "connection", value: "close") }
        let head = HTTPResponseHead(
            version: .http1_1, status: .init(statusCode: answer.status), headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !isHead, !answer.body.isEmpty {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    /// For a request whose remainder is not needed. The client may be sending it: to close at once would reset the
    /// connection under the answer.
    private func answerEarly(_ answer: ServiceAnswer, _ context: ChannelHandlerContext) {
        keepsAlive = false
        write(answer, context)
        stopCollecting()
        wait(times.linger)
    }

    /// What a body has reserved is given back, whatever ends the connection.
    private func stopCollecting() {
        if case .collecting(_, _, let body) = state { table.release(bodyBytes: body.readableBytes) }
        state = .ending
    }

    private func finishRequest(_ context: ChannelHandlerContext) {
        guard keepsAlive else { return end(context) }
        state = .awaitingHead
        wait(times.idle, isIdle: true)
    }

    /// Closes when everything is written.
    private func end(_ context: ChannelHandlerContext) {
        stopCollecting()
        wait(times.linger)
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer())))).whenComplete { _ in
            channel.close(promise: nil)
        }
    }

    private func wait(_ time: TimeAmount, isIdle: Bool = false) {
        if let identifier { table.waits(identifier, until: .now() + time, isIdle: isIdle) }
    }

    /// RFC 9110 §5.6.7.
    private static func date() -> String {
        var now = time(nil)
        var parts = tm()
        gmtime_r(&now, &parts)
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) "
            + "\(parts.tm_year + 1900) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
    }

    // MARK: the channel's own events

    /// Nothing is read from a client that does not read its answers.
    func read(context: ChannelHandlerContext) {
        if context.channel.isWritable { context.read() } else { isReadNeeded = true }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable, isReadNeeded {
            isReadNeeded = false
            context.read()
        }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // A client may close its half after its request; nothing more will come then.
        if case .inputClosed? = event as? ChannelEvent { end(context) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case .ending = state { return context.close(promise: nil) }
        guard error is HTTPParserError, context.channel.isActive else { return context.close(promise: nil) }
        keepsAlive = false
        write(ServiceAnswer(.invalidRequest("This is not HTTP/1.1, or its header is too long.")), context)
        end(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        stopCollecting()
        context.fireChannelInactive()
    }
}
