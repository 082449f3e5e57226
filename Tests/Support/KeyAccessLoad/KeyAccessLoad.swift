import Cryptography
import FoundationEssentials
import Glibc
import KeyAccessClient
import NanoTDF
import NanoTDFCryptography
import Settings

/// Viewers that all ask a running KAS for a key when a stream's key changes. `Tests/Rigs/bench/kas.py` runs it.
///
///     KeyAccessLoad --port 9443 --publish-token FILE --viewer-token FILE [--viewers 1000] [--rounds 3] [--ahead]
///
/// Prints a JSON document: requests per second, and milliseconds from the common start to a viewer's answer. Every
/// answer is opened, after the clock has stopped, and must hold the collection's key.
@main struct KeyAccessLoad {
    struct Round: Encodable {
        var perSecond: Double
        var p50: Double
        var p99: Double
        var max: Double
        /// CPU seconds of this program while the clock ran.
        var ownCPU: Double
        /// CPU seconds of the service, when its `--pid` is given.
        var serviceCPU: Double?
    }

    static func main() async throws {
        var options: [String: String] = [:]
        var words = CommandLine.arguments.dropFirst().makeIterator()
        while let word = words.next() { options[word] = word == "--ahead" ? "" : words.next() ?? "" }
        guard let port = options["--port"].flatMap({ Int($0) }), let publishing = options["--publish-token"],
            let viewing = options["--viewer-token"]
        else { throw Failure("--port, --publish-token and --viewer-token are needed") }
        let viewers = options["--viewers"].flatMap { Int($0) } ?? 1000
        let process = options["--pid"].flatMap { Int32($0) }
        let token = try String(contentsOfFile: viewing, encoding: .utf8).filter { !$0.isWhitespace }

        var rounds: [Round] = []
        for _ in 0..<(options["--rounds"].flatMap { Int($0) } ?? 3) {
            // All viewers share a token. Between two rotations its limit fills up again, as it does within a minute.
            try await Task.sleep(for: .seconds(4))
            let (header, item) = try await registeredCollection(port: port, tokenFile: publishing)
            let requests = try (0..<viewers).map { _ in
                try PreparedRequest(header: header, token: token, keepsAlive: options["--ahead"] != nil)
            }
            var crowd = Crowd(port: port, requests: requests)
            if options["--ahead"] != nil {
                crowd.holdBack()
                try crowd.connectAll()
                crowd.letGo()
            }
            let before = (own: cpu(of: getpid()), service: process.map(cpu(of:)))
            let outcome = try crowd.run()
            let after = (own: cpu(of: getpid()), service: process.map(cpu(of:)))
            for (request, body) in zip(requests, outcome.bodies) {
                let opened = try AESGCM.open(
                    key: request.unwrap(body), nonce: [UInt8](repeating: 0, count: 9) + item[..<3],
                    ciphertextAndTag: Array(item[6...]), tagLength: 16)
                guard opened == frame else { throw Failure("a viewer was given a key that opens something else") }
            }
            let sorted = outcome.latencies.sorted()
            func milliseconds(_ share: Double) -> Double { sorted[Int(Double(sorted.count - 1) * share)] * 1000 }
            rounds.append(
                Round(
                    perSecond: Double(viewers) / sorted[viewers - 1], p50: milliseconds(0.5), p99: milliseconds(0.99),
                    max: milliseconds(1), ownCPU: after.own - before.own,
                    serviceCPU: after.service.flatMap { after in before.service.map { after - $0 } }))
        }
        print(String(decoding: try JSONEncoder().encode(rounds), as: UTF8.self))
    }

    private static let frame = Array("a frame".utf8)

    /// A collection as a camera makes it, and an item of it: its key stays in the sealer.
    private static func registeredCollection(
        port: Int, tokenFile: String
    ) async throws -> (header: [UInt8], item: [UInt8]) {
        let configuration = KASConfiguration(url: "http://127.0.0.1:\(port)/kas", token: .file(tokenFile))
        let recipient = try await KASPublicKeyCache(configuration: configuration).recipient()
        let sealer = try CollectionSealer(
            recipient: recipient, policy: PlaintextPolicy(stream: "bench").encoded(), crypto: OpenSSLCrypto())
        try await KASCollectionRegistrar(configuration: configuration).register(
            sealer.claim, stream: "bench", lifetime: 3600)
        var item: [UInt8] = []
        _ = try sealer.seal(frame, into: &item)
        return (sealer.headerBytes, item)
    }

    /// Seconds, user and system.
    private static func cpu(of process: Int32) -> Double {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return 0 }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
