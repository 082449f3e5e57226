import Media
import Testing

@testable import CameraPipeline

final class UnchangedFramesTests {
    private var frames = UnchangedFrames()

    private func unit(_ isKey: Bool, _ payload: [UInt8], _ header: UInt8? = nil, extra: [UInt8] = []) -> AccessUnit {
        func unit(_ bytes: [UInt8]) -> [UInt8] { [0, 0, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes }
        let slice = [header ?? (isKey ? 0x65 : 0x41)] + payload
        return AccessUnit(
            track: .video(.h264), isKeyFrame: isKey, presentationTime: .zero, decodeTime: .zero,
            data: (extra.isEmpty ? [] : unit(extra)) + unit(slice))
    }

    /// A group of pictures whose frames between key frames have 20 bytes, each with another number in them.
    private func group(_ key: [UInt8], between length: Int = 20, extra: [UInt8] = []) {
        frames.offered(unit(true, key, extra: extra))
        for number in 0..<9 { frames.offered(unit(false, [UInt8(number)] + [UInt8](repeating: 7, count: length))) }
    }

    @Test func `of key frames that were never the same nothing can be said: noise, or an encoder that numbers them on`()
    {
        for number in 0..<100 {
            group([UInt8(number), 1, 2, 3])
            #expect(frames.count == nil)
        }
    }

    @Test func `what once stood still is known to change by its key frames`() {
        for _ in 0..<3 { group([1, 2, 3]) }
        #expect(frames.count.map { $0 > 0 } == true)
        for number in 10..<20 {
            group([UInt8(number), 1, 2, 3])
            #expect(frames.count == 0)
        }
    }

    @Test
    func
        `the same key frames and frames of one length between them stand still, as far as a key frame proves it`()
    {
        for _ in 0..<10 { group([1, 2, 3]) }
        // Nine groups, each proved by the key frame behind it, and that one itself; the first two frames are what is
        // compared with. In one number: of an expression Swift 6.3 makes an `AnyHashable`, by a thunk that reads a byte
        // too many.
        #expect(frames.count == 89)
    }

    @Test func `encoders number key frames alternately`() {
        for number in 0..<10 { group([UInt8(number % 2), 1, 2]) }
        #expect(frames.count.map { $0 >= 70 } == true)
    }

    @Test func `time codes beside the frame do not matter`() {
        for number in 0..<10 { group([1, 2, 3], extra: [6, UInt8(number)]) }
        #expect(frames.count.map { $0 >= 80 } == true)
    }

    @Test func `a frame of another length is a change at once`() {
        for _ in 0..<10 { group([1, 2, 3]) }
        frames.offered(unit(false, [1]))
        #expect(frames.count == 0)
        // And what follows begins again.
        group([1, 2, 3])
        #expect(frames.count.map { $0 < 5 } == true)
    }

    @Test func `bytes that are not NAL units do not trap`() {
        for data: [UInt8] in [[], [0], [0, 0, 0, 9], [0xFF, 0xFF, 0xFF, 0xFF, 0x65], [0, 0, 0, 0, 0, 0, 0, 0]] {
            for isKey in [true, false] {
                frames.offered(
                    AccessUnit(
                        track: .video(.hevc), isKeyFrame: isKey, presentationTime: .zero, decodeTime: .zero, data: data)
                )
            }
        }
    }
}
