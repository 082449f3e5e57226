import Media
import TestSupport
import Testing
import Wire

@testable import MediaFile

@Suite struct ADTSFramesTests {
    /// A frame of AAC-LC, 48 kHz, stereo, in front of `payload`.
    private func frame(_ payload: [UInt8], hasChecksum: Bool = false) -> [UInt8] {
        let length = payload.count + (hasChecksum ? 9 : 7)
        return [
            0xFF, hasChecksum ? 0xF0 : 0xF1, 0x4C, 0x80 | UInt8(length >> 11), UInt8(length >> 3 & 255),
            UInt8(length << 5 & 255) | 0x1F, 0xFC,
        ] + (hasChecksum ? [0, 0] : []) + payload
    }

    @Test(arguments: [false, true])
    func `frames lose their headers, and the header says what they are`(hasChecksum: Bool) throws {
        let bytes = frame([1, 2, 3], hasChecksum: hasChecksum) + frame([4], hasChecksum: hasChecksum)
        let frames = try ADTSFrames.parse(bytes[...])
        #expect(frames.map { Array($0.payload) } == [[1, 2, 3], [4]])
        let config = try #require(frames.first?.config)
        #expect(config.objectType == 2 && config.samplingFrequency == 48_000 && config.channels == 2)
    }

    @Test func `every strict prefix is truncated`() throws {
        let bytes = frame([1, 2, 3])
        for length in 1..<bytes.count {
            let needed = length < 7 ? 7 : 10
            #expect(throws: MediaError.wire(.truncated(offset: 0, needed: needed, available: length))) {
                try ADTSFrames.parse(bytes.prefix(length))
            }
        }
        #expect(try ADTSFrames.parse([]).isEmpty)
    }

    @Test(arguments: 0..<64 as Range<UInt64>)
    func `noise behind a header throws or is read, and never traps`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var bytes = frame((0..<40).map { _ in .random(in: 0...255, using: &generator) })
        for _ in 0..<8 {
            bytes[Int.random(in: bytes.indices, using: &generator)] ^= 1 << UInt8.random(in: 0...7, using: &generator)
        }
        let frames = (try? ADTSFrames.parse(bytes[...])) ?? []
        #expect(frames.reduce(0) { $0 + $1.payload.count } <= bytes.count)
    }
}
