import Media
import TestSupport
import Testing

struct RecoveryPointTests {
    @Test(
        arguments: [
            // Alone, behind another message, behind one of 300 bytes; with emulation prevention before it.
            [6, 6, 1, 0xC4, 0x80], [6, 5, 2, 9, 9, 6, 1, 0xC4, 0x80],
            [6, 5, 0xFF, 45] + [UInt8](repeating: 7, count: 300) + [6, 1, 0xC4, 0x80],
            [6, 5, 4, 0, 0, 3, 1, 9, 6, 1, 0xC4, 0x80],
        ] as [[UInt8]])
    func `a recovery point is found among the messages`(unit: [UInt8]) {
        #expect(VideoCodec.h264.holdsRecoveryPoint(unit[...]))
        let hevc = [39 << 1, 1] + unit.dropFirst()
        #expect(VideoCodec.hevc.holdsRecoveryPoint(hevc[...]))
        // As a unit of another type it says nothing.
        #expect(!VideoCodec.hevc.holdsRecoveryPoint(unit[...]))
        #expect(!VideoCodec.h264.holdsRecoveryPoint(hevc[...]))
    }

    @Test(
        arguments: [
            [], [6], [6, 6], [6, 6, 9, 1], [6, 6, 0, 0x80], [6, 0x80], [6, 5, 1, 6, 0x80], [6, 0xFF], [6, 0xFF, 0xFF],
            [6, 5, 0xFF, 0xFF], [5, 6, 1, 0xC4],
        ] as [[UInt8]])
    func `what is none, or is cut, is none`(unit: [UInt8]) {
        #expect(!VideoCodec.h264.holdsRecoveryPoint(unit[...]))
    }

    @Test(arguments: UInt64(1)...64)
    func `random bytes are read to their end`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<64 {
            let unit =
                [6]
                + (0..<Int.random(in: 0...600, using: &random)).map { _ in
                    Bool.random(using: &random) ? UInt8.random(in: 0...7, using: &random) : 0xFF
                }
            _ = VideoCodec.h264.holdsRecoveryPoint(unit[...])
        }
    }
}
