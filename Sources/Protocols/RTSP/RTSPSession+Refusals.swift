extension RTSPSession {
    mutating func refused(
        _ request: Outstanding, status: Int, reason: String, _ message: RTSPMessage, at now: UInt64,
        _ actions: inout [Action]
    ) {
        let method = request.request.method
        if step == .options {
            // Some want a login even for this, some do not know it: DESCRIBE shows.
            describe(at: now, &actions)
            return
        }
        if case .setUp(let place) = step, isDispensable(place), ![401, 453, 503].contains(status) {
            facts.refusedMedia.append(selection[place])
            setUp(place + 1, at: now, &actions)
            return
        }
        switch status {
        case 401: logIn(request, message, at: now, &actions)
        case 403: fail(.forbidden, at: now, &actions)
        case 454 where method == "PLAY" && firstSessionID != nil && firstSessionID != sessionID:
            // Of several sessions it counts the first one, and not the newest (H264DVR 1.0).
            sessionID = firstSessionID
            play(at: now, &actions)
        case 404, 410: fail(.noSuchStream, at: now, &actions)
        case 453, 503:
            let seconds = message.header("retry-after").flatMap { CameraText.number($0, as: Int.self) }
            fail(.busy(status: status, retryAfterSeconds: seconds.map { min($0, 86_400) }), at: now, &actions)
        case 457 where method == "PLAY" && !request.request.headers.isEmpty:
            // No range is valid for a camera that is live and says so.
            playsWithRange = false
            play(at: now, &actions)
        case 461: fail(.transportRefused, at: now, &actions)
        case 300..<400: redirect(from: method, status: status, message, at: now, &actions)
        default: fail(.refused(method: method, status: status, reason: shown(reason, limit: 80)), at: now, &actions)
        }
    }

    /// Audio or data beside a frame: what plays without it is better than nothing.
    private func isDispensable(_ place: Int) -> Bool {
        guard let media = description?.media else { return false }
        return media[selection[place]].kind != "video" && selection.contains { media[$0].kind == "video" }
    }

    /// A session that is alive stays so. 454 ends it only where no media come any more: some cameras answer it to every
    /// keep-alive (`themactep/thingino-firmware#490`).
    mutating func keepAliveRefused(
        _ request: Outstanding, status: Int, reason: String, _ message: RTSPMessage, at now: UInt64,
        _ actions: inout [Action]
    ) {
        switch status {
        case 401: keepAliveLoginRefused(request, message, at: now, &actions)
        case 454 where mediaAt.map({ now >= $0 + Self.mediaTimeout }) ?? true:
            let failure = RTSPFailure.refused(
                method: request.request.method, status: status, reason: shown(reason, limit: 80))
            sessionID = nil
            tracks = []
            fail(failure, at: now, &actions)
        default:
            guard request.request.method == "GET_PARAMETER", !getParameterWorks else { return }
            facts.getParameterRefused = true
            keepAlive(at: now, &actions)
        }
    }

    /// After a login that the camera took, 401 with nothing new to answer says something of this method, not of the
    /// login: the stream decides whether the session lives.
    private mutating func keepAliveLoginRefused(
        _ request: Outstanding, _ message: RTSPMessage, at now: UInt64, _ actions: inout [Action]
    ) {
        let challenges = Challenge.parse(message.headers("www-authenticate"))
        let challenge = authenticator.strongest(of: challenges)
        guard !keepsAliveWithoutLogin else { return }
        guard authenticator.accepted != nil, let tried = request.challenge,
            !authenticator.isWorthAnotherLogin(
                challenge, tried: tried, attempts: request.attempts, maxLogins: configuration.maxLogins)
        else {
            logIn(request, message, at: now, &actions)
            return
        }
        guard request.request.method == "GET_PARAMETER" else {
            keepsAliveWithoutLogin = true
            return
        }
        facts.getParameterRefused = true
        keepAlive(at: now, &actions)
    }

    // MARK: Login

    /// Answers 401 once; again only when that is worth it.
    private mutating func logIn(
        _ request: Outstanding, _ message: RTSPMessage, at now: UInt64, _ actions: inout [Action]
    ) {
        switch authenticator.verdict(
            on: message.headers("www-authenticate"), tried: request.challenge, attempts: request.attempts,
            maxLogins: configuration.maxLogins)
        {
        case .fail(let failure): fail(failure, at: now, &actions)
        case .answer(let challenge):
            authenticator.adopt(challenge)
            send(
                request.request, isKeepAlive: request.isKeepAlive, attempts: request.attempts + 1, at: now, &actions)
        }
    }

    // MARK: Redirects

    mutating func redirect(
        from method: String, status: Int, _ message: RTSPMessage, at now: UInt64, _ actions: inout [Action]
    ) {
        guard let location = message.header("location"), let url = configuration.url.redirected(to: location) else {
            fail(
                .refused(method: method, status: status, reason: "a redirect without a usable address"), at: now,
                &actions)
            return
        }
        if url.host.lowercased() != configuration.url.host.lowercased() {
            fail(.redirectElsewhere(host: shown(url.host, limit: 255)), at: now, &actions)
        } else if configuration.url.isSecure, !url.isSecure {
            fail(
                .refused(method: method, status: status, reason: "a redirect to an address without TLS"), at: now,
                &actions)
        } else if !configuration.followsRedirect {
            fail(.refused(method: method, status: status, reason: "a redirect behind a redirect"), at: now, &actions)
        } else {
            end(.redirected(url), at: now, &actions)
        }
    }
}
