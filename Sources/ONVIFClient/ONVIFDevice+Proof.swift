internal import Cryptography
internal import HTTPClient
public import ONVIF
internal import Synchronization

extension ONVIFDevice {
    /// Whether who answers is the camera that is known.
    public enum Proof: Equatable, Sendable {
        case proven
        /// With the reason, a sentence without its full stop.
        case notProven(reason: String)
        /// It could not be asked.
        case failed(ONVIFError)
    }

    /// Asks who answers here to prove that it is the camera with this identity: that it refuses a call without login; that
    /// it accepts the right password by WS-UsernameToken or by HTTP Digest with `qop=auth`; then, once and for all, that of
    /// twelve logins by that same way it refuses exactly those with a wrong password, which are one to three at random; and
    /// that it shows the serial number, endpoint or MAC that is known.
    ///
    /// The password goes out as a digest only. Somebody who knows the identity and not the password passes once in 298
    /// times: there are as many ways to choose one to three of twelve, all equally probable, and a single wrong answer is
    /// final. Who asks again after a failure gives another such chance. This keeps nobody out who can reach the real camera
    /// and pass everything on to it; TLS with a pin that was known before does.
    ///
    /// After `.proven`, `learntAccess` has the pin of the certificate that was shown meanwhile.
    public func prove(_ identity: DeviceIdentity) async -> Proof {
        do throws(ONVIFError) {
            return await prove(identity, ProofPattern(try random(64)))
        } catch {
            return .failed(error)
        }
    }

    /// - Parameter pattern: nil: there are no random numbers.
    func prove(_ identity: DeviceIdentity, _ pattern: ProofPattern?) async -> Proof {
        guard !identity.isEmpty else { return .notProven(reason: "nothing is known by which it could be recognised") }
        guard let user, !user.password.isEmpty else {
            return .notProven(reason: "the camera has no user and password here by which it could prove itself")
        }
        guard let pattern else { return .failed(.unavailable(reason: "no random numbers")) }
        do throws(ONVIFError) {
            try await prepareLogin()
            var moment = TransmissionMoment()
            let open = try await answered { () async throws(ONVIFError) in
                try await self.transmit(
                    DeviceInformation.request, to: self.serviceURL, .open, timeout: .seconds(10), at: &moment)
            }
            guard case .loginRefused = open else {
                return .notProven(reason: "it tells who it is without asking for a login")
            }
            guard let login = try await acceptedLogin(HTTPDigestChallenge(moment.challenges) != nil, user) else {
                return .notProven(reason: "it refuses the camera's user or password")
            }
            return try await challenge(login, user, identity, pattern)
        } catch {
            return .failed(error)
        }
    }

    /// With the right password alone, each way once, and no more than a camera allows.
    private func acceptedLogin(
        _ offersDigest: Bool, _ user: DeviceUser
    ) async throws(ONVIFError) -> LoginDialogue.Attempt? {
        let readings = state.withLock { $0.clock?.candidates.distinct(first: access.clock) } ?? []
        var attempts = readings.map { LoginDialogue.Attempt.token($0) }
        if offersDigest { attempts.insert(.httpDigest, at: min(1, attempts.count)) }
        for attempt in attempts.prefix(LoginDialogue.mostLogins) {
            switch try await proved(DeviceInformation.request, attempt, user) {
            case .response: return attempt
            case .loginRefused: continue
            case .fault(let fault): throw ONVIFError(fault, DeviceInformation.request.operation)
            case .lost(let error): throw error
            }
        }
        return nil
    }

    /// Once for each proof. What the device answers decides nothing before the answer after it is asked for, but its end.
    private func challenge(
        _ login: LoginDialogue.Attempt, _ user: DeviceUser, _ identity: DeviceIdentity, _ pattern: ProofPattern
    ) async throws(ONVIFError) -> Proof {
        let other = DeviceUser(
            name: user.name, password: try random(12).map { String($0, radix: 36) }.joined(separator: "-"))
        var information: DeviceInformation?
        for isWrong in pattern.isWrong {
            switch try await proved(DeviceInformation.request, login, isWrong ? other : user) {
            case .response(let element):
                if isWrong { return .notProven(reason: "it accepts a wrong password") }
                information = DeviceInformation(element)
            case .loginRefused:
                if !isWrong { return .notProven(reason: "it refuses a password that it accepted before") }
            case .fault: return .notProven(reason: "it refuses what it answered before")
            // A lost one is not sent again: whoever could see which are would know more.
            case .lost(let error): throw error
            }
        }
        guard let information else { return .notProven(reason: "it does not tell who it is") }
        return try await compare(identity, information, login)
    }

    /// Its answer to a login that cannot be told from another one by who does not know the password.
    private func proved(
        _ request: ONVIFRequest, _ login: LoginDialogue.Attempt, _ user: DeviceUser
    ) async throws(ONVIFError) -> DeviceAnswer {
        let url = serviceURL
        guard login == .httpDigest else {
            return try await transmit(request, to: url, login, as: user, timeout: .seconds(10))
        }
        // Not by libcurl, which answers without `qop` too when the second demand is another than the first.
        var moment = TransmissionMoment()
        let open = try await transmit(request, to: url, .open, timeout: .seconds(10), at: &moment)
        guard case .loginRefused = open else { return open }
        guard let demand = HTTPDigestChallenge(moment.challenges) else { return .loginRefused(offersDigest: false) }
        var message = try message(request, to: url, .open, nil, .seconds(10))
        var rest = DeviceURL(url)?.rest ?? "/"
        if !rest.hasPrefix("/") { rest = "/" + rest }
        let nonce = try random(16).map { byte in String(byte, radix: 16) }.joined()
        let authorization = demand.authorization(
            user: user.name, password: user.password, method: "POST", uri: rest, clientNonce: nonce
        ) { algorithm, bytes in algorithm == .md5 ? Digest.md5(bytes) : Digest.sha256(bytes) }
        message.headers.append(HTTPHeader("Authorization", authorization))
        return try await transmit(message, of: request, at: &moment)
    }

    /// By the first of serial number, endpoint and MAC that is known and that the device shows.
    private func compare(
        _ identity: DeviceIdentity, _ information: DeviceInformation, _ attempt: LoginDialogue.Attempt
    ) async throws(ONVIFError) -> Proof {
        let shown = DeviceIdentity(serial: information.serial)
        if let serial = identity.serial, shown.serial != nil {
            return serial == shown.serial ? .proven : .notProven(reason: "its serial number is another one")
        }
        if let endpoint = identity.endpoint,
            let answer = try await asked(DeviceInformation.endpointRequest, attempt),
            let theirs = DeviceInformation.endpoint(answer)
        {
            return endpoint == theirs ? .proven : .notProven(reason: "its endpoint reference is another one")
        }
        if let mac = identity.mac, let answer = try await asked(DeviceInformation.networkRequest, attempt),
            let theirs = DeviceInformation.hardwareAddress(answer)
        {
            return mac == theirs ? .proven : .notProven(reason: "its hardware address is another one")
        }
        return .notProven(reason: "it shows neither serial number, endpoint reference nor hardware address")
    }

    private func asked(
        _ request: ONVIFRequest, _ attempt: LoginDialogue.Attempt
    ) async throws(ONVIFError) -> XMLElement? {
        guard let user else { return nil }
        if case .response(let element) = try await proved(request, attempt, user) { return element }
        return nil
    }

    /// Once more when the connection broke.
    private func answered(
        _ send: () async throws(ONVIFError) -> DeviceAnswer
    ) async throws(ONVIFError) -> DeviceAnswer {
        for _ in 0..<2 {
            let answer = try await send()
            guard case .lost = answer else { return answer }
        }
        return try await send()
    }
}
