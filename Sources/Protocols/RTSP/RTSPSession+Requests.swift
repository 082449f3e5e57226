extension RTSPSession {
    /// Sends a request with the login that the camera asked for, if it did.
    mutating func send(
        _ request: OutgoingRequest, isKeepAlive: Bool = false, attempts: Int = 0, at now: UInt64,
        _ actions: inout [Action]
    ) {
        cseq &+= 1
        var authorization: String?
        if !isKeepAlive || !keepsAliveWithoutLogin {
            authorization = authenticator.authorization(method: request.method, url: request.url)
        }
        outstanding.append(
            Outstanding(
                cseq: cseq, request: request, isKeepAlive: isKeepAlive,
                challenge: authorization == nil ? nil : authenticator.challenge, attempts: attempts,
                deadline: now + configuration.requestTimeout))
        if outstanding.count > Self.maxOutstanding { outstanding.removeFirst() }
        actions.append(
            .write(
                request.encoded(cseq: cseq, userAgent: userAgent, session: sessionID, authorization: authorization)))
    }

    mutating func describe(at now: UInt64, _ actions: inout [Action]) {
        step = .describe
        let accept = RTSPMessage.Header(name: "Accept", value: "application/sdp")
        let request = OutgoingRequest(method: "DESCRIBE", url: configuration.url.description, headers: [accept])
        send(request, at: now, &actions)
    }

    /// Sets up the medium at this place of the selection, or plays when there is none left.
    mutating func setUp(_ place: Int, at now: UInt64, _ actions: inout [Action]) {
        guard place < selection.count else {
            play(at: now, &actions)
            return
        }
        switch configuration.transport {
        case .tcp:
            let channels = Self.channels(at: place)
            let transport = TransportHeader.interleaved(rtp: channels.rtp, rtcp: channels.rtcp)
            requestSetUp(place, transport: transport, at: now, &actions)
        case .udp:
            step = .awaitingPorts(place)
            actions.append(.needsPorts(media: selection[place]))
        case .multicast: requestSetUp(place, transport: TransportHeader.multicast, at: now, &actions)
        }
    }

    /// The channels that are asked for; there are at most 16 media.
    static func channels(at place: Int) -> (rtp: UInt8, rtcp: UInt8) {
        (UInt8(truncatingIfNeeded: 2 * place), UInt8(truncatingIfNeeded: 2 * place + 1))
    }

    mutating func requestSetUp(_ place: Int, transport: String, at now: UInt64, _ actions: inout [Action]) {
        step = .setUp(place)
        let header = RTSPMessage.Header(name: "Transport", value: transport)
        send(
            OutgoingRequest(method: "SETUP", url: controlURL(of: selection[place]), headers: [header]), at: now,
            &actions)
    }

    /// A medium without a control of its own is the only one (RFC 2326 §C.1.1).
    func controlURL(of media: Int) -> String {
        guard let control = description?.media[media].control, !control.isEmpty else { return aggregate.description }
        return configuration.url.resolving(control: control, base: base).description
    }

    mutating func play(at now: UInt64, _ actions: inout [Action]) {
        step = .play
        let range = RTSPMessage.Header(name: "Range", value: "npt=0.000-")
        let request = OutgoingRequest(
            method: "PLAY", url: aggregate.description, headers: playsWithRange ? [range] : [])
        send(request, at: now, &actions)
    }

    mutating func keepAlive(at now: UInt64, _ actions: inout [Action]) {
        let takesGetParameter = facts.methods.contains("GET_PARAMETER") && !facts.getParameterRefused
        let method = takesGetParameter && !configuration.keepsAliveWithOptions ? "GET_PARAMETER" : "OPTIONS"
        send(OutgoingRequest(method: method, url: aggregate.description), isKeepAlive: true, at: now, &actions)
        keepAliveAt = now + keepAliveInterval
    }

    /// Nanoseconds: half of what the session lives without a request, and never more than 30 s.
    var keepAliveInterval: UInt64 {
        let seconds = UInt64(clamping: facts.sessionTimeout ?? Self.defaultTimeout)
        return min(max(seconds * 500_000_000, 500_000_000), 30_000_000_000)
    }

    // MARK: Requests of the camera

    mutating func answer(_ method: String, _ message: RTSPMessage, at now: UInt64, _ actions: inout [Action]) {
        facts.serverRequests += 1
        if now - min(now, serverRequestWindow.start) >= 1_000_000_000 { serverRequestWindow = (now, 0) }
        guard serverRequestWindow.count < Self.maxServerRequests else { return }
        serverRequestWindow.count += 1
        let isKnown = ["OPTIONS", "GET_PARAMETER", "SET_PARAMETER", "REDIRECT", "TEARDOWN"].contains(method)
        var text = "RTSP/1.0 \(isKnown ? "200 OK" : "501 Not Implemented")\r\n"
        if let number = message.header("cseq").flatMap({ CameraText.number($0, as: UInt32.self) }) {
            text += "CSeq: \(number)\r\n"
        }
        text += "User-Agent: \(userAgent)\r\n"
        if method == "OPTIONS" { text += "Public: OPTIONS, GET_PARAMETER, SET_PARAMETER, REDIRECT, TEARDOWN\r\n" }
        actions.append(.write(Array((text + "\r\n").utf8)))
        switch method {
        case "REDIRECT" where message.header("location") != nil:
            redirect(from: method, status: 302, message, at: now, &actions)
        case "TEARDOWN":
            sessionID = nil
            tracks = []
            fail(.closed(method: nil), at: now, &actions)
        default: break
        }
    }
}
