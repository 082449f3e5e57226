internal import NIOCore
internal import NIOHTTP1

/// One client of the relay's API: takes one request within its limits of size and time, answers it, and closes. One
/// that asks for events stays.
///
/// Confined to its event loop, which makes `@unchecked Sendable` true.
final class RelayAPIConnection: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum State {
        case awaitingHead
        case collecting(RelayOrder, [UInt8])
        /// The relay was asked, or events are on their way to begin.
        case answering
        case listening(EventQueue)
        /// All is said; what still comes is thrown away.
        case ending
    }

    private let server: RelayAPIServer
    private var state = State.awaitingHead
    private var context: ChannelHandlerContext?
    private var deadline: Scheduled<Void>?
    /// Signs of life in a row for which there was no room.
    private var missedPings = 0
    /// Gives back the place of an address.
    private var onLeave: (() -> Void)?

    private var limits: RelayAPILimits { server.configuration.limits }

    /// - Parameter onLeave: called once, when it ends or becomes a listener.
    init(server: RelayAPIServer, onLeave: @escaping () -> Void) {
        self.server = server
        self.onLeave = onLeave
    }

    /// It asks no more.
    func leave() {
        onLeave?()
        onLeave = nil
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        close(in: limits.head)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        deadline?.cancel()
        server.listenNoMore(self)
        leave()
    }

    // MARK: The request

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (unwrapInboundIn(data), state) {
        case (.head(let head), .awaitingHead): begin(head)
        case (.body(let part), .collecting(let order, let body)):
            guard body.count + part.readableBytes <= limits.bodyBytes else {
                return refuse(
                    RelayProblem(
                        413, what: "the request was refused", why: "its body is longer than \(limits.bodyBytes) bytes",
                        hint: "send less"))
            }
            state = .collecting(order, body + part.readableBytesView)
        case (.end, .collecting(let order, let body)): carryOut(order, body)
        case (_, _): break
        }
    }

    private func begin(_ head: HTTPRequestHead) {
        do throws(RelayProblem) {
            let refusal = server.gate.refusal(
                hosts: head.headers["host"], hasOrigin: head.headers.contains(name: "origin"),
                authorization: head.headers.first(name: "authorization"),
                local: context?.channel.localAddress?.ipAddress)
            if let refusal { throw refusal }
            guard head.uri.utf8.count <= limits.targetBytes else {
                throw RelayProblem(
                    414, what: "the request was refused", why: "its path is too long",
                    hint: "use a path of the relay's API")
            }
            let order = try RelayOrder.parse(method: head.method.rawValue, target: head.uri)
            if let refusal = server.gate.refusal(of: order) { throw refusal }
            state = .collecting(order, [])
            close(in: limits.ask)
        } catch {
            refuse(error)
        }
    }

    private func carryOut(_ order: RelayOrder, _ body: [UInt8]) {
        state = .answering
        close(in: limits.answer)
        if order == .events {
            let accepted = server.listen(self) { self.beginEvents() }
            if accepted { leave() } else { refuse(RelayAPIServer.tooManyListeners) }
            return
        }
        server.answer(order, body: body).whenComplete { result in
            switch result {
            case .success(let answer): self.write(answer)
            case .failure:
                self.refuse(
                    RelayProblem(
                        503, what: "the relay did not answer", why: "it is being stopped", hint: "ask again later"))
            }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is HTTPParserError, case .awaitingHead = state else { return context.close(promise: nil) }
        refuse(
            RelayProblem(
                400, what: "the request was refused", why: "it is not HTTP/1.1, or its head is too long",
                hint: "use watchboxctl relay, or curl"))
    }

    // MARK: The answer

    private func refuse(_ problem: RelayProblem) { write(.problem(problem)) }

    private func write(_ answer: RelayAPIAnswer) {
        guard let context else { return }
        if case .ending = state { return }
        var headers = Self.headers(answer.contentType)
        headers.add(name: "content-length", value: String(answer.body.count))
        if answer.status == 401 { headers.add(name: "www-authenticate", value: "Bearer") }
        writeHead(answer.status, headers, to: context)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
        end()
    }

    private static func headers(_ contentType: String) -> HTTPHeaders {
        [
            "content-type": contentType, "cache-control": "no-store", "x-content-type-options": "nosniff",
            "connection": "close",
        ]
    }

    private func writeHead(_ status: Int, _ headers: HTTPHeaders, to context: ChannelHandlerContext) {
        let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: status), headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
    }

    /// FIN behind our last bytes; the client has a while to read them, because closing at once, with bytes of its own
    /// unread, would reset the connection under the answer.
    private func end() {
        guard let context else { return }
        state = .ending
        close(in: limits.answer)
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
            channel.close(mode: .output, promise: nil)
        }
    }

    private func close(in time: Duration) {
        deadline?.cancel()
        guard let context else { return }
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: TimeAmount(time)) { channel.close(promise: nil) }
    }

    // MARK: Events

    private func beginEvents() {
        guard case .answering = state, let context else { return }
        deadline?.cancel()
        deadline = nil
        state = .listening(EventQueue(limit: limits.waitingEvents))
        writeHead(200, Self.headers("text/event-stream"), to: context)
        ping()
    }

    /// One event, in the form in which it is sent.
    func deliver(_ text: String) {
        guard case .listening(var queue) = state else { return }
        state = .answering
        queue.add(
            text,
            farewell: RelayAPIAnswer.event(
                RelayEvent(
                    event: .closed, time: RelayCore.wallClock, reason: "this listener is too slow; ask again")))
        state = .listening(queue)
        pump()
    }

    /// A sign of life, unless something waits that is one. Who takes nothing for too long holds no place.
    func ping() {
        guard case .listening(let queue) = state, let context else { return }
        guard context.channel.isWritable else {
            missedPings += 1
            if missedPings >= 2 { context.close(promise: nil) }
            return
        }
        missedPings = 0
        if queue.isEmpty { write(": ping\n\n", to: context) }
    }

    /// The relay stops.
    func endEvents() {
        guard case .listening = state else { return }
        end()
    }

    private func pump() {
        guard let context, context.channel.isWritable, case .listening(var queue) = state else {
            return endIfClosed()
        }
        state = .answering
        if !queue.isEmpty { write(queue.take(), to: context) }
        state = .listening(queue)
        if queue.isClosed { end() }
    }

    /// A farewell that cannot be written for too long is not waited for.
    private func endIfClosed() {
        guard case .listening(let queue) = state, queue.isClosed, deadline == nil else { return }
        close(in: limits.answer)
    }

    private func write(_ text: String, to context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        pump()
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent {
            switch state {
            // Some clients close their half behind the request.
            case .answering: break
            case .awaitingHead, .collecting, .listening, .ending: context.close(promise: nil)
            }
        }
        context.fireUserInboundEventTriggered(event)
    }
}
