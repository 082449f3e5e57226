internal import HTTPClient
internal import Logging
internal import ONVIF
internal import Platform
internal import Synchronization

extension ONVIFDevice {
    /// What an answer says of the login that the call was sent with.
    enum Protection {
        /// Sent without one.
        case open
        /// Devices answer this to everybody: success proves nothing.
        case unproven
        case protected
    }

    /// As the device was reached.
    var host: String { DeviceURL(access.url)?.host ?? "the device" }

    /// The response element of one call, with whatever login the device takes.
    ///
    /// A call whose connection broke is sent again, twice at most; a login that was good before and is refused is shown
    /// once more with a fresh nonce, since a broken connection may have delivered the first one already.
    ///
    /// - Parameter deadline: of `Clocks.boot`; shortens the time-out.
    func call(
        _ request: ONVIFRequest, at url: String, _ protection: Protection = .protected,
        timeout: Duration = .seconds(10), until deadline: UInt64 = .max
    ) async throws(ONVIFError) -> XMLElement {
        if protection != .open { try await prepareLogin(until: deadline) }
        var losses = 0
        var wasRepeated = false
        var clockWasRead = false
        while true {
            let (attempt, isProven) = try currentAttempt(protection)
            let timeout = try remaining(timeout, until: deadline, request.operation)
            switch try await transmit(request, to: url, attempt, timeout: timeout) {
            case .response(let element):
                if protection == .protected { accepted(attempt) }
                return element
            case .fault(let fault):
                throw ONVIFError(fault, request.operation)
            case .lost(let error):
                losses += 1
                // A pull ends this way while nothing happens: who pulls decides.
                guard losses <= 2, request.operation != "PullMessages" else { throw error }
            case .loginRefused(let offersDigest):
                guard protection != .open else { throw .loginNeeded(host: host) }
                if isProven, !wasRepeated {
                    wasRepeated = true
                    continue
                }
                if isProven, !clockWasRead {
                    clockWasRead = true
                    if await clockHasMoved() { continue }
                }
                // Another login is not worth a refusal that counts, for a call that nothing depends on.
                let mayGoOn = protection == .protected || !isProven
                guard mayGoOn, try goesOn(after: attempt, offersDigest: offersDigest) else {
                    throw .forbidden(operation: request.operation)
                }
            }
        }
    }

    /// What is sent next, and whether a protected call was let in with it.
    private func currentAttempt(_ protection: Protection) throws(ONVIFError) -> (LoginDialogue.Attempt, Bool) {
        if protection == .open { return (.open, false) }
        let login = state.withLock { $0.login }
        guard let login else { return (.open, false) }
        if let schemes = login.refusedSchemes { throw .loginRefused(host: host, tried: schemes) }
        return (login.current, login.isProven)
    }

    private func accepted(_ attempt: LoginDialogue.Attempt) {
        state.withLock { $0.login?.wasAccepted(attempt) }
    }

    /// True: with another attempt. False: this login is good, and refused for this call.
    private func goesOn(after attempt: LoginDialogue.Attempt, offersDigest: Bool) throws(ONVIFError) -> Bool {
        let verdict = state.withLock { $0.login?.wasRefused(attempt, offersDigest: offersDigest) }
        switch verdict {
        case .retry: return true
        case .loginNeeded, nil: throw .loginNeeded(host: host)
        case .refused(let schemes): throw .loginRefused(host: host, tried: schemes)
        case .forbidden: return false
        }
    }

    // MARK: the device's clock

    private func remaining(
        _ timeout: Duration, until deadline: UInt64, _ operation: String
    ) throws(ONVIFError) -> Duration {
        guard deadline != .max else { return timeout }
        let now = Clocks.boot
        guard now < deadline else { throw .timedOut(host: host, operation: operation) }
        return min(timeout, .nanoseconds(Int64(clamping: max(deadline - now, 1_000_000))))
    }

    /// Reads the clock and thereby learns a certificate's pin, once; before that, no login is sent.
    func prepareLogin(until deadline: UInt64 = .max) async throws(ONVIFError) {
        if state.withLock({ $0.login != nil }) { return }
        guard await clockGate.enter() else { throw .cancelled }
        defer { clockGate.leave() }
        if state.withLock({ $0.login != nil }) { return }
        try await readClock(until: deadline)
    }

    /// True when a login was accepted before, and the clock was set since.
    ///
    /// Where the device does not speak HTTP, or sends us to https, that is tried: nothing was shown to it so far.
    @discardableResult
    func readClock(until deadline: UInt64 = .max) async throws(ONVIFError) -> Bool {
        var moment = TransmissionMoment()
        let url = serviceURL
        let isFirst = state.withLock { $0.clock == nil }
        let outcome: DeviceAnswer
        do throws(ONVIFError) {
            outcome = try await askClock(url, until: deadline, &moment)
        } catch {
            guard isFirst, error.mayBeTLS, let found = await clockOverTLS(url, until: deadline, &moment) else {
                throw error
            }
            return keep(found, moment)
        }
        if isFirst, outcome.mayBeTLS, let found = await clockOverTLS(url, until: deadline, &moment) {
            return keep(found, moment)
        }
        if case .lost(let error) = outcome { throw error }
        return keep(outcome, moment)
    }

    private func askClock(
        _ url: String, until deadline: UInt64, _ moment: inout TransmissionMoment
    ) async throws(ONVIFError) -> DeviceAnswer {
        let request = DeviceInformation.clockRequest
        var losses = 0
        while true {
            let timeout = try remaining(.seconds(10), until: deadline, request.operation)
            let outcome = try await transmit(request, to: url, .open, timeout: timeout, at: &moment)
            guard case .lost = outcome else { return outcome }
            losses += 1
            if losses == 3 { return outcome }
        }
    }

    /// Nil when the device does not answer with TLS either.
    private func clockOverTLS(
        _ url: String, until deadline: UInt64, _ moment: inout TransmissionMoment
    ) async -> DeviceAnswer? {
        guard var secure = DeviceURL(url), secure.scheme == "http" else { return nil }
        // Of where it sends us the port alone: a login goes to no other host.
        let redirect = moment.redirect.flatMap { DeviceURL($0) }
        if let redirect, redirect.scheme == "https" { secure.port = redirect.port }
        secure.scheme = "https"
        if secure.port == 80 { secure.port = nil }
        var second = TransmissionMoment()
        guard let outcome = try? await askClock(secure.text, until: deadline, &second) else { return nil }
        if outcome.mayBeTLS { return nil }
        moment = second
        state.withLock { $0.url = secure.text }
        logger.info("The camera speaks TLS only", metadata: ["url": "\(DeviceURL.shown(secure.text))"])
        return outcome
    }

    /// For a device that reports its time to its users alone.
    func readClockWithLogin() async throws(ONVIFError) {
        var moment = TransmissionMoment()
        moment.begin()
        let element = try await call(DeviceInformation.clockRequest, at: serviceURL)
        _ = keep(SystemDateAndTime(element), moment)
    }

    /// Not implemented, or not reported: there are other candidates.
    private func keep(_ outcome: DeviceAnswer, _ moment: TransmissionMoment) -> Bool {
        guard case .response(let element) = outcome else { return keep(nil as SystemDateAndTime?, moment) }
        return keep(SystemDateAndTime(element), moment)
    }

    private func keep(_ answer: SystemDateAndTime?, _ moment: TransmissionMoment) -> Bool {
        // The device looked at its clock somewhere between question and answer.
        let half = (Clocks.boot &- moment.nanoseconds) / 2
        let middle = moment.wallMilliseconds + Int64(clamping: half / 1_000_000)
        let candidates = ClockCandidates(answer: answer, date: moment.date, own: middle)
        return state.withLock { state in
            state.clock = DeviceState.ClockReading(
                candidates: candidates, wallMilliseconds: middle, nanoseconds: moment.nanoseconds &+ half,
                zone: answer?.zone,
                isReported: answer?.utc != nil || answer?.local != nil)
            if state.login != nil { return state.login?.clockWasRead(candidates.readings) ?? false }
            state.login = LoginDialogue(
                hasUser: access.user != nil, allowsPlainText: access.allowsPlainPassword,
                readings: candidates.distinct(first: access.clock), maxLogins: access.maxLogins)
            return false
        }
    }

    /// Reads the clock again, when the last reading is old. True when it had been set.
    private func clockHasMoved() async -> Bool {
        let old = state.withLock { $0.clock?.nanoseconds } ?? 0
        guard Clocks.boot &- old > clockMilliseconds * 1_000_000 else { return false }
        return (try? await readClock()) ?? false
    }
}

extension ONVIFError {
    /// What is heard of a server that waits for TLS.
    fileprivate var mayBeTLS: Bool {
        switch self {
        case .notONVIF, .malformed: true
        default: false
        }
    }
}

extension DeviceAnswer {
    /// What is heard of a server that waits for TLS: nothing, or a status without any SOAP.
    fileprivate var mayBeTLS: Bool {
        switch self {
        case .lost: true
        case .fault(let fault): fault.kind == .other && fault.subcode.isEmpty && fault.reason.hasPrefix("HTTP 4")
        case .response, .loginRefused: false
        }
    }
}
