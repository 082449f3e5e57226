internal import Cryptography
internal import FoundationEssentials
public import KeyAccess
internal import NanoTDF
internal import Synchronization
internal import Wire

/// The private keys of the service, in files of mode 0600 in a directory of mode 0700.
///
/// The first start makes a P-256 and an RSA-2048 key and one that signs local access tokens. A rollover puts a new key
/// first and keeps the old one for an overlap, because publishers cache the public key for up to a day and viewers
/// need the headers that were made with it. P-256 keys roll over by schedule: each serves for one epoch,
/// and is destroyed after its overlap. Whoever takes the KAS then opens no stream of an older epoch.
///
/// Only `refresh`, which the service calls, rolls over by schedule and destroys what is over: the tools that open the
/// same directory do not know what the service is configured with. `retire` destroys one key on demand.
public final class KeyStore: Sendable {
    private struct Index: Codable {
        var version = 1
        var keys: [KeyDescription]
    }

    private struct State {
        var ring: KeyRing
        var stamp: UInt64
        /// What an earlier process may have left of destroyed keys was looked for.
        var isSwept = false
        /// Keys whose overlap is over.
        var condemned = SustainedFindings()
        /// Keys of a time that is yet to come.
        var ahead = SustainedFindings()
    }

    private static let indexName = "keys.json"

    let directory: StateDirectory
    /// How long a replaced key keeps working, in seconds, and how long at least it is kept.
    public let overlapSeconds: Int64
    /// How long a P-256 key is the current one, in seconds; 0: until `rollOver`.
    public let epochSeconds: Int64
    /// How long something that only a wrong clock or a long time explains has to be so, for a running process, before
    /// it has consequences that cannot be taken back: a clock that was wrong is put right by then.
    public let destructionDelay: Duration
    /// Whether the keys in memory stay off swap devices; false when the system's limit for locked memory is too low.
    public let isMemoryLocked: Bool
    private let state: Mutex<State>

    /// Opens the directory and reads the keys; makes what is missing.
    ///
    /// - Parameters:
    ///   - directory: made with mode 0700 if it isn't there; refused when others have access to it.
    ///   - now: Unix seconds.
    /// - Throws: `StateDirectoryError`, whose description tells the operator what to do.
    public init(
        directory path: String, overlapSeconds: Int64 = 30 * 86_400, epochSeconds: Int64 = 0,
        destructionDelay: Duration = .seconds(3600), now: Int64
    ) throws {
        isMemoryLocked = KeyMemory.isLocked
        let directory = try StateDirectory(path: path)
        self.directory = directory
        self.overlapSeconds = overlapSeconds
        self.epochSeconds = epochSeconds
        self.destructionDelay = destructionDelay
        state = Mutex(
            try directory.locked {
                var index = try Self.readIndex(directory)
                for purpose in [KeyDescription.Purpose.p256, .rsa2048, .issuer]
                where !index.keys.contains(where: { $0.purpose == purpose && $0.retiredAt == nil }) {
                    let kid = Self.nextKid(purpose, index)
                    var pem = try Self.generate(purpose)
                    defer { Wiping.wipe(&pem) }
                    try directory.write(Self.fileName(kid), pem)
                    index.keys.append(KeyDescription(kid: kid, purpose: purpose, createdAt: now, retiredAt: nil))
                    try Self.writeIndex(index, directory)
                }
                return try Self.load(directory, overlapSeconds: overlapSeconds, now: now)
            })
    }

    var ring: KeyRing { state.withLock { $0.ring } }

    /// The keys that the directory holds, the current one of each purpose first.
    public var descriptions: [KeyDescription] { ring.descriptions }

    /// SPKI PEM of the current key.
    public func publicKeyPEM(_ algorithm: KeyAlgorithm) throws -> String {
        try ring.publicKey(algorithm)?.pem ?? ""
    }

    /// Makes a new current key. The old one answers for `overlapSeconds` more; `refresh` removes its file then.
    @discardableResult
    public func rollOver(_ purpose: KeyDescription.Purpose, now: Int64) throws -> KeyDescription {
        try add(purpose, pem: Self.generate(purpose), kid: nil, now: now)
    }

    /// Takes over a KAS key that was in service elsewhere, as the new current one.
    ///
    /// - Parameter kid: 1…32 letters, digits, `-` or `_`; nil picks the next one.
    @discardableResult
    public func importKey(pem: String, purpose: KeyDescription.Purpose, kid: String?, now: Int64) throws
        -> KeyDescription
    {
        if let kid {
            guard Names.isPlain(kid, limit: 32, signs: "-_") else {
                throw KeyAccessServerError.invalid(setting: "kid", what: "1…32 letters, digits, - or _ are allowed")
            }
        }
        switch purpose {
        case .p256, .issuer:
            guard try ECPrivateKey(pem: pem).curve == .p256 else {
                throw KeyAccessServerError.invalid(setting: "key", what: "it is not on P-256")
            }
        case .rsa2048: _ = try RSAPrivateKey(pem: pem)
        }
        return try add(purpose, pem: Array(pem.utf8), kid: kid, now: now)
    }

    /// Destroys a key that another one has replaced, before its overlap is over: what was sealed for it opens no more.
    public func retire(kid: String, now: Int64) throws {
        let loaded = try directory.locked {
            let index = try Self.readIndex(directory)
            guard let key = index.keys.first(where: { $0.kid == kid && $0.destroyedAt == nil }) else {
                throw KeyAccessServerError.invalid(setting: "kid", what: "there is no key \(kid)")
            }
            guard key.retiredAt != nil else {
                throw KeyAccessServerError.invalid(
                    setting: "kid",
                    what: "\(kid) is the current key; roll it over first, so that another takes its place")
            }
            try Self.destroy(directory, index, now: now) { $0.kid == kid }
            return try Self.load(directory, overlapSeconds: overlapSeconds, now: now)
        }
        take(loaded)
    }

    /// Reads the keys again if another process has changed them, rolls over what has served its epoch, and destroys
    /// those that have outlived their overlap. For the service alone: see above.
    ///
    /// - Parameters:
    ///   - now: Unix seconds.
    ///   - uptime: nanoseconds of a clock that never jumps.
    /// - Returns: what was done, for the log.
    @discardableResult
    func refresh(now: Int64, uptime: UInt64) throws -> [String] {
        let stamp = directory.stamp(Self.indexName)
        let (isStale, condemned, ahead) = state.withLock { state in
            let keys = state.ring.descriptions
            let over = Set(keys.filter { isOver($0, now: now) }.map(\.kid))
            let isChanged = state.stamp != stamp || over != state.condemned.findings
            let condemned = state.condemned.due(over, after: destructionDelay, at: uptime)
            let ahead = Set(keys.filter { Self.isAhead($0, now: now) }.map(\.kid))
            return (
                isChanged || !state.isSwept || !condemned.isEmpty, condemned,
                state.ahead.due(ahead, after: Self.futureGrace, at: uptime)
            )
        }
        var changes: [String] = []
        // Another process may have rolled over meanwhile; so it is looked at again within the lock.
        if isStale || !ahead.isEmpty {
            let (loaded, destroyed) = try directory.locked { () -> (State, [String]) in
                try Self.bringBack(directory, now: now) { ahead.contains($0.kid) }
                let over = try Self.destroy(directory, try Self.readIndex(directory), now: now) {
                    condemned.contains($0.kid) && isOver($0, now: now)
                }
                var state = try Self.load(directory, overlapSeconds: overlapSeconds, now: now)
                state.isSwept = true
                return (state, over)
            }
            take(loaded)
            changes += destroyed.map { "The key \($0) was destroyed: its overlap is over." }
        }
        let epochIsOver = state.withLock { state in
            state.ring.descriptions.contains { isEndOfEpoch($0, isAhead: ahead.contains($0.kid), now: now) }
        }
        if epochIsOver {
            let new = try rollOver(.p256, now: now)
            changes.append("The key \(new.kid) is the current one of \(new.purpose.rawValue): the epoch is over.")
        }
        return changes
    }

    /// Either that time was wrong, or it is now: a machine that has no time of its own may be without a network for
    /// days.
    private static let futureGrace = Duration.seconds(7 * 86_400)

    /// It was made or replaced at a time that is yet to come: while the clock was wrong, if it is right now.
    private static func isAhead(_ key: KeyDescription, now: Int64) -> Bool {
        key.destroyedAt == nil && (key.retiredAt ?? key.createdAt) > now.saturatingAdd(3600)
    }

    /// What was replaced at a time that never came would be kept for ever: it counts as replaced now.
    private static func bringBack(
        _ directory: StateDirectory, now: Int64, _ isChosen: (KeyDescription) -> Bool
    ) throws {
        var index = try readIndex(directory)
        var isChanged = false
        for position in index.keys.indices
        where isChosen(index.keys[position]) && isAhead(index.keys[position], now: now)
            && index.keys[position].retiredAt != nil
        {
            index.keys[position].retiredAt = now
            isChanged = true
        }
        if isChanged { try writeIndex(index, directory) }
    }

    private func isOver(_ key: KeyDescription, now: Int64) -> Bool {
        Self.isOver(key, overlapSeconds: overlapSeconds, now: now)
    }

    /// What was read from the directory; what is known besides stays.
    private func take(_ loaded: State) {
        state.withLock { state in
            let known = state
            state = loaded
            state.isSwept = known.isSwept || loaded.isSwept
            state.condemned = known.condemned
            state.ahead = known.ahead
        }
    }

    /// - Parameter isAhead: made while the clock was wrong: it would serve for ever.
    private func isEndOfEpoch(_ key: KeyDescription, isAhead: Bool, now: Int64) -> Bool {
        epochSeconds > 0 && key.purpose == .p256 && key.retiredAt == nil
            && (now.saturatingSubtract(key.createdAt) >= epochSeconds || isAhead)
    }

    private func add(
        _ purpose: KeyDescription.Purpose, pem: [UInt8], kid: String?, now: Int64
    ) throws -> KeyDescription {
        var pem = pem
        defer { Wiping.wipe(&pem) }
        let (description, loaded) = try directory.locked {
            var index = try Self.readIndex(directory)
            let kid = kid ?? Self.nextKid(purpose, index)
            guard !index.keys.contains(where: { $0.kid == kid }) else {
                throw KeyAccessServerError.invalid(setting: "kid", what: "a key of that name exists")
            }
            try directory.write(Self.fileName(kid), pem)
            for position in index.keys.indices
            where index.keys[position].purpose == purpose && index.keys[position].retiredAt == nil {
                // A clock that stands in the past must not make it look old when it is put right.
                index.keys[position].retiredAt = max(now, index.keys[position].createdAt)
            }
            let description = KeyDescription(kid: kid, purpose: purpose, createdAt: now, retiredAt: nil)
            index.keys.append(description)
            try Self.writeIndex(index, directory)
            return (description, try Self.load(directory, overlapSeconds: overlapSeconds, now: now))
        }
        take(loaded)
        return description
    }

    private static func isOver(_ key: KeyDescription, overlapSeconds: Int64, now: Int64) -> Bool {
        guard let retiredAt = key.retiredAt, key.destroyedAt == nil else { return false }
        let least: Int64 =
            switch key.purpose {
            case .p256: 0
            // Boxes renew their tokens long after, and show the old one for it.
            case .issuer: TokenIssuer.maxLifetime + AccessClaims.renewalGrace
            // Files outlive every schedule: `retire` alone destroys their key.
            case .rsa2048: .max
            }
        return now.saturatingSubtract(retiredAt) > max(overlapSeconds, least)
    }

    /// Overwrites and removes the files of keys, and remembers that they were. The index comes first: with a file that
    /// is missing the service would not start. What a crash leaves is swept up by the next call.
    ///
    /// - Returns: their kids.
    @discardableResult
    private static func destroy(
        _ directory: StateDirectory, _ index: Index, now: Int64, _ isChosen: (KeyDescription) -> Bool
    ) throws -> [String] {
        var index = index
        var kids: [String] = []
        for position in index.keys.indices where isChosen(index.keys[position]) {
            index.keys[position].destroyedAt = now
            kids.append(index.keys[position].kid)
        }
        // Only what the index on the disk says is destroyed: it may be the index that can't be written.
        func sweep(_ keys: [KeyDescription]) {
            for key in keys where key.destroyedAt != nil && directory.stamp(fileName(key.kid)) != 0 {
                directory.shred(fileName(key.kid))
            }
        }
        let all = index.keys
        guard !kids.isEmpty else {
            sweep(all)
            return []
        }
        let destroyed = index.keys.filter { $0.destroyedAt != nil }.count
        if destroyed > rememberedKeys {
            var surplus = destroyed - rememberedKeys
            index.keys.removeAll { key in
                guard key.destroyedAt != nil, key.destroyedAt != now, surplus > 0 else { return false }
                surplus -= 1
                return true
            }
        }
        try writeIndex(index, directory)
        sweep(all)
        return kids
    }

    /// Destroyed keys that the index still lists: more than a year of daily epochs.
    private static let rememberedKeys = 400

    /// Changes nothing on disk. All keys are described, those within their overlap are ready for use. A key whose file
    /// is missing although no one destroyed it is damage that stops the service, not a smaller ring.
    private static func load(_ directory: StateDirectory, overlapSeconds: Int64, now: Int64) throws -> State {
        let index = try readIndex(directory)
        var ring = KeyRing()
        // Of two keys that were retired in the same second the later one was current for longer.
        ring.descriptions = index.keys.enumerated().sorted {
            ($0.element.retiredAt ?? .max, $0.offset) > ($1.element.retiredAt ?? .max, $1.offset)
        }.map(\.element)
        for key in ring.descriptions
        where key.destroyedAt == nil && !isOver(key, overlapSeconds: overlapSeconds, now: now) {
            let path = "\(directory.path)/\(fileName(key.kid))"
            guard var bytes = try directory.read(fileName(key.kid), limit: 65_536) else {
                throw StateDirectoryError.damaged(path: path, what: "the file is missing")
            }
            defer { Wiping.wipe(&bytes) }
            do {
                switch key.purpose {
                case .p256: ring.p256.append(NamedKey(kid: key.kid, key: try ECPrivateKey(pem: bytes)))
                case .rsa2048: ring.rsa.append(NamedKey(kid: key.kid, key: try RSAPrivateKey(pem: bytes)))
                case .issuer: ring.issuer.append(NamedKey(kid: key.kid, key: try ECPrivateKey(pem: bytes)))
                }
            } catch {
                throw StateDirectoryError.damaged(path: path, what: "it holds no key of its kind")
            }
        }
        return State(ring: ring, stamp: directory.stamp(indexName))
    }

    private static func readIndex(_ directory: StateDirectory) throws -> Index {
        guard let bytes = try directory.read(indexName) else { return Index(keys: []) }
        do {
            let index = try JSONDecoder().decode(Index.self, from: Data(bytes))
            guard index.version == 1 else { throw StateDirectoryError.damaged(path: "", what: "") }
            return index
        } catch {
            throw StateDirectoryError.damaged(
                path: "\(directory.path)/\(indexName)", what: "it is not a key index of version 1")
        }
    }

    private static func writeIndex(_ index: Index, _ directory: StateDirectory) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        try directory.write(indexName, Array(try encoder.encode(index)))
    }

    private static func generate(_ purpose: KeyDescription.Purpose) throws -> [UInt8] {
        switch purpose {
        case .p256, .issuer: try ECPrivateKey.generate(.p256).privateKeyPEMBytes()
        case .rsa2048: try RSAPrivateKey.generate(bits: 2048).privateKeyPEMBytes()
        }
    }

    private static func fileName(_ kid: String) -> String { "\(kid).pem" }

    /// Two characters while they last (`e1`…`e9`): a kid stands in every header, in 2, 8 or 32 bytes.
    private static func nextKid(_ purpose: KeyDescription.Purpose, _ index: Index) -> String {
        let letter =
            switch purpose {
            case .p256: "e"
            case .rsa2048: "r"
            case .issuer: "i"
            }
        // Counted on from the highest number ever listed, so that a kid doesn't come back while it is remembered.
        let highest = index.keys.compactMap { $0.kid.hasPrefix(letter) ? Int($0.kid.dropFirst()) : nil }.max() ?? 0
        let number = highest < Int.max ? highest + 1 : 1
        return letter
            + (number < 10 ? "\(number)" : String(repeating: "0", count: max(0, 7 - "\(number)".count)) + "\(number)")
    }
}
