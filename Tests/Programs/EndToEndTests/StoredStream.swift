import Cryptography
import Demonstration
import FLV
import Foundation
import KeyAccessClient
import Media
import NanoTDF
import NanoTDFCryptography
import Player
import Wire

/// A sealed stream in an FLV file that somebody else stored, opened with keys from the KAS.
enum StoredStream {
    /// - Returns: what a frame log would hold.
    static func open(_ file: URL, provider: some KeyProvider) async throws -> [FrameRecord] {
        var reader = FLVFileReader()
        reader.append([UInt8](try Data(contentsOf: file)))
        var session = ViewerSession(
            crypto: OpenSSLCrypto(), hold: HoldLimits(items: 4096, duration: .max / 2, bytes: 64 << 20),
            allowsClear: false, judging: StreamClassifier.Configuration(allowsRecording: true))
        session.streamStarted(at: 0)
        var records: [FrameRecord] = []
        var now: UInt64 = 0
        // rtmpdump is ended while it writes: the last tag may be half-written.
        while let tag = try? reader.nextTag() {
            // A second apart, so that the limit on new headers does not bite.
            now += 1_000_000_000
            let actions = session.received(type: tag.type, timestamp: tag.timestamp, body: tag.body[...], at: now)
            for action in actions {
                switch action {
                case .requestKey(let header, let hash):
                    let key = try await provider.key(forHeader: header).key
                    for action in session.keyArrived(key, forHeader: hash, at: now) { record(action, &records) }
                case .deliver: record(action, &records)
                case .prepareKey, .withhold: break
                case .refuseClear: throw ViewerError.clearStream
                }
            }
        }
        return records
    }

    private static func record(_ action: ViewerSession.Action, _ records: inout [FrameRecord]) {
        guard case .deliver(.accessUnit(let unit), let provenance?) = action else { return }
        records.append(
            FrameRecord(
                track: unit.track.isVideo ? "video" : "audio", dts: unit.decodeTime.milliseconds, key: unit.isKeyFrame,
                bytes: unit.data.count, sha256: Hexadecimal.encode(Digest.sha256(unit.data)), instant: 0,
                iv: provenance.counter, collection: Hexadecimal.encode(provenance.collection.prefix(4))))
    }
}
