internal import RTSP

extension HTTPVideoSession {
    /// Bytes of one connection: the head of an answer, its body, and what a camera sends without being asked.
    mutating func take(_ bytes: ArraySlice<UInt8>, at now: UInt64, _ actions: inout [Action]) throws(RTSPFailure) {
        var input = bytes
        while !input.isEmpty {
            switch step {
            case .idle, .over: return
            case .resting:
                // Nothing was asked for.
                isReusable = false
                actions.append(.close)
                return
            case .head: try takeHead(&input, at: now, &actions)
            case .unknownBody, .stream, .frame: try takeBody(&input, at: now, &actions)
            }
        }
    }

    private mutating func takeHead(
        _ input: inout ArraySlice<UInt8>, at now: UInt64, _ actions: inout [Action]
    ) throws(RTSPFailure) {
        pending += input
        input = []
        let expected = Array("HTTP/".utf8)
        guard pending.starts(with: expected) || expected.starts(with: pending) else {
            fail(.notHTTP, &actions)
            return
        }
        guard let end = RTSPMessage.headEnd(of: pending[...]) else {
            guard pending.count <= RTSPMessage.maxHeadLength else {
                throw .tooLong(what: "bytes of headers", limit: RTSPMessage.maxHeadLength)
            }
            return
        }
        let head = try RTSPMessage.parse(head: pending[..<end], at: position)
        position += end
        input = Array(pending[end...])[...]
        pending = []
        guard case .response(let status, let reason) = head.start else {
            fail(.notHTTP, &actions)
            return
        }
        // An interim answer promises another one.
        if status >= 200 { answered(status, reason, head, at: now, &actions) }
    }

    private mutating func answered(
        _ status: Int, _ reason: String, _ head: RTSPMessage, at now: UInt64, _ actions: inout [Action]
    ) {
        facts.answers += 1
        if facts.server == nil, let server = head.header("server") {
            facts.server = authenticator.shown(server, limit: 128)
        }
        switch status {
        case 200..<300: granted(head, at: now, &actions)
        case 401: logIn(head, &actions)
        case 403: fail(.session(.forbidden), &actions)
        case 404, 410: fail(.session(.noSuchStream), &actions)
        case 429, 503:
            let seconds = head.header("retry-after").flatMap { CameraText.number($0, as: Int.self) }
            fail(.session(.busy(status: status, retryAfterSeconds: seconds.map { min($0, 86_400) })), &actions)
        case 301, 302, 303, 307, 308: redirect(status, head, &actions)
        default: refuse(status, reason, &actions)
        }
    }

    private mutating func refuse(_ status: Int, _ reason: String, _ actions: inout [Action]) {
        fail(
            .session(.refused(method: "GET", status: status, reason: authenticator.shown(reason, limit: 80))), &actions)
    }

    private mutating func logIn(_ head: RTSPMessage, _ actions: inout [Action]) {
        let headers = head.headers("www-authenticate")
        switch authenticator.verdict(
            on: headers, tried: tried, attempts: attempts, maxLogins: configuration.maxLogins)
        {
        case .fail(let failure): fail(.session(failure), &actions)
        case .answer(let challenge):
            authenticator.adopt(challenge)
            attempts += 1
            // What the answer's body says is of no use, and many cameras close behind it.
            reconnect(&actions)
        }
    }

    private mutating func redirect(_ status: Int, _ head: RTSPMessage, _ actions: inout [Action]) {
        guard let location = head.header("location"), let url = place.redirected(to: location) else {
            refuse(status, "a redirect without a usable address", &actions)
            return
        }
        redirects += 1
        if url.host.lowercased() != configuration.url.host.lowercased() {
            fail(.session(.redirectElsewhere(host: authenticator.shown(url.host, limit: 255))), &actions)
        } else if place.isSecure, !url.isSecure {
            refuse(status, "a redirect to an address without TLS", &actions)
        } else if redirects > Self.maxRedirects {
            fail(.tooManyRedirects(limit: Self.maxRedirects), &actions)
        } else {
            if tried != nil { authenticator.wasAccepted() }
            attempts = 0
            // For good, as far as every answer before it was (RFC 9110 §15.4).
            if status == 301 || status == 308, place == home { home = url }
            move(to: url)
            reconnect(&actions)
        }
    }

    // MARK: What is granted

    private mutating func granted(_ head: RTSPMessage, at now: UInt64, _ actions: inout [Action]) {
        attempts = 0
        if tried != nil {
            authenticator.wasAccepted()
            facts.authentication = tried?.scheme?.name ?? facts.authentication
        }
        let type = head.header("content-type") ?? ""
        let essence = CameraText.trimmed(type.prefix { $0 != ";" }).lowercased()
        isReusable = Self.keepsAlive(head)
        if essence.hasPrefix("multipart/") {
            body = BodyReader(head, isStream: true)
            beginStream(boundary: HeaderParameters(type)["boundary"], at: now, &actions)
        } else if ["image/jpeg", "image/jpg", "image/pjpeg"].contains(essence) {
            body = BodyReader(head, isStream: false)
            beginPicture(&actions)
        } else if ["", "application/octet-stream", "image/*", "video/mjpeg", "video/x-motion-jpeg"].contains(essence) {
            // Its first bytes show what it is.
            body = BodyReader(head, isStream: false)
            step = .unknownBody
        } else {
            noFrames(essence, &actions)
            return
        }
        // A length of nothing: there are no bytes that would show it.
        if body?.isOver == true { bodyEnded(at: now, &actions) }
    }

    private mutating func noFrames(_ type: String, _ actions: inout [Action]) {
        let isPage = ["text/", "application/xhtml", "application/xml", "application/soap", "application/json"].contains
        {
            type.hasPrefix($0)
        }
        fail(.noFrames(type: authenticator.shown(type, limit: 64), isPage: isPage), &actions)
    }

    private static func keepsAlive(_ head: RTSPMessage) -> Bool {
        let words = head.headers("connection").joined(separator: ",").lowercased()
        // Of HTTP/1.0 it has to be said; the version is in no field of a head, but those cameras close or say it.
        return !words.contains("close")
    }

    private mutating func beginStream(boundary: String?, at now: UInt64, _ actions: inout [Action]) {
        damagedBefore = facts.damaged
        parts = MultipartReader(boundary: boundary)
        frames = 0
        step = .stream
        play(isPolled: false, &actions)
    }

    private mutating func beginPicture(_ actions: inout [Action]) {
        frame = []
        step = .frame
        play(isPolled: true, &actions)
    }

    private mutating func play(isPolled: Bool, _ actions: inout [Action]) {
        guard self.isPolled != isPolled else { return }
        self.isPolled = isPolled
        actions.append(.playing(isPolled: isPolled))
    }

    // MARK: Bodies

    private mutating func takeBody(
        _ input: inout ArraySlice<UInt8>, at now: UInt64, _ actions: inout [Action]
    ) throws(RTSPFailure) {
        while step != .over, step != .idle, step != .resting {
            let before = input.count
            guard var reader = body else { return }
            // Only one of them may hold what it has read of a line.
            body = nil
            let part = try reader.next(&input, at: position)
            let isOver = reader.isOver
            body = reader
            position += before - input.count
            if let part { try takePart(part, at: now, &actions) }
            if isOver {
                bodyEnded(at: now, &actions)
                return
            }
            if part == nil { return }
        }
    }

    private mutating func takePart(
        _ bytes: ArraySlice<UInt8>, at now: UInt64, _ actions: inout [Action]
    ) throws(RTSPFailure) {
        switch step {
        case .unknownBody:
            pending += bytes
            try probe(at: now, &actions)
        case .stream:
            for jpeg in try parts?.received(bytes) ?? [] { came(jpeg, &actions) }
        case .frame:
            guard bytes.count <= MultipartReader.maxFrameBytes - frame.count else {
                throw .tooLong(what: "bytes of a frame", limit: MultipartReader.maxFrameBytes)
            }
            frame += bytes
        default: break
        }
    }

    /// A frame begins as one, a stream with a boundary or an empty line before it.
    private mutating func probe(at now: UInt64, _ actions: inout [Action]) throws(RTSPFailure) {
        let rest = pending.drop { CameraText.isBlank($0) }
        guard rest.count >= JPEGEnd.beginning.count || pending.count > Self.maxProbeTime else { return }
        let bytes = pending[...]
        pending = []
        if bytes.starts(with: JPEGEnd.beginning) {
            beginPicture(&actions)
        } else if rest.starts(with: Array("--".utf8)) {
            beginStream(boundary: nil, at: now, &actions)
        } else {
            isReusable = false
            tookNoFrame(Array(bytes.drop { CameraText.isBlank($0) }), at: now, &actions)
            return
        }
        try takePart(bytes, at: now, &actions)
    }

    private mutating func bodyEnded(at now: UInt64, _ actions: inout [Action]) {
        switch step {
        case .stream: streamEnded(at: now, &actions)
        case .frame: frameEnded(isWhole: true, at: now, &actions)
        case .unknownBody: tookNoFrame(pending, at: now, &actions)
        default: break
        }
    }

    mutating func streamEnded(at now: UInt64, _ actions: inout [Action]) {
        if let jpeg = parts?.ended() { came(jpeg, &actions) }
        guard frames > 0 else {
            fail(.session(.closed(method: nil)), &actions)
            return
        }
        isReusable = false
        rest(for: Self.streamInterval, at: now)
    }

    private mutating func came(_ jpeg: [UInt8], _ actions: inout [Action]) {
        frames += 1
        redirects = 0
        facts.frames &+= 1
        actions.append(.frame(jpeg))
    }

    // MARK: Single frames

    /// - Parameter isWhole: by its length; else it ended with the connection.
    mutating func frameEnded(isWhole: Bool, at now: UInt64, _ actions: inout [Action]) {
        let endsWithConnection = body?.isUntilClose == true
        body = nil
        var bytes = frame
        frame = []
        guard bytes.starts(with: JPEGEnd.beginning) || !isWhole && !endsWithConnection else {
            tookNoFrame(bytes, at: now, &actions)
            return
        }
        var jpegEnd = JPEGEnd()
        jpegEnd.advance(bytes[...], limit: bytes.count)
        if case .done(let place) = jpegEnd.state, jpegEnd.hasScan, place >= MultipartReader.minFrameBytes {
            bytes.removeLast(bytes.count - place)
        } else if isWhole, jpegEnd.hasScan, bytes.count >= MultipartReader.minFrameBytes {
            if !bytes.suffix(2).elementsEqual([0xFF, 0xD9]) { bytes += [0xFF, 0xD9] }
        } else {
            cutOff(.session(.closed(method: "GET")), at: now, &actions)
            return
        }
        cut = 0
        redirects = 0
        facts.frames &+= 1
        rest(for: configuration.interval, at: now)
        if let last, last.bytes == bytes, now < last.at &+ Self.maxRepeatTime {
            actions.append(.unchanged)
        } else {
            last = (bytes, now)
            actions.append(.frame(bytes))
        }
    }

    /// An answer that should have been a frame. Of a camera that sent some before, it costs itself.
    private mutating func tookNoFrame(_ bytes: [UInt8], at now: UInt64, _ actions: inout [Action]) {
        let failure = HTTPVideoFailure.noFrames(
            type: bytes.isEmpty ? "an empty answer" : "", isPage: bytes.first == UInt8(ascii: "<"))
        pending = []
        body = nil
        if facts.frames > 0 { cutOff(failure, at: now, &actions) } else { fail(failure, &actions) }
    }

    /// One that is cut, or none, costs itself; several, the session.
    private mutating func cutOff(_ failure: HTTPVideoFailure, at now: UInt64, _ actions: inout [Action]) {
        damagedBefore &+= 1
        facts.damaged = damagedBefore
        cut += 1
        if cut < Self.maxCut { rest(for: configuration.interval, at: now) } else { fail(failure, &actions) }
    }

    private static let maxCut = 3

    private mutating func rest(for interval: UInt64, at now: UInt64) {
        step = .resting
        restsUntil = max(requestedAt &+ interval, now)
    }
}
