extension RTSPSession {
    mutating func take(_ message: RTSPMessage, at now: UInt64, _ actions: inout [Action]) {
        switch message.start {
        case .request(let method, _): answer(method, message, at: now, &actions)
        case .response(let status, let reason):
            // 100 Continue promises another answer.
            guard status >= 200, let request = answered(by: message) else { return }
            if facts.server == nil, let server = message.header("server") { facts.server = shown(server, limit: 128) }
            if status < 300 {
                succeeded(request, message, at: now, &actions)
            } else if request.isKeepAlive {
                keepAliveRefused(request, status: status, reason: reason, message, at: now, &actions)
            } else {
                refused(request, status: status, reason: reason, message, at: now, &actions)
            }
        }
    }

    /// The request that this answers: by its number, else the oldest one, as answers come in order.
    private mutating func answered(by message: RTSPMessage) -> Outstanding? {
        guard !outstanding.isEmpty else {
            facts.unexpectedAnswers += 1
            return nil
        }
        let number = message.header("cseq").flatMap { CameraText.number($0, as: UInt32.self) }
        if let index = outstanding.firstIndex(where: { $0.cseq == number }) {
            let request = outstanding[index]
            outstanding.removeFirst(index + 1)
            return request
        }
        facts.brokenCSeq += 1
        return outstanding.removeFirst()
    }

    private mutating func succeeded(
        _ request: Outstanding, _ message: RTSPMessage, at now: UInt64, _ actions: inout [Action]
    ) {
        if let scheme = request.challenge?.scheme {
            authenticator.wasAccepted()
            facts.authentication = scheme.name
        }
        if request.isKeepAlive {
            if request.request.method == "GET_PARAMETER" { getParameterWorks = true }
            return
        }
        switch step {
        case .options:
            noteMethods(message)
            describe(at: now, &actions)
        case .describe: described(message, at: now, &actions)
        case .setUp(let place): setUpAnswered(place, request, message, at: now, &actions)
        case .play:
            noteSession(message)
            let entries = message.headers("rtp-info").flatMap { RTPInfoHeader.parse($0) }
            let known = tracks.map { (media: $0.media, url: $0.url, control: $0.control) }
            step = .playing
            keepAliveAt = now + keepAliveInterval
            actions.append(.playing(RTPInfoHeader.assign(entries, to: known)))
        case .idle, .awaitingPorts, .playing, .over: break
        }
    }

    private mutating func noteMethods(_ message: RTSPMessage) {
        let names = (message.header("public") ?? message.header("allow") ?? "").split(separator: ",").prefix(32)
        facts.methods = names.map { CameraText.printable($0, limit: 24).uppercased() }.filter { !$0.isEmpty }
    }

    private mutating func noteSession(_ message: RTSPMessage) {
        guard let session = message.header("session").flatMap({ SessionHeader($0) }) else { return }
        // Some cameras give another one with each SETUP and know the newest only; a few, the first only.
        firstSessionID = firstSessionID ?? session.identifier
        sessionID = session.identifier
        facts.sessionTimeout = session.timeout ?? facts.sessionTimeout
    }

    private mutating func described(_ message: RTSPMessage, at now: UInt64, _ actions: inout [Action]) {
        let found: SessionDescription
        do throws(RTSPError) {
            found = try SessionDescription.parse(message.body)
        } catch {
            switch error {
            case .malformed(_, let reason):
                let position = reader.position - message.body.count
                fail(.malformed(position: position, reason: "the stream description: \(reason)"), at: now, &actions)
            case .tooLong(let what, let limit):
                fail(.tooLong(what: "\(what) of a description", limit: limit), at: now, &actions)
            }
            return
        }
        description = found
        base = message.header("content-base") ?? message.header("content-location")
        aggregate = configuration.url.resolving(control: found.control, base: base)
        actions.append(.described(found))
        guard configuration.purpose == .play else {
            end(.ended, at: now, &actions)
            return
        }
        selection = []
        for index in configuration.select(found) ?? [] where found.media.indices.contains(index) {
            if !selection.contains(index), !found.media[index].isBackChannel { selection.append(index) }
        }
        guard !selection.isEmpty else {
            // What is encrypted as such is refused for that, whatever its coding.
            if let medium = found.media.first(where: { $0.kind == "video" && $0.isSRTP }) {
                fail(.encryptedMedia(profile: shown(medium.protocolName, limit: 32)), at: now, &actions)
                return
            }
            let offered = found.media.filter { $0.kind == "video" }.flatMap(\.formats).map(\.encoding)
            let names = offered.filter { !$0.isEmpty }.map { shown($0, limit: 32) }
            fail(.noSupportedMedia(offered: Array(names.prefix(16))), at: now, &actions)
            return
        }
        setUp(0, at: now, &actions)
    }

    private mutating func setUpAnswered(
        _ place: Int, _ request: Outstanding, _ message: RTSPMessage, at now: UInt64, _ actions: inout [Action]
    ) {
        noteSession(message)
        let media = selection[place]
        let answer = TransportHeader.Answer(message.header("transport"))
        guard let delivery = delivery(answer, place: place) else {
            // The camera may have a session now that it would keep for a minute.
            fail(.transportRefused, at: now, &actions)
            return
        }
        if case .interleaved(let rtp, let rtcp) = delivery {
            reader.assign(channel: rtp, to: Int16(2 * media))
            reader.assign(channel: rtcp, to: Int16(2 * media + 1))
        }
        let control = description?.media[media].control
        tracks.append(Track(media: media, url: request.request.url, control: control, delivery: delivery))
        actions.append(.setUp(media: media, MediaTransport(delivery: delivery, source: answer.source)))
        setUp(place + 1, at: now, &actions)
    }

    /// What request and answer agreed upon; nil when the camera does something else.
    private func delivery(_ answer: TransportHeader.Answer, place: Int) -> MediaTransport.Delivery? {
        let media = description?.media[selection[place]]
        switch configuration.transport {
        case .tcp:
            // Some answer RTP/AVP to RTP/AVP/TCP and mean it nevertheless; ports without channels are UDP.
            let isDatagram = answer.serverPorts != nil || answer.specification.hasSuffix("/UDP")
            guard !answer.isMulticast, answer.channels != nil || !isDatagram else { return nil }
            let asked = Self.channels(at: place)
            let channels = answer.channels ?? asked
            if isFree(channels) { return .interleaved(rtp: channels.rtp, rtcp: channels.rtcp) }
            return isFree(asked) ? .interleaved(rtp: asked.rtp, rtcp: asked.rtcp) : nil
        case .udp:
            guard !answer.isMulticast, !answer.specification.hasSuffix("/TCP") else { return nil }
            return .udp(
                MediaTransport.UDP(
                    serverAddress: answer.sourceAddress, serverRTP: answer.serverPorts?.rtp,
                    serverRTCP: answer.serverPorts?.rtcp, clientRTP: clientPorts.rtp, clientRTCP: clientPorts.rtcp))
        case .multicast:
            guard answer.isMulticast || answer.groupPorts != nil, !answer.specification.hasSuffix("/TCP"),
                let group = answer.destination ?? media?.connection
            else { return nil }
            var ports = answer.groupPorts
            if ports == nil, let port = media?.port, port > 0, port < UInt16.max { ports = (port, port + 1) }
            guard let ports else { return nil }
            return .multicast(
                MediaTransport.Multicast(
                    group: group, rtp: ports.rtp, rtcp: ports.rtcp, timeToLive: answer.timeToLive,
                    sourceAddress: answer.sourceAddress))
        }
    }

    private func isFree(_ channels: (rtp: UInt8, rtcp: UInt8)) -> Bool {
        reader.owners[Int(channels.rtp)] < 0 && reader.owners[Int(channels.rtcp)] < 0
    }

    func shown(_ text: String, limit: Int) -> String { authenticator.shown(text, limit: limit) }
}
