import Testing

@testable import AudioCapture

struct SampleFormatTests {
    private func samples(_ format: SampleFormat, _ bytes: [UInt8], channels: Int = 1, kept: Int = 1) -> [Float] {
        let frames = bytes.count / (format.bytes * channels)
        return bytes.withUnsafeBytes { format.samples($0, frames: frames, channels: channels, kept: kept) }
    }

    @Test func `each format's lowest, middle and half are −1, 0 and one half`() {
        #expect(samples(.unsigned8, [0, 128, 192]) == [-1, 0, 0.5])
        #expect(samples(.signed16, [0, 0x80, 0, 0, 0, 0x40]) == [-1, 0, 0.5])
        #expect(samples(.signed24Packed, [0, 0, 0x80, 0, 0, 0, 0, 0, 0x40]) == [-1, 0, 0.5])
        // The fourth byte is anything.
        #expect(samples(.signed24, [0, 0, 0x80, 0x12, 0, 0, 0, 0xff, 0, 0, 0x40, 0x80]) == [-1, 0, 0.5])
        #expect(samples(.signed32, [0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0x40]) == [-1, 0, 0.5])
        #expect(samples(.float32, [0, 0, 0x80, 0xbf, 0, 0, 0, 0, 0, 0, 0, 0x3f]) == [-1, 0, 0.5])
    }

    @Test func `what is not a number is silence, and too much is 1`() {
        let values: [Float] = [.nan, .infinity, -.infinity, 7, -7]
        let bytes = values.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value.bitPattern >> (8 * $0)) } }
        #expect(samples(.float32, bytes) == [0, 0, 0, 1, -1])
    }

    @Test func `of many channels the first are kept, or averaged`() {
        let bytes: [UInt8] = [0, 128, 1, 2, 192, 192, 3, 4]
        #expect(samples(.unsigned8, bytes, channels: 4, kept: 2) == [-1, 0, 0.5, 0.5])
        #expect(samples(.unsigned8, bytes, channels: 4, kept: 1) == [-0.5, 0.5])
    }

    @Test func `more frames than bytes are not read`() {
        let bytes: [UInt8] = [0, 128, 192]
        let read = bytes.withUnsafeBytes { SampleFormat.unsigned8.samples($0, frames: 1_000, channels: 2, kept: 2) }
        #expect(read == [-1, 0])
    }
}
