internal import FoundationEssentials
public import KeyAccess
internal import Synchronization

/// What a KAS knows of tokens, grants and devices besides its configuration: `revocations.json`, `grants.json`,
/// `devices.json` and the log of issued tokens, `tokens.jsonl`, in its state directory.
///
/// The tools write the same files while the service runs; the service reads them again every few seconds, and each
/// change is made on what is on disk at that moment.
public final class AccessRegister: Sendable {
    private struct State {
        var revocations = TokenRevocations()
        var grants = AccessGrants()
        var devices = DeviceKeys()
        var stamps: [UInt64] = []
        var linesSinceCompaction = 0
    }

    private static let revocationsName = "revocations.json"
    private static let grantsName = "grants.json"
    private static let devicesName = "devices.json"
    private static let fileLimit = 8 << 20

    private let directory: StateDirectory
    private let log: IssuedTokenLog
    private let state: Mutex<State>

    /// - Throws: `StateDirectoryError` when a file is damaged: going on would accept what was revoked.
    public init(store: KeyStore) throws {
        let directory = store.directory
        self.directory = directory
        log = IssuedTokenLog(directory: directory)
        state = Mutex(try directory.locked { try Self.load(directory) })
    }

    public var revocations: TokenRevocations { state.withLock { $0.revocations } }
    public var grants: AccessGrants { state.withLock { $0.grants } }
    public var devices: DeviceKeys { state.withLock { $0.devices } }

    /// Reads the files again when another process changed them. One that can't be read keeps what was read before.
    func refresh(now: Int64) throws {
        let stamps = Self.stamps(directory)
        guard state.withLock({ $0.stamps != stamps }) else { return }
        let loaded = try directory.locked { try Self.load(directory) }
        state.withLock {
            $0.revocations = loaded.revocations
            $0.grants = loaded.grants
            $0.devices = loaded.devices
            $0.stamps = loaded.stamps
        }
    }

    // MARK: tokens

    /// The tokens that were issued and could still be used or renewed, oldest first.
    public func tokens(now: Int64) throws -> [IssuedTokenLog.Entry] {
        try directory.locked { try log.entries(now: now) }
    }

    /// The same, each with whether it is revoked.
    public func states(now: Int64) throws -> [(token: IssuedTokenLog.Entry, isRevoked: Bool)] {
        let revocations = self.revocations
        return try tokens(now: now).map { ($0, revocations.refuses($0.claims, kid: $0.kid)) }
    }

    /// To be called before the token is given away: what is not in the log can't be found to be revoked.
    ///
    /// - Parameter presented: what the token is made from. It is checked once more against what is on disk now: a revocation that
    ///   this process has not read yet must not be outrun by a renewal.
    /// - Returns: false when that is revoked; nothing is noted then.
    func note(_ claims: AccessClaims, from presented: AccessClaims? = nil, kid: String?, now: Int64) throws -> Bool {
        let entry = IssuedTokenLog.Entry(claims, kid: kid)
        return try state.withLock { state in
            try directory.locked {
                if let presented, try Self.load(directory).revocations.refuses(presented, kid: nil) { return false }
                try log.append(entry)
                state.linesSinceCompaction += 1
                guard state.linesSinceCompaction >= IssuedTokenLog.compactionInterval else { return true }
                try log.compact(now: now)
                state.linesSinceCompaction = 0
                return true
            }
        }
    }

    /// Refuses a token from now on, with everything that was made from it. Of a renewed token the whole line is meant,
    /// since its holder could have renewed it any number of times; a narrowed one goes alone.
    ///
    /// - Returns: the `jti` that was entered.
    @discardableResult
    public func revoke(token id: String, now: Int64) throws -> String {
        let known = try tokens(now: now).first { $0.id == id }
        let meant = known.flatMap { $0.isNarrowed ? $0.id : $0.family } ?? id
        try change(now: now) { revocations, _ throws(TokenRevocations.Fault) in
            try revocations.add(.token(id: meant), now: now)
        }
        return meant
    }

    /// Refuses every token that a subject has now. Later ones are accepted.
    public func revoke(subject: String, issuer: String, now: Int64) throws {
        try change(now: now) { revocations, _ throws(TokenRevocations.Fault) in
            // A token of this very second and of the next is meant as well.
            try revocations.add(.subject(issuer: issuer, name: subject, issuedUntil: now + 1), now: now)
        }
    }

    /// Refuses all that a replaced issuer key has signed.
    public func revoke(issuerKeys kids: [String], now: Int64) throws {
        try change(now: now) { revocations, _ throws(TokenRevocations.Fault) in
            for kid in kids { try revocations.add(.issuerKey(kid: kid), now: now) }
        }
    }

    // MARK: grants

    public func grant(_ grant: AccessGrants.Grant, now: Int64) throws {
        try change(now: now) { _, grants throws(AccessGrants.Fault) in try grants.grant(grant, now: now) }
    }

    /// - Parameter stream: nil: all of them, and the tokens of the subject as well.
    public func revoke(_ holder: AccessGrants.Holder, stream: String?, now: Int64) throws {
        try change(now: now) { _, grants throws(AccessGrants.Fault) in
            try grants.revoke(holder, stream: stream, now: now)
        }
        if stream == nil { try revoke(subject: holder.subject, issuer: holder.issuer, now: now) }
    }

    public func readmit(_ holder: AccessGrants.Holder, until: Int64, now: Int64) throws {
        try change(now: now) { _, grants throws(AccessGrants.Fault) in
            try grants.readmit(holder, until: until, now: now)
        }
    }

    /// - Returns: whether the holder was readmitted; that is used up on disk before this returns.
    func takeReadmission(_ holder: AccessGrants.Holder, now: Int64) throws -> Bool {
        try change(now: now) { _, grants in grants.takeReadmission(holder, now: now) }
    }

    // MARK: devices

    /// Lets a publisher register headers only with the signature of this device, or of another that it has here.
    ///
    /// - Parameter key: compressed P-256 point, on the curve.
    public func add(device key: [UInt8], of holder: AccessGrants.Holder, now: Int64) throws {
        try change { devices throws(DeviceKeys.Fault) in try devices.add(key, for: holder, now: now) }
    }

    public func remove(device key: [UInt8], of holder: AccessGrants.Holder) throws {
        try change { devices throws(DeviceKeys.Fault) in try devices.remove(key, of: holder) }
    }

    private func change(_ body: (inout DeviceKeys) throws(DeviceKeys.Fault) -> Void) throws {
        try state.withLock { state in
            try directory.locked {
                var known = try Self.load(directory)
                let before = known.devices
                try body(&known.devices)
                if known.devices != before { try directory.write(Self.devicesName, try Self.encode(known.devices)) }
                known.linesSinceCompaction = state.linesSinceCompaction
                known.stamps = Self.stamps(directory)
                state = known
            }
        }
    }

    private func change<Answer: Sendable, Failure: Error>(
        now: Int64, _ body: (inout TokenRevocations, inout AccessGrants) throws(Failure) -> Answer
    ) throws -> Answer {
        try state.withLock { state in
            try directory.locked {
                let known = try Self.load(directory)
                var (revocations, grants) = (known.revocations, known.grants)
                revocations.prune(now: now)
                let answer = try body(&revocations, &grants)
                // What is taken away is written first.
                if revocations != known.revocations {
                    try directory.write(Self.revocationsName, try Self.encode(revocations))
                }
                if grants != known.grants { try directory.write(Self.grantsName, try Self.encode(grants)) }
                state.revocations = revocations
                state.grants = grants
                state.devices = known.devices
                state.stamps = Self.stamps(directory)
                return answer
            }
        }
    }

    private static func load(_ directory: StateDirectory) throws -> State {
        var state = State()
        // Taken before the files are read: what changes meanwhile is read again.
        state.stamps = stamps(directory)
        state.revocations = try read(revocationsName, directory) ?? state.revocations
        state.grants = try read(grantsName, directory) ?? state.grants
        state.devices = try read(devicesName, directory) ?? state.devices
        return state
    }

    private static func stamps(_ directory: StateDirectory) -> [UInt64] {
        [revocationsName, grantsName, devicesName].map { directory.stamp($0) }
    }

    private static func read<Value: Decodable>(_ name: String, _ directory: StateDirectory) throws -> Value? {
        guard let bytes = try directory.read(name, limit: fileLimit) else { return nil }
        do {
            return try JSONDecoder().decode(Value.self, from: Data(bytes))
        } catch {
            throw StateDirectoryError.damaged(path: "\(directory.path)/\(name)", what: "it is not what the KAS wrote")
        }
    }

    private static func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return Array(try encoder.encode(value)) + [UInt8(ascii: "\n")]
    }
}
