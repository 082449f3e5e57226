import Archive
import CameraModel
import CameraPipeline
import Cryptography
import Foundation
import KeyAccess
import Media
import Settings
import TDF
import TDFCryptography
import Testing

@testable import Recording

struct RecoveryKeyRecordingTests {
    private static let pair = try! RSAPrivateKey.generate(bits: 2048)

    @Test func `what is recorded opens with the recovery key, and the writer names it`() throws {
        let stage = try RecordingStage()
        let recovery = try RecoveryKey(try Self.pair.publicKey.spkiPEM())
        var settings = stage.settings()
        settings.recoveryKey = recovery
        let writer = try stage.writer(settings)
        #expect(writer.statistics.recoveryKey == recovery.fingerprint)
        stage.show(try Film.pattern(seconds: 7), to: writer)
        writer.end()
        #expect(writer.statistics.recoveryKey == recovery.fingerprint)
        let names = stage.names
        try #require(names.count == 3)
        for name in names {
            let archive = try ArchiveReader("\(stage.directory)/\(name.fileName)")
            let objects = archive.manifest.encryptionInformation.keyAccess
            try #require(objects.map(\.url) == ["https://kas.example.net/kas", RecoveryKey.url])
            var films: [[UInt8]] = []
            for (index, pair) in [RecordingStage.key, Self.pair].enumerated() {
                var film: [UInt8] = []
                try archive.opened(try pair.archiveKey(from: objects[index]), fromKeyAccess: index).read {
                    (bytes) throws(ArchiveError) in film += bytes
                }
                films.append(film)
            }
            #expect(films[0] == films[1] && !films[0].isEmpty)
        }
    }

    @Test func `a key that no key is records nothing rather than what it does not open`() throws {
        let stage = try RecordingStage()
        var recording = CameraConfiguration.Recording(directory: stage.directory)
        let configuration = CameraConfiguration(
            id: "front", source: .testPattern(.init()), relay: .init(url: "rtmp://127.0.0.1/live"),
            kas: KASConfiguration(url: "https://kas.example.net/kas"))
        recording.recoveryKey = "AAAA"
        #expect {
            try Recorder(recording, of: configuration, clock: StreamClock())
        } throws: { error in
            (error as? ConfigurationError)?.problems.map(\.field) == ["recording.recoveryKey"]
        }
        recording.recoveryKey = try RecoveryKey(try Self.pair.publicKey.spkiPEM()).text
        _ = try Recorder(recording, of: configuration, clock: StreamClock())
    }
}
