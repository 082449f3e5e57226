import Archive
import Cryptography
import Glibc
import NanoTDF
import TDF

/// What it takes to seal media into files as a recorder does that gets them as fast as it can: a segment for each group of pictures,
/// sixty to an archive, a flush at its end. It says so in JSON: bytes of media, and seconds by the clock (`wall`) and of the processor,
/// the program's own (`user`) and the kernel's (`system`).
enum RecordingRate {
    private static let segments = 60

    static func measure(_ size: Int, for limit: Duration, in directory: String) throws {
        let recipient = TDFRecipient(
            url: "https://kas.example.net/kas", publicKeyPEM: try RSAPrivateKey.generate(bits: 2048).publicKey.spkiPEM()
        )
        let media = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 0x9E37_79B9 >> 13) }
        let clock = ContinuousClock()
        let (begin, before) = (clock.now, processorTime)
        var archives = 0
        while clock.now - begin < limit {
            archives += 1
            let archive = try GrowingArchive(
                RecordingName.stem(UInt64(archives)), in: directory, recipient: recipient,
                policy: PlaintextPolicy(stream: "bench"), begin: 0)
            for _ in 0..<segments { try archive.append(media[...], milliseconds: 1000) }
            // Each takes the place of the one before.
            _ = try archive.end { _, _ in "bench.tdf" }
        }
        let (end, after) = (clock.now, processorTime)
        unlink("\(directory)/bench.tdf")
        print(
            "{\"bytes\": \(archives * segments * media.count), \"wall\": \((end - begin) / .seconds(1)),"
                + " \"user\": \(after.user - before.user), \"system\": \(after.system - before.system)}")
    }

    /// Of this process so far, in seconds.
    private static var processorTime: (user: Double, system: Double) {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return (seconds(usage.ru_utime), seconds(usage.ru_stime))
    }
}
