import CameraModel
import ErrorCatalog
import Synchronization
import Testing

@testable import CameraPipeline

@Suite struct EncoderBitrateTests {
    private final class Asked: Sendable {
        let changes = Mutex<[VideoChange]>([])
        let isRefusing = Mutex(false)

        func encoder(_ most: Int) -> EncoderBitrate {
            EncoderBitrate(most) { (change) throws(CodedError) in
                if self.isRefusing.withLock({ $0 }) || (try? change.validate()) == nil {
                    throw CodedError(.invalidValue, "no")
                }
                self.changes.withLock { $0.append(change) }
            }
        }

        var last: VideoChange? { changes.withLock { $0.last } }
    }

    private let asked = Asked()

    @Test func `the uplink takes less, and never more than is configured`() {
        let encoder = asked.encoder(2_000_000)
        #expect(encoder.follow(700_000))
        #expect(asked.last == VideoChange(bitrate: 700_000))
        #expect(encoder.follow(3_000_000))
        #expect(asked.last == VideoChange(bitrate: 2_000_000))
        #expect(encoder.current == .init(bitrate: 2_000_000, most: 2_000_000, revision: 0))
    }

    @Test func `a new bitrate counts at once, unless the uplink bears less`() throws {
        let encoder = asked.encoder(2_000_000)
        try encoder.change(VideoChange(bitrate: 4_000_000, gopSeconds: 2))
        #expect(asked.last == VideoChange(bitrate: 4_000_000, gopSeconds: 2))
        #expect(encoder.follow(700_000))
        try encoder.change(VideoChange(bitrate: 3_000_000, frameRate: 15))
        #expect(asked.last == VideoChange(bitrate: 700_000, frameRate: 15))
        #expect(encoder.current == .init(bitrate: 700_000, most: 3_000_000, revision: 2))
        try encoder.change(VideoChange(bitrate: 500_000))
        #expect(encoder.current == .init(bitrate: 500_000, most: 500_000, revision: 3))
        // What does not name it leaves it alone.
        try encoder.change(VideoChange(gopSeconds: 4))
        #expect(encoder.current.revision == 3 && asked.last == VideoChange(gopSeconds: 4))
    }

    @Test(arguments: [5, 300_000_000])
    func `what the source refuses changes nothing`(bitrate: Int) {
        let encoder = asked.encoder(2_000_000)
        #expect(encoder.follow(700_000))
        let before = encoder.current
        #expect(throws: CodedError.self) { try encoder.change(VideoChange(bitrate: bitrate)) }
        #expect(encoder.current == before)
        asked.isRefusing.withLock { $0 = true }
        #expect(!encoder.follow(600_000))
        #expect(encoder.current == before)
    }
}
