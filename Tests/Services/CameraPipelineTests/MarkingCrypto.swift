import Synchronization

@testable import CameraPipeline
@testable import NanoTDF

/// Stands in for cryptography where a test must see through it: each collection has a serial number, each sealed byte
/// is inverted, and the tag names serial number, nonce and plaintext. Records every (key, nonce) pair, and fails the
/// use of one twice.
final class MarkingCrypto: NanoTDFCrypto {
    struct Use: Hashable {
        var serial: UInt64
        var counter: UInt32
    }

    private struct State {
        var serial: UInt64 = 0
        var uses: Set<Use> = []
        var repeated = 0
        var failing = false
    }
    private let state = Mutex(State())

    /// (key, nonce) pairs that were used, all different if `repeated` is zero.
    var uses: Int { state.withLock { $0.uses.count } }
    var repeated: Int { state.withLock { $0.repeated } }

    /// Makes every seal fail from now on, or work again.
    func fail(_ failing: Bool) {
        state.withLock { $0.failing = failing }
    }

    func sha256(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return Self.bytes(hash) + Self.bytes(hash &* 31) + Self.bytes(~hash) + Self.bytes(hash &* 17)
    }

    func makeSealing(
        recipient: [UInt8], curve: EllipticCurve, salt: [UInt8]
    ) throws(NanoTDFCryptoError) -> EphemeralSealing {
        let serial = state.withLock { state in
            state.serial += 1
            return state.serial
        }
        let publicKey = [2] + [UInt8](repeating: 0, count: 24) + Self.bytes(serial)
        return EphemeralSealing(
            publicKey: publicKey, context: Context(serial: serial, crypto: self), proof: NoProof())
    }

    func makeOpening(_ key: CollectionKey) throws(NanoTDFCryptoError) -> any ItemOpeningContext {
        throw .libraryFailed(call: "not in this test")
    }

    func zeroNonceTag(
        _ key: CollectionKey, associatedData: ArraySlice<UInt8>
    ) throws(NanoTDFCryptoError) -> [UInt8] {
        throw .libraryFailed(call: "not in this test")
    }

    func verifiesECDSA(
        signature: [UInt8], message: ArraySlice<UInt8>, publicKey: ArraySlice<UInt8>, curve: EllipticCurve
    ) -> Bool { false }

    func constantTimeEqual(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool { left == right }

    fileprivate func use(_ use: Use) throws(NanoTDFCryptoError) {
        let failing = state.withLock { state in
            if !state.failing, !state.uses.insert(use).inserted { state.repeated += 1 }
            return state.failing
        }
        if failing { throw .libraryFailed(call: "asked to fail") }
    }

    fileprivate static func bytes(_ value: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> UInt64(56 - 8 * $0)) }
    }

    fileprivate static func tag(serial: UInt64, counter: UInt32, checksum: UInt8) -> [UInt8] {
        bytes(serial) + bytes(UInt64(counter) << 8 | UInt64(checksum))
    }

    /// What the item holds, if it was sealed in the collection of `serial`; nil otherwise.
    static func open(_ item: ContainerItem, serial: UInt64) -> [UInt8]? {
        let plaintext = item.ciphertext.map { ~$0 }
        let expected = tag(serial: serial, counter: item.counter, checksum: plaintext.reduce(0, &+))
        return Array(item.tag) == expected ? plaintext : nil
    }

    /// The serial number in a header's ephemeral key.
    static func serial(of header: NanoTDFHeader) -> UInt64 {
        header.ephemeralPublicKey.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private final class Context: ItemSealingContext {
        let serial: UInt64
        let crypto: MarkingCrypto

        init(serial: UInt64, crypto: MarkingCrypto) {
            self.serial = serial
            self.crypto = crypto
        }

        func seal(
            _ plaintext: ArraySlice<UInt8>, into item: inout MutableSpan<UInt8>, from offset: Int,
            nonce: InlineArray<12, UInt8>
        ) throws(NanoTDFCryptoError) {
            let counter = UInt32(nonce[9]) << 16 | UInt32(nonce[10]) << 8 | UInt32(nonce[11])
            try crypto.use(Use(serial: serial, counter: counter))
            let plaintext = plaintext.span
            var checksum: UInt8 = 0
            for index in 0..<plaintext.count {
                checksum &+= plaintext[index]
                item[offset + index] = ~plaintext[index]
            }
            let tag = MarkingCrypto.tag(serial: serial, counter: counter, checksum: checksum)
            for index in 0..<16 { item[offset + plaintext.count + index] = tag[index] }
        }
    }
}

extension MarkingCrypto {
    /// A fresh collection, as the driver would make it.
    func collection(lastCounter: UInt32 = 0, madeAt: UInt64 = 0) -> PreparedCollection {
        let recipient = KASRecipient(
            locator: try! ResourceLocator(url: "https://kas.example.net/kas"),
            publicKey: [2] + [UInt8](repeating: 7, count: 32))
        let policy = Array(#"{"uuid":"u","body":{"dataAttributes":[],"dissem":[]}}"#.utf8)
        let sealer = try! CollectionSealer(
            recipient: recipient, policy: policy, crypto: self, lastCounter: lastCounter)
        return PreparedCollection(unchecked: sealer, madeAt: madeAt)
    }
}

extension StreamAuditor {
    static func marking() -> StreamAuditor {
        StreamAuditor { MarkingCrypto.open($0, serial: MarkingCrypto.serial(of: $1)) }
    }

    var serials: [UInt64] { collections.map(MarkingCrypto.serial) }
}

private final class NoProof: PossessionProof {
    func mac(of message: [UInt8]) -> [UInt8] { [] }
}
