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
            // recovery_frame_cnt without its end, and without the flags behind it.
            [6, 6, 1, 0x00, 0x80], [6, 6, 1, 0x01, 0x80],
        ] as [[UInt8]])
    func `what is not one, or is cut, does not count`(unit: [UInt8]) {
        #expect(!VideoCodec.h264.holdsRecoveryPoint(unit[...]))
    }

    @Test func `a broken link is not one, nor is what comes right after more than ten seconds`() {
        // recovery_frame_cnt 0, exact_match_flag 1, broken_link_flag 1.
        #expect(!VideoCodec.h264.holdsRecoveryPoint([6, 6, 1, 0xE4, 0x80]))
        #expect(!VideoCodec.hevc.holdsRecoveryPoint([39 << 1, 1, 6, 1, 0xE4, 0x80]))
        // 300 is eight zeros and 1 0010 1101, 301 ends in 1110; both flags 0.
        #expect(VideoCodec.h264.holdsRecoveryPoint([6, 6, 3, 0x00, 0x96, 0x84, 0x80]))
        #expect(!VideoCodec.h264.holdsRecoveryPoint([6, 6, 3, 0x00, 0x97, 0x04, 0x80]))
        // recovery_poc_cnt: code 301 is +151, code 300 is -150.
        #expect(VideoCodec.hevc.holdsRecoveryPoint([39 << 1, 1, 6, 3, 0x00, 0x97, 0x04, 0x80]))
        #expect(VideoCodec.hevc.holdsRecoveryPoint([39 << 1, 1, 6, 3, 0x00, 0x96, 0x84, 0x80]))
        // Code 1023 is +512.
        #expect(!VideoCodec.hevc.holdsRecoveryPoint([39 << 1, 1, 6, 3, 0x00, 0x20, 0x02, 0x80]))
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
