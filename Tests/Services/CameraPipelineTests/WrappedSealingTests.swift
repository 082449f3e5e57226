import FLV
import Media
import Testing

@testable import CameraPipeline

/// What goes out to a relay that parses frames.
@Suite struct WrappedSealingTests {
    private func sealer(limit: Int = StreamSealer.Options.standardMessageLimit) -> StreamSealer {
        var sealer = StreamSealer(options: .init(wrapsItems: true, messageLimit: limit))
        sealer.offer(MarkingCrypto().collection())
        sealer.begin()
        _ = sealer.seal(.videoFormat(videoFormat), at: 0)
        _ = sealer.seal(.audioFormat(audioFormat), at: 0)
        return sealer
    }

    @Test func `each frame is one NAL unit, and nothing else changes`() throws {
        var sealer = sealer()
        guard case .send = sealer.seal(video(0, key: true), at: 0) else {
            Issue.record("not sent")
            return
        }
        // The header frame is behind the sequence headers: before them it would be a frame of an unknown kind.
        #expect(
            sealer.entry.map(\.content)
                == [.metadata, .videoSequenceHeader, .audioSequenceHeader, .header, .video])
        let key = sealer.entry[4]
        let length = key.payload.count + 1
        #expect(key.prefix == [0x17, 1, 0, 0, 0, 0, 0, UInt8(length >> 8), UInt8(length & 255), 0x65])
        #expect(Array(key.payload.prefix(3)) == [0, 0, 1] && key.payload.count == video(0, key: true).size + 22)
        #expect(
            NALWrapper.form(of: (key.prefix.dropFirst(5) + key.payload)[...], codec: .h264)
                == .wrapped(item: key.payload[...]))
        #expect(sealer.entry[3].payload.starts(with: [0x17, 2, 0, 0, 0] + "NTDF".utf8))
        _ = sealer.seal(audio(21), at: 0)
        #expect(sealer.entry.map(\.prefix) == [[0xAF, 1]])
        _ = sealer.seal(video(40), at: 0)
        #expect(sealer.entry[0].prefix.prefix(5) == [0x27, 1, 0, 0, 0] && sealer.entry[0].prefix[9] == 0x41)
        // The end of the stream, too.
        let isFinished = sealer.finish()
        #expect(isFinished && sealer.entry[0].prefix == [0x27, 1, 0, 0, 0, 0, 0, 0, 23, 0x41])
        #expect(sealer.entry[0].payload.count == 22)
    }

    @Test func `the wrapper counts in the length of a message`() {
        for (size, isSent) in [(1000 - 5 - 5 - 22, true), (1000 - 5 - 5 - 22 + 1, false)] {
            var sealer = sealer(limit: 1000)
            let outcome = sealer.seal(.accessUnit(videoUnit(0, key: true, size: size)), at: 0)
            guard case .send = outcome else {
                #expect(!isSent, "\(outcome)")
                continue
            }
            #expect(isSent && sealer.entry[sealer.entry.count - 1].byteCount == 1000)
        }
    }
}

extension MediaEvent {
    /// Bytes of a unit.
    fileprivate var size: Int { if case .accessUnit(let unit) = self { unit.data.count } else { 0 } }
}
