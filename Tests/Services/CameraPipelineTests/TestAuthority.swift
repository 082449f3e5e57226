import CameraPipeline
import Cryptography
import NanoTDF
import NanoTDFCryptography
import Synchronization

/// A KAS in this process: a key pair that can be away, or change, and a book of registered headers. Opens items as a
/// viewer with its keys would.
final class TestAuthority: CollectionAuthority {
    struct Away: Error, CustomStringConvertible {
        var description: String { "the KAS is away" }
    }

    private struct State {
        var keys: [ECPrivateKey]
        var isAway: Bool
        var refusesHeaders = false
        var headers: Set<[UInt8]> = []
        var order: [[UInt8]] = []
        var refused: Set<[UInt8]> = []
        var lifetimes: Set<Duration> = []
        var asked = 0
    }
    private let state: Mutex<State>
    private let (counts, countChanged) = AsyncStream<Int>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let registersHeaders: Bool

    init(isAway: Bool = false, registersHeaders: Bool = false) throws {
        state = Mutex(State(keys: [try .generate(.p256)], isAway: isAway))
        self.registersHeaders = registersHeaders
    }

    var asked: Int { state.withLock { $0.asked } }
    var lifetimes: Set<Duration> { state.withLock { $0.lifetimes } }
    var registered: Set<[UInt8]> { state.withLock { $0.headers } }

    /// Header hashes in the order of their registration.
    var order: [[UInt8]] { state.withLock { $0.order } }
    func refuse(_ hash: [UInt8]) { state.withLock { _ = $0.refused.insert(hash) } }

    /// Returns when so many headers are registered.
    func registered(_ count: Int) async {
        for await known in counts where known >= count { return }
    }

    func setAway(_ isAway: Bool) { state.withLock { $0.isAway = isAway } }
    func setRefusesHeaders(_ refuses: Bool) { state.withLock { $0.refusesHeaders = refuses } }

    func rollKey() throws {
        let key = try ECPrivateKey.generate(.p256)
        state.withLock { $0.keys.append(key) }
    }

    func recipient() async throws -> KASRecipient {
        let key = try state.withLock { state in
            state.asked += 1
            if state.isAway { throw Away() }
            return state.keys[state.keys.count - 1]
        }
        return KASRecipient(
            locator: try ResourceLocator(url: "https://kas.example.net/kas"), publicKey: key.publicKey.compressed())
    }

    func register(
        _ claim: CollectionClaim, stream: String, lifetime: Duration
    ) async throws(RegistrationFailure) -> Int64? {
        try state.withLock { state throws(RegistrationFailure) in
            if state.isAway || state.refusesHeaders { throw RegistrationFailure(.away, reason: "\(Away())") }
            if state.refused.contains(claim.headerHash) { throw RegistrationFailure(.refused, reason: "not yours") }
            if state.headers.insert(claim.headerHash).inserted { state.order.append(claim.headerHash) }
            state.lifetimes.insert(lifetime)
            countChanged.yield(state.headers.count)
            return nil
        }
    }

    /// An auditor that opens with the keys of this KAS, and knows under which one each collection is.
    func auditor() -> StreamAuditor {
        let contexts = Contexts(keys: state.withLock { $0.keys })
        return StreamAuditor { contexts.open($0, $1) }
    }

    private final class Contexts {
        let keys: [ECPrivateKey]
        var known: [[UInt8]: any ItemOpeningContext] = [:]

        init(keys: [ECPrivateKey]) { self.keys = keys }

        func open(_ item: ContainerItem, _ header: NanoTDFHeader) -> [UInt8]? {
            let nonce =
                [UInt8](repeating: 0, count: 9)
                + (0..<3).map {
                    UInt8(truncatingIfNeeded: item.counter >> UInt32(16 - 8 * $0))
                }
            if let context = known[header.ephemeralPublicKey] {
                return try? context.open(ciphertext: item.ciphertext, tag: item.tag, nonce: nonce)
            }
            for key in keys {
                guard let context = try? Self.context(key, header),
                    let plaintext = try? context.open(ciphertext: item.ciphertext, tag: item.tag, nonce: nonce)
                else { continue }
                known[header.ephemeralPublicKey] = context
                return plaintext
            }
            return nil
        }

        static func context(_ key: ECPrivateKey, _ header: NanoTDFHeader) throws -> any ItemOpeningContext {
            let peer = try ECPublicKey(sec1: header.ephemeralPublicKey, curve: .p256)
            var derived = try HKDF.sha256(
                ikm: key.sharedSecret(with: peer), salt: KeyDerivationSalt.l1l, info: [], count: 32)
            return try OpenSSLCrypto().makeOpening(CollectionKey(wiping: &derived))
        }
    }
}
