import Media
import Testing

@testable import MediaFile

@Suite struct InterleaverTests {
    private let video = MediaEvent.videoFormat(
        VideoFormat(codec: .h264, width: 2, height: 2, frameRate: nil, configurationRecord: []))
    private let audio = MediaEvent.audioFormat(
        AudioFormat(codec: .aac, sampleRate: 48_000, channels: 1, audioSpecificConfig: []))

    private func unit(_ milliseconds: Int64, isVideo: Bool, bytes: Int = 0) -> MediaEvent {
        let time = MediaTime(milliseconds: milliseconds)
        return .accessUnit(
            AccessUnit(
                track: isVideo ? .video(.h264) : .audio(.aac), isKeyFrame: true, presentationTime: time,
                decodeTime: time, data: [UInt8](repeating: 0, count: bytes)))
    }

    private func drain(_ interleaver: inout Interleaver, isAtEnd: Bool = false) -> [Int64] {
        var times: [Int64] = []
        while let next = interleaver.pop(isAtEnd: isAtEnd) { times.append(next.unit.decodeTime.milliseconds) }
        return times
    }

    @Test func `runs of one track and of the other come out in one order`() {
        var interleaver = Interleaver(trackCount: 2)
        for time in stride(from: 0, to: 500, by: 20) { interleaver.push(unit(Int64(time), isVideo: false)) }
        #expect(drain(&interleaver).isEmpty)
        for time in stride(from: 10, to: 500, by: 40) { interleaver.push(unit(Int64(time), isVideo: true)) }
        let times = drain(&interleaver) + drain(&interleaver, isAtEnd: true)
        #expect(times == times.sorted())
        #expect(times.count == 25 + 13)
    }

    @Test func `both formats come with the first unit, later ones in front of theirs`() throws {
        var interleaver = Interleaver(trackCount: 2)
        for event in [video, unit(0, isVideo: true), video, unit(40, isVideo: true), audio] { interleaver.push(event) }
        #expect(interleaver.pop()?.unit == nil)
        interleaver.push(unit(20, isVideo: false))
        interleaver.push(unit(60, isVideo: false))
        let formats = [interleaver.pop(), interleaver.pop(), interleaver.pop()].map { $0?.formats }
        #expect(formats == [[video, audio], [], [video]])
    }

    @Test func `one track does not wait`() {
        var interleaver = Interleaver(trackCount: 1)
        interleaver.push(unit(0, isVideo: true))
        #expect(drain(&interleaver) == [0])
    }

    @Test func `an absent track is waited for no longer than a second`() {
        var interleaver = Interleaver(trackCount: nil)
        for time in stride(from: 0, through: 1000, by: 40) { interleaver.push(unit(Int64(time), isVideo: true)) }
        #expect(drain(&interleaver).isEmpty)
        interleaver.push(unit(1040, isVideo: true))
        #expect(drain(&interleaver) == [0])
    }

    @Test func `neither bytes nor units pile up`() {
        var large = Interleaver(trackCount: nil)
        for time in 0..<20 as Range<Int64> { large.push(unit(time, isVideo: true, bytes: 1 << 20)) }
        #expect(drain(&large).count == 4)
        var many = Interleaver(trackCount: nil)
        for _ in 0..<1100 { many.push(unit(0, isVideo: false)) }
        #expect(drain(&many).count == 1100 - 1024)
    }
}
