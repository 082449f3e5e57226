import Cryptography
import NanoTDF
import NanoTDFCryptography

/// `SealingRate BYTES SECONDS`: megabytes of plaintext per second that one thread seals into items.
@main
enum SealingRate {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        guard arguments.count == 2, arguments[0] > 0, arguments[1] > 0 else {
            print("usage: SealingRate BYTES SECONDS")
            return
        }
        let recipient = KASRecipient(
            locator: try ResourceLocator(url: "https://kas.example.net/kas"),
            publicKey: try ECPrivateKey.generate(.p256).publicKey.compressed())
        let plaintext = [UInt8](repeating: 0x5A, count: arguments[0])
        var item: [UInt8] = []
        var items = 0
        let clock = ContinuousClock()
        let begin = clock.now
        let limit = Duration.seconds(arguments[1])
        while clock.now - begin < limit {
            // A collection never wraps: a new one when its counter is used up.
            let sealer = try CollectionSealer(
                recipient: recipient, policy: PlaintextPolicy().encoded(), crypto: OpenSSLCrypto())
            while sealer.itemCount < 1 << 20, clock.now - begin < limit {
                for _ in 0..<200 { _ = try sealer.seal(plaintext[...], into: &item) }
                items += 200
            }
        }
        let seconds = (clock.now - begin) / .seconds(1)
        print(Double(items) * Double(plaintext.count) / seconds / 1e6)
    }
}
