import Cryptography
import NanoTDF
import NanoTDFCryptography

/// `SealingRate BYTES SECONDS`: megabytes of plaintext per second that one thread seals into items.
/// `SealingRate BYTES SECONDS DIRECTORY`: what it takes to seal segments into files there, as recordings are.
@main
enum SealingRate {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        let numbers = arguments.prefix(2).compactMap { Int($0) }
        guard numbers.count == 2, numbers[0] > 0, numbers[1] > 0, arguments.count <= 3 else {
            print("usage: SealingRate BYTES SECONDS [DIRECTORY]")
            return
        }
        if arguments.count == 3, let directory = arguments.last {
            try RecordingRate.measure(numbers[0], for: .seconds(numbers[1]), in: directory)
        } else {
            try sealItems(numbers[0], for: .seconds(numbers[1]))
        }
    }

    private static func sealItems(_ count: Int, for limit: Duration) throws {
        let recipient = KASRecipient(
            locator: try ResourceLocator(url: "https://kas.example.net/kas"),
            publicKey: try ECPrivateKey.generate(.p256).publicKey.compressed())
        let plaintext = [UInt8](repeating: 0x5A, count: count)
        var item: [UInt8] = []
        var items = 0
        let clock = ContinuousClock()
        let begin = clock.now
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
