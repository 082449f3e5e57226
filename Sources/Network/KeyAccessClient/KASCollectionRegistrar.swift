public import HTTPClient
internal import KeyAccess
public import NanoTDF
internal import Platform
public import Settings
internal import Synchronization
internal import Wire

/// Before a collection is published, registers its header with the KAS and proves that it is the publisher's own: the KAS gives no
/// key for a header that nobody vouched for (docs/ref/wire-format.md, "A registration").
public final class KASCollectionRegistrar: Sendable {
    private let connection: KASConnection
    private let adaptiveTimeout = SharedAdaptiveTimeout()
    private let wallClock: @Sendable () -> Int64
    /// How far the KAS's clock is ahead of ours, in milliseconds, as its answers showed. A board without a battery begins
    /// in 1970, and a registration must say when it was made.
    private let offset = Mutex<Int64>(0)
    private let signer = Mutex<DeviceSigner?>(nil)

    /// - Parameter client: shared with other users of the same KAS; nil for one of its own.
    public convenience init(configuration: KASConfiguration, client: HTTPClient? = nil) {
        self.init(configuration: configuration, transport: client ?? configuration.makeHTTPClient())
    }

    /// - Parameter wallClock: Unix milliseconds.
    init(
        configuration: KASConfiguration, transport: any KASTransport,
        wallClock: @escaping @Sendable () -> Int64 = { Clocks.wallMilliseconds }
    ) {
        connection = KASConnection(configuration, transport)
        self.wallClock = wallClock
    }

    /// - Parameters:
    ///   - claim: of a collection that was made for this KAS (`CollectionSealer.claim`).
    ///   - stream: the name under which the collection will be published; its policy names it too.
    ///   - lifetime: seconds after which the KAS may forget it.
    /// - Returns: the KAS's time, Unix milliseconds; nil when it does not report it.
    @discardableResult
    public func register(
        _ claim: CollectionClaim, stream: String, lifetime: Int64
    ) async throws(KeyAccessError) -> Int64? {
        let answer = try await send(claim, stream, lifetime)
        if let time = answer.time { learn(time) }
        if answer.status == 400, isFarOff(answer.offset) {
            // It may have been our clock alone that was refused; another registration may have learned it meanwhile.
            let second = try await send(claim, stream, lifetime)
            if let fault = second.fault { throw fault }
            return second.time
        }
        if let fault = answer.fault { throw fault }
        return answer.time
    }

    private struct Answer {
        var status: Int
        var time: Int64?
        var fault: KeyAccessError?
        /// What was added to our clock for it.
        var offset: Int64
    }

    private func send(
        _ claim: CollectionClaim, _ stream: String, _ lifetime: Int64
    ) async throws(KeyAccessError) -> Answer {
        let (issuer, subject) = try connection.claimed()
        let used = offset.withLock { $0 }
        let issuedAt = wallClock() &+ used
        let input = CollectionRegistration.proofInput(
            headerHash: claim.headerHash, stream: stream, lifetime: lifetime, issuedAt: issuedAt, issuer: issuer,
            subject: subject)
        let registration = CollectionRegistration(
            stream: stream, header: Base64.encode(claim.headerBytes), lifetime: lifetime, issuedAt: issuedAt,
            proof: Base64.encode(claim.proof.mac(of: input)),
            signature: try deviceSigner()?.sign(headerHash: claim.headerHash, stream: stream, issuedAt: issuedAt))
        let response = try await connection.send(
            .post, connection.configuration.root + CollectionRegistration.path,
            body: try KASConnection.encode(registration), authorised: true, accepted: [200, 201, 204, 400],
            adaptiveTimeout: adaptiveTimeout)
        return Answer(
            status: response.status, time: response.header(CollectionRegistration.timeHeader).flatMap { Int64($0) },
            fault: response.status == 400 ? KASConnection.fault(of: response) : nil, offset: used)
    }

    /// Nil when no key is configured. Read once; one that cannot be read is tried again with the next registration.
    private func deviceSigner() throws(KeyAccessError) -> DeviceSigner? {
        guard let path = connection.configuration.signingKeyFile else { return nil }
        if let known = signer.withLock({ $0 }) { return known }
        let read = try DeviceSigner(file: path)
        signer.withLock { $0 = read }
        return read
    }

    private func learn(_ time: Int64) {
        let new = time.saturatingSubtract(wallClock())
        offset.withLock { $0 = new }
    }

    private func isFarOff(_ used: Int64) -> Bool {
        let off = offset.withLock { $0 }.saturatingSubtract(used)
        return off.magnitude > UInt64(CollectionRegistration.tolerance / 2)
    }
}
