internal import Synchronization

/// Whom a collection is sealed for.
public struct KASRecipient: Equatable, Sendable {
    /// Written into the header; with the key identifier if the KAS reads one (arkavo-rs refuses any).
    public var locator: ResourceLocator
    /// SEC1 point, compressed or not.
    public var publicKey: [UInt8]
    public var curve: EllipticCurve

    public init(locator: ResourceLocator, publicKey: [UInt8], curve: EllipticCurve = .secp256r1) {
        self.locator = locator
        self.publicKey = publicKey
        self.curve = curve
    }
}

/// Writes one collection of profile ntdf-1: one ephemeral key, one DEK, one counter (docs/ref/wire-format.md, "A key").
///
/// The DEK is drawn when the sealer is made and lives inside its context; there is no way to give, read, store or
/// resume a key or a counter. A restart, a reconnect or a rotation makes a new sealer. Taking a counter value and
/// sealing with it are one step under a lock: two threads can't get the same value.
public final class CollectionSealer: Sendable {
    /// The header that announces this collection.
    public let header: NanoTDFHeader
    /// `header` on the wire; queue it before the first item.
    public let headerBytes: [UInt8]
    /// SHA-256 of `headerBytes`: how an opener and a KAS identify collections.
    public let headerHash: [UInt8]
    /// For the KAS: that this header was made here.
    public let claim: CollectionClaim

    private struct State {
        /// Counter of the last item; 0 before the first.
        var last: UInt32
        let context: any ItemSealingContext
    }
    private let state: Mutex<State>

    /// A new collection with a fresh ephemeral key.
    /// - Parameters:
    ///   - policy: the body of a plaintext policy, see ``PlaintextPolicy``; 1…65 535 bytes.
    /// - Throws: `.crypto(.invalidPublicKey)` for a point that isn't on the curve; `.invalid` and `.tooLarge` for the
    ///   policy.
    public convenience init(
        recipient: KASRecipient, policy: [UInt8], crypto: some NanoTDFCrypto
    ) throws(NanoTDFError) {
        try self.init(recipient: recipient, policy: policy, crypto: crypto, lastCounter: 0)
    }

    /// For tests of the counter's end; a publisher always begins at 0.
    init(
        recipient: KASRecipient, policy: [UInt8], crypto: some NanoTDFCrypto, lastCounter: UInt32
    ) throws(NanoTDFError) {
        let sealing: EphemeralSealing
        do {
            sealing = try crypto.makeSealing(
                recipient: recipient.publicKey, curve: recipient.curve, salt: KeyDerivationSalt.l1l)
        } catch {
            throw .crypto(error)
        }
        header = NanoTDFHeader(
            locator: recipient.locator, policy: policy, binding: crypto.sha256(policy[...]).suffix(8),
            curve: recipient.curve, ephemeralPublicKey: sealing.publicKey)
        headerBytes = try header.encoded()
        headerHash = crypto.sha256(headerBytes[...])
        claim = CollectionClaim(headerBytes: headerBytes, headerHash: headerHash, proof: sealing.proof)
        state = Mutex(State(last: lastCounter, context: sealing.context))
    }

    /// Items sealed so far, and the counter of the last one.
    public var itemCount: UInt32 { state.withLock { $0.last } }

    /// Bytes of plaintext that one item takes: so many that the item still fits an RTMP message, whose length has 24
    /// bits, behind the longest clear prefix (8 bytes, HEVC in Enhanced RTMP).
    public static let plaintextLimit = 0xFF_FFFF - 8 - ContainerItem.overhead

    /// Seals `plaintext` as the next item.
    ///
    /// `item` is overwritten with `IV ‖ length ‖ ciphertext ‖ tag`; its capacity is reused, so that a steady state
    /// allocates nothing. On an error `item` is empty and no counter value is used, but for a failure of the library,
    /// which uses one up.
    /// - Returns: the counter value of the item.
    /// - Throws: `.counterExhausted` from the 2^24th item on, `.itemTooLarge`.
    @discardableResult
    public func seal(_ plaintext: ArraySlice<UInt8>, into item: inout [UInt8]) throws(NanoTDFError) -> UInt32 {
        guard plaintext.count <= Self.plaintextLimit else {
            item.removeAll(keepingCapacity: true)
            throw .itemTooLarge(count: plaintext.count, limit: Self.plaintextLimit)
        }
        Self.resize(&item, to: plaintext.count + ContainerItem.overhead)
        do {
            return try state.withLock { state throws(NanoTDFError) in
                guard state.last < ContainerItem.lastCounter else { throw .counterExhausted }
                state.last += 1
                var bytes = item.mutableSpan
                try Self.seal(plaintext, into: &bytes, counter: state.last, context: state.context)
                return state.last
            }
        } catch {
            item.removeAll(keepingCapacity: true)
            throw error
        }
    }

    @discardableResult
    public func seal(_ plaintext: [UInt8], into item: inout [UInt8]) throws(NanoTDFError) -> UInt32 {
        try seal(plaintext[...], into: &item)
    }

    private static func seal(
        _ plaintext: ArraySlice<UInt8>, into item: inout MutableSpan<UInt8>, counter: UInt32,
        context: any ItemSealingContext
    ) throws(NanoTDFError) {
        let length = UInt32(item.count - ContainerItem.prefixByteCount)
        var nonce = InlineArray<12, UInt8>(repeating: 0)
        for index in 0..<3 {
            let shift = UInt32(16 - 8 * index)
            let digit = UInt8(truncatingIfNeeded: counter >> shift)
            nonce[9 + index] = digit
            item[index] = digit
            item[3 + index] = UInt8(truncatingIfNeeded: length >> shift)
        }
        do {
            try context.seal(plaintext, into: &item, from: ContainerItem.prefixByteCount, nonce: nonce)
        } catch {
            throw .crypto(error)
        }
    }

    /// All bytes are overwritten afterwards, so what the buffer holds already is kept: clearing it first would cost a
    /// tenth of the encryption.
    private static func resize(_ item: inout [UInt8], to count: Int) {
        if item.count > count {
            item.removeLast(item.count - count)
            return
        }
        if item.capacity < count { item.reserveCapacity(count) }
        while item.count < count { item.append(contentsOf: filler.prefix(count - item.count)) }
    }

    private static let filler = [UInt8](repeating: 0, count: 65_536)
}

/// Salts of the key derivation (spec §4).
public enum KeyDerivationSalt {
    /// SHA-256("L1L"): every collection that is written, and almost all that are read.
    public static let l1l: [UInt8] = [
        0x3d, 0xe3, 0xca, 0x1e, 0x50, 0xcf, 0x62, 0xd8, 0xb6, 0xab, 0xa6, 0x03, 0xa9, 0x6f, 0xca, 0x67,
        0x61, 0x38, 0x7a, 0x7a, 0xc8, 0x6c, 0x3d, 0x3a, 0xfe, 0x85, 0xae, 0x2d, 0x18, 0x12, 0xed, 0xfc,
    ]
}
