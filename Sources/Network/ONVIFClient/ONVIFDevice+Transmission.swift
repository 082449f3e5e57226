internal import Cryptography
internal import HTTPClient
internal import ONVIF
internal import Platform
internal import Synchronization
internal import Wire
internal import XMLReader

/// What came back, as far as it decides what is done next.
enum DeviceAnswer {
    case response(XMLElement)
    case fault(ONVIFFault)
    case loginRefused(offersDigest: Bool)
    /// The connection ended before the answer did.
    case lost(ONVIFError)
}

/// When a request went out, and which date its answer bore.
struct TransmissionMoment {
    var nanoseconds: UInt64 = 0
    var wallMilliseconds: Int64 = 0
    var date: String?
    /// Where it sent us, if it did.
    var redirect: String?

    mutating func begin() {
        nanoseconds = Clocks.boot
        wallMilliseconds = Clocks.wallMilliseconds
    }
}

/// Who asks.
struct DeviceUser {
    var name: String
    var password: String
}

extension ONVIFDevice {
    var user: DeviceUser? { access.user.map { DeviceUser(name: $0, password: access.password ?? "") } }

    func transmit(
        _ request: ONVIFRequest, to url: String, _ attempt: LoginDialogue.Attempt, timeout: Duration
    ) async throws(ONVIFError) -> DeviceAnswer {
        var moment = TransmissionMoment()
        return try await transmit(request, to: url, attempt, timeout: timeout, at: &moment)
    }

    /// One request and its answer.
    func transmit(
        _ request: ONVIFRequest, to url: String, _ attempt: LoginDialogue.Attempt, timeout: Duration,
        at moment: inout TransmissionMoment
    ) async throws(ONVIFError) -> DeviceAnswer {
        let message = try message(request, to: url, attempt, timeout)
        // A pull waits for something to happen, and no other request should wait for that: it is not one of the two.
        let isCounted = request.operation != "PullMessages"
        if isCounted {
            guard await gate.enter() else { throw .cancelled }
        }
        defer { if isCounted { gate.leave() } }
        moment.begin()
        state.withLock { $0.requests += 1 }
        let response: HTTPResponse
        do throws(HTTPClientError) {
            response = try await client.send(message)
        } catch {
            let failure = ONVIFError(error, request.operation)
            if case .connectionLost = error { return .lost(failure) }
            throw failure
        }
        moment.date = response.header("Date")
        moment.redirect = (300..<400).contains(response.status) ? response.header("Location") : nil
        try learn(from: response, isEncrypted: Self.isEncrypted(message.url))
        return try Self.read(
            response, host: host, operation: request.operation, takesBasic: access.allowsPlainPassword)
    }

    private static func isEncrypted(_ url: String) -> Bool { DeviceURL(url)?.scheme == "https" }

    func message(
        _ request: ONVIFRequest, to url: String, _ attempt: LoginDialogue.Attempt, _ timeout: Duration
    ) throws(ONVIFError) -> HTTPRequest {
        let (user, trust) = (user, state.withLock { $0.trust })
        if case .pinned = trust, !Self.isEncrypted(url) {
            throw .certificate(host: host, reason: "a pin is known, and this address has no TLS")
        }
        var token: UsernameToken?
        var digest: HTTPCredentials?
        switch attempt {
        case .open: break
        case .token(let reading):
            if let user {
                token = UsernameToken(
                    user: user.name, password: user.password, nonce: try random(16), milliseconds: time(reading),
                    sha1: { Digest.sha1($0) })
            }
        case .plainText(let reading):
            if let user {
                token = UsernameToken(
                    plainUser: user.name, password: user.password, nonce: try random(16), milliseconds: time(reading))
            }
        case .httpDigest: digest = user.map { HTTPCredentials(user: $0.name, password: $0.password) }
        }
        if Self.isEncrypted(url), trust == .firstUse, token != nil || digest != nil {
            throw .certificate(host: host, reason: "its certificate has not been accepted yet, so no login is sent")
        }
        let envelope = request.envelope(token: token, messageID: "urn:uuid:\(RandomUUID())")
        var message = HTTPRequest(
            method: .post, url: url,
            headers: [
                HTTPHeader("Content-Type", "application/soap+xml; charset=utf-8; action=\"\(request.action)\""),
                HTTPHeader("User-Agent", "WatchBox"), HTTPHeader("Accept", "application/soap+xml, text/xml"),
            ], body: Array(envelope.utf8), connectTimeout: .seconds(3), totalTimeout: timeout,
            maximumResponseBytes: 1 << 20)
        message.trust = trust
        message.digest = digest
        message.allowsBasic = digest != nil && access.allowsPlainPassword
        return message
    }

    private func time(_ reading: ClockCandidates.Reading) -> Int64 {
        state.withLock { $0.clock?.milliseconds(reading) } ?? Clocks.wallMilliseconds
    }

    func random(_ count: Int) throws(ONVIFError) -> [UInt8] {
        do throws(CryptoError) {
            return try SecureRandom.bytes(count)
        } catch {
            throw .unavailable(reason: "no random numbers: \(error)")
        }
    }

    /// From the first answer on, no other certificate will do.
    func learn(from response: HTTPResponse, isEncrypted: Bool) throws(ONVIFError) {
        let host = host
        let failure = state.withLock { state -> ONVIFError? in
            if let pin = response.pin, isEncrypted {
                // Two requests may have gone out before either was answered, and to two servers.
                if case .pinned(let known) = state.trust, known != pin { return .certificateChanged(host: host) }
                state.pin = pin
                if state.trust == .firstUse { state.trust = .pinned(pin) }
            }
            if let address = response.peerAddress { state.address = address }
            let isUnpinned = isEncrypted && state.trust == .firstUse
            return isUnpinned ? .certificate(host: host, reason: "its certificate's key could not be read") : nil
        }
        if let failure { throw failure }
    }

    private static func read(
        _ response: HTTPResponse, host: String, operation: String, takesBasic: Bool
    ) throws(ONVIFError) -> DeviceAnswer {
        let offersDigest = response.headers.contains { header in
            header.name.lowercased() == "www-authenticate"
                && (offers("digest", in: header.value) || takesBasic && offers("basic", in: header.value))
        }
        let document: XMLElement
        do throws(XMLReaderError) {
            document = try XMLReader.parse(response.body[...])
        } catch {
            if case .unavailable(let reason) = error { throw .unavailable(reason: reason) }
            switch response.status {
            case 401, 403: return .loginRefused(offersDigest: offersDigest)
            // A camera's broken message is not a web page, of which the ONVIF service may be at another port.
            case 200..<300 where isMeantAsSOAP(response.body):
                throw .malformed(operation: operation, reason: "\(error)")
            // Some have no message for what they do not know.
            case let status where [400, 500, 501].contains(status) && response.body.isEmpty:
                let kind: ONVIFFault.Kind = response.status == 501 ? .actionNotSupported : .other
                return .fault(ONVIFFault(kind: kind, reason: "HTTP \(response.status)"))
            default: throw .notONVIF(host: host, reason: "it answers with HTTP \(response.status) and no SOAP message")
            }
        }
        switch SOAPAnswer(document) {
        case .response(let element):
            guard response.status == 401 else { return .response(element) }
            return .loginRefused(offersDigest: offersDigest)
        case .fault(let fault):
            let isLogin = fault.kind == .notAuthorized || (response.status == 401 && fault.kind != .forbidden)
            return isLogin ? .loginRefused(offersDigest: offersDigest) : .fault(fault)
        case .notSOAP(let reason):
            guard ![401, 403].contains(response.status) else { return .loginRefused(offersDigest: offersDigest) }
            throw .notONVIF(host: host, reason: reason)
        }
    }

    /// Whether a body that is not XML was to be an envelope: its first element says so.
    private static func isMeantAsSOAP(_ body: [UInt8]) -> Bool {
        let head = String(decoding: body.prefix(1024), as: UTF8.self)
        return head.contains("<Envelope") || head.contains(":Envelope")
    }

    /// Whether a challenge of this scheme begins anywhere in the header: several may share one.
    private static func offers(_ scheme: String, in challenges: String) -> Bool {
        challenges.lowercased().split { $0 == "," || $0 == " " }.contains { $0 == scheme }
    }
}
