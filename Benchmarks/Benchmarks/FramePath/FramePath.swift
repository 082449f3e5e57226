import Benchmark
import Cryptography
import NanoTDF
import NanoTDFCryptography
import RTMP

/// What one frame costs on its way from the encoder to the socket.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock, .throughput], warmupIterations: 10, scalingFactor: .kilo, maxDuration: .seconds(2))

    for size in [400, 8192, 65_536] {
        Benchmark("seal an item of \(size) bytes") { benchmark in
            let sealer = try CollectionSealer(
                recipient: try recipient(), policy: PlaintextPolicy().encoded(), crypto: OpenSSLCrypto())
            let plaintext = [UInt8](repeating: 0x5A, count: size)
            var item: [UInt8] = []
            benchmark.startMeasurement()
            for _ in benchmark.scaledIterations {
                _ = try sealer.seal(plaintext[...], into: &item)
            }
            blackHole(item)
        }
    }

    Benchmark("make a collection") { benchmark in
        let crypto = OpenSSLCrypto()
        let recipient = try recipient()
        let policy = PlaintextPolicy().encoded()
        benchmark.startMeasurement()
        for _ in benchmark.scaledIterations {
            blackHole(try CollectionSealer(recipient: recipient, policy: policy, crypto: crypto))
        }
    }

    Benchmark("cut a frame of 16 kB into chunks") { benchmark in
        var writer = ChunkWriter()
        var output: [UInt8] = []
        writer.setChunkSize(4096, to: &output)
        let prefix: [UInt8] = [0x27, 1, 0, 0, 0]
        let payload = [UInt8](repeating: 7, count: 16_384)
        benchmark.startMeasurement()
        for step in benchmark.scaledIterations {
            output.removeAll(keepingCapacity: true)
            writer.append(
                .video, timestamp: UInt32(truncatingIfNeeded: step), streamID: 1, chunkStreamID: 6, prefix: prefix[...],
                payload: payload[...], to: &output)
        }
        blackHole(output)
    }
}

@Sendable
private func recipient() throws -> KASRecipient {
    KASRecipient(
        locator: try ResourceLocator(url: "https://kas.example.net/kas"),
        publicKey: try ECPrivateKey.generate(.p256).publicKey.compressed())
}
