import Media
import Testing

@testable import Recording

/// Memory, and what of it is recorded. Frames are named by their times in milliseconds.
struct FrameSelectionTests {
    private static let video = VideoFormat(codec: .h264, width: 64, height: 48, frameRate: 5, configurationRecord: [1])
    private static let larger = VideoFormat(
        codec: .h264, width: 128, height: 96, frameRate: 5, configurationRecord: [2])
    private static let audio = AudioFormat(
        codec: .aac, sampleRate: 48000, channels: 2, audioSpecificConfig: [0x11, 0x90])

    private static func frame(_ milliseconds: Int64, key: Bool = false, bytes: Int = 1) -> MediaEvent {
        let time = MediaTime(milliseconds: milliseconds)
        return .accessUnit(
            AccessUnit(
                track: .video(.h264), isKeyFrame: key, presentationTime: time, decodeTime: time,
                data: [UInt8](repeating: 0, count: bytes)))
    }

    private static func sound(_ milliseconds: Int64) -> MediaEvent {
        let time = MediaTime(milliseconds: milliseconds)
        return .accessUnit(
            AccessUnit(track: .audio(.aac), isKeyFrame: true, presentationTime: time, decodeTime: time, data: [0]))
    }

    private static func instant(_ milliseconds: Int64) -> UInt64 {
        1_000_000_000_000 + UInt64(milliseconds) * 1_000_000
    }

    /// `V` and `A` for formats, else the time.
    private static func names(_ events: [MediaEvent]) -> [String] {
        events.map { event in
            switch event {
            case .videoFormat(let format): format == larger ? "W" : "V"
            case .audioFormat: "A"
            case .accessUnit(let unit): "\(unit.decodeTime.milliseconds)"
            }
        }
    }

    // MARK: Memory

    private func preRoll(_ seconds: UInt64, bytes: Int = 1 << 20, units: Int = 1000) -> PreRoll {
        PreRoll(.init(duration: seconds * 1_000_000_000, bytes: bytes, units: units))
    }

    /// 5 frames a second, a key frame in each second.
    private func fill(_ preRoll: inout PreRoll, _ seconds: Range<Int64>, bytes: Int = 1) {
        preRoll.take(.videoFormat(Self.video), at: Self.instant(0))
        for time in stride(from: seconds.lowerBound * 1000, to: seconds.upperBound * 1000, by: 200) {
            preRoll.take(Self.frame(time, key: time % 1000 == 0, bytes: bytes), at: Self.instant(time))
        }
    }

    @Test func `memory holds whole groups of pictures, no more than reach back as far as asked`() {
        var preRoll = preRoll(2)
        fill(&preRoll, 0..<10)
        // The newest is at 9.8 s: the group that has 7.8 s begins at 7 s.
        let names = Self.names(preRoll.takeAll().reversed())
        #expect(names.prefix(2) == ["V", "7000"] && names.last == "9800" && names.count == 16)
        #expect(preRoll.isEmpty && preRoll.bytes == 0 && preRoll.units == 0)
    }

    @Test func `without time before it holds the group that is coming`() {
        var preRoll = preRoll(0)
        fill(&preRoll, 0..<3)
        #expect(Self.names(preRoll.takeAll().reversed()) == ["V", "2000", "2200", "2400", "2600", "2800"])
    }

    @Test func `what is too many bytes goes from its beginning, a group at a time`() {
        var preRoll = preRoll(60, bytes: 1200)
        fill(&preRoll, 0..<5, bytes: 100)
        #expect(preRoll.bytes == 1000)
        #expect(Self.names(preRoll.takeAll().reversed()).prefix(2) == ["V", "3000"])
        var few = self.preRoll(60, units: 12)
        fill(&few, 0..<5)
        #expect(few.units == 10)
    }

    @Test func `a group that does not fit is not held, and the next one is`() {
        var preRoll = preRoll(60, bytes: 450)
        fill(&preRoll, 0..<1, bytes: 100)
        #expect(preRoll.isEmpty && preRoll.bytes == 0)
        preRoll.take(Self.frame(1000, key: true, bytes: 100), at: Self.instant(1000))
        #expect(Self.names(preRoll.takeAll().reversed()) == ["V", "1000"])
    }

    @Test func `a camera that went away leaves nothing behind for what comes much later`() {
        var preRoll = preRoll(10)
        fill(&preRoll, 0..<5)
        preRoll.trim(at: Self.instant(40_000))
        #expect(!preRoll.isEmpty)
        preRoll.trim(at: Self.instant(70_000))
        #expect(preRoll.isEmpty)
    }

    @Test func `each group has the formats that it began with`() {
        var preRoll = preRoll(1)
        fill(&preRoll, 0..<1)
        preRoll.take(.audioFormat(Self.audio), at: Self.instant(1000))
        preRoll.take(.videoFormat(Self.larger), at: Self.instant(1000))
        preRoll.take(Self.frame(1000, key: true), at: Self.instant(1000))
        preRoll.take(Self.sound(1000), at: Self.instant(1000))
        var both = preRoll
        let names = Self.names(both.takeAll().reversed())
        #expect(names == ["V", "0", "200", "400", "600", "800", "A", "W", "1000", "1000"])
        preRoll.take(Self.frame(2000, key: true), at: Self.instant(2000))
        #expect(Self.names(preRoll.takeAll().reversed()) == ["W", "A", "1000", "1000", "2000"])
    }

    @Test func `a camera whose every frame is a key frame has many groups, and the same bounds`() {
        var preRoll = preRoll(60, units: 500)
        preRoll.take(.videoFormat(Self.video), at: Self.instant(0))
        for time in Int64(0)..<5000 { preRoll.take(Self.frame(time, key: true), at: Self.instant(time)) }
        #expect(preRoll.units == 500)
        #expect(Self.names(preRoll.takeAll().reversed()).prefix(2) == ["V", "4500"])
    }

    @Test func `formats count as media do`() {
        var preRoll = preRoll(60, bytes: 10_000)
        for second in Int64(0)..<100 {
            let format = VideoFormat(
                codec: .h264, width: 64, height: 48, frameRate: 5,
                configurationRecord: [UInt8](repeating: UInt8(second), count: 2000))
            preRoll.take(.videoFormat(format), at: Self.instant(second * 1000))
            preRoll.take(Self.frame(second * 1000, key: true), at: Self.instant(second * 1000))
            #expect(preRoll.bytes <= 10_000)
        }
        let events = preRoll.takeAll()
        let formats = events.map { event in
            if case .videoFormat(let format) = event { format.configurationRecord.count } else { 0 }
        }
        // One more leads to the first group.
        #expect(formats.reduce(0, +) <= 12_000 && formats.reduce(0, +) >= 8000)
        #expect(preRoll.bytes == 0 && preRoll.units == 0)
    }

    @Test func `formats without a frame between them are not endless`() {
        var preRoll = preRoll(60, units: 100)
        preRoll.take(Self.frame(0, key: true), at: Self.instant(0))
        for number in Int64(1)..<99 { preRoll.take(.audioFormat(Self.audio), at: Self.instant(number)) }
        #expect(preRoll.units == 99)
        for number in Int64(99)..<1000 { preRoll.take(.audioFormat(Self.audio), at: Self.instant(number)) }
        #expect(preRoll.units == 0 && preRoll.bytes == 0 && preRoll.isEmpty)
    }

    @Test func `what is to be recorded does not go for its age, and is counted where it goes`() {
        // Room for six groups of pictures, and the formats between them.
        var preRoll = preRoll(2, bytes: 3400)
        fill(&preRoll, 0..<5, bytes: 100)
        #expect(preRoll.units == 15)
        preRoll.isWanted = true
        for second in Int64(5)..<8 { fill(&preRoll, second..<second + 1, bytes: 100) }
        // The format is one of them each time.
        #expect(preRoll.units == 15 + 3 * 6 && preRoll.lost == 0)
        preRoll.trim(at: Self.instant(1_000_000))
        #expect(preRoll.lost == 0)
        fill(&preRoll, 8..<9, bytes: 100)
        #expect(preRoll.lost == 5)
        preRoll.isWanted = false
        fill(&preRoll, 9..<20, bytes: 100)
        #expect(preRoll.lost == 35, "those after it were not wanted")
        preRoll.isWanted = true
        _ = preRoll.takeAll()
        #expect(preRoll.lost == 35)
    }

    // MARK: What is recorded

    private var selection = FrameSelection(.init(duration: 1_000_000_000))
    /// The gate is open from the first until before the second, in milliseconds.
    private var open: Range<Int64>?

    /// What becomes of a frame.
    private enum Outcome: Equatable {
        case hold
        case write([MediaEvent])
        case pause(before: MediaTime?)
    }

    private var canBegin = true

    private func isOpen(_ instant: UInt64) -> Bool {
        open.map { (Self.instant($0.lowerBound)..<Self.instant($0.upperBound)).contains(instant) } ?? false
    }

    private mutating func outcome(_ step: FrameSelection.Step, of event: MediaEvent?) -> Outcome {
        switch step {
        case .hold: return .hold
        case .begin:
            var events: [MediaEvent] = []
            while let event = selection.next() { events.append(event) }
            return .write(events)
        case .write: return .write(event.map { [$0] } ?? [])
        case .pause(let next): return .pause(before: next)
        }
    }

    private mutating func step(_ event: MediaEvent, _ milliseconds: Int64) -> Outcome {
        var event = event
        let (copy, canBegin) = (self, canBegin)
        let step = selection.take(
            &event, at: Self.instant(milliseconds), canBegin: canBegin, isOpen: { copy.isOpen($0) })
        return outcome(step, of: event)
    }

    private mutating func tick(_ milliseconds: Int64) -> Outcome {
        let (copy, canBegin) = (self, canBegin)
        let step = selection.tick(at: Self.instant(milliseconds), canBegin: canBegin, isOpen: { copy.isOpen($0) })
        return outcome(step, of: nil)
    }

    /// 5 frames a second, a key frame in each second; what is recorded of them.
    private mutating func film(_ seconds: ClosedRange<Int64>) -> [String] {
        var names: [String] = []
        for time in stride(from: seconds.lowerBound * 1000, to: seconds.upperBound * 1000, by: 200) {
            switch step(Self.frame(time, key: time % 1000 == 0), time) {
            case .hold: break
            case .write(let events): names += Self.names(events)
            case .pause(let next): names.append("pause before \(next?.milliseconds ?? -1)")
            }
        }
        return names
    }

    @Test mutating func `without an event nothing is recorded`() {
        #expect(step(.videoFormat(Self.video), 0) == .hold)
        #expect(film(0...60) == [])
        #expect(tick(60_000) == .hold)
    }

    @Test mutating func `an event has its time before it, its time after it, and ends in front of a key frame`() {
        #expect(step(.videoFormat(Self.video), 0) == .hold)
        open = 5500..<7300
        let names = film(0...20)
        #expect(names.prefix(4) == ["V", "4000", "4200", "4400"])
        #expect(names.suffix(2) == ["7800", "pause before 8000"])
        #expect(names.count == 1 + 20 + 1)
    }

    @Test mutating func `an event soon after another one loses nothing between them, and has nothing twice`() {
        _ = step(.videoFormat(Self.video), 0)
        open = 2000..<3100
        #expect(film(0...4).last == "3800")
        open = 4000..<4000
        #expect(step(Self.frame(4000, key: true), 4000) == .pause(before: MediaTime(milliseconds: 4000)))
        #expect(step(Self.frame(4200), 4200) == .hold)
        open = 4400..<6000
        guard case .write(let events) = step(Self.frame(4400), 4400) else {
            Issue.record("it is not recorded")
            return
        }
        #expect(Self.names(events) == ["V", "4000", "4200", "4400"])
    }

    @Test mutating func `an event during the last group of pictures goes on in the same recording`() {
        _ = step(.videoFormat(Self.video), 0)
        open = 2000..<3100
        _ = film(0...3)
        #expect(step(Self.frame(3200), 3200) == .write([Self.captured(3200)]))
        open = 3300..<4100
        #expect(step(Self.frame(3400), 3400) == .write([Self.captured(3400)]))
        #expect(step(Self.frame(4000, key: true), 4000) == .write([Self.captured(4000, key: true)]))
    }

    private static func captured(_ milliseconds: Int64, key: Bool = false) -> MediaEvent {
        guard case .accessUnit(var unit) = frame(milliseconds, key: key) else { return frame(milliseconds) }
        unit.captureInstant = instant(milliseconds)
        return .accessUnit(unit)
    }

    @Test mutating func `what comes late is recorded for when it was captured`() {
        _ = step(.videoFormat(Self.video), 0)
        open = 1000..<2500
        _ = film(0...2)
        // A batch that is looked at at 3.5 s.
        for time in [Int64(2200), 2400] {
            #expect(step(Self.captured(time), 3500) == .write([Self.captured(time)]))
        }
        #expect(step(Self.captured(3000, key: true), 3500) == .pause(before: MediaTime(milliseconds: 3000)))
    }

    @Test mutating func `an event that was over before anybody looked is recorded`() {
        _ = step(.videoFormat(Self.video), 0)
        open = 1000..<2500
        _ = film(0...2)
        #expect(step(Self.captured(3000, key: true), 3000) == .pause(before: MediaTime(milliseconds: 3000)))
        // From before the end, and late.
        #expect(step(Self.captured(2400), 3100) == .hold)
        open = 3000..<5000
        // A disk that did not answer until 9 s.
        guard case .write(let events) = step(Self.captured(3200), 9000) else {
            Issue.record("it is not recorded")
            return
        }
        #expect(Self.names(events) == ["V", "3000", "2400", "3200"])
        #expect(step(Self.captured(4800), 9000) == .write([Self.captured(4800)]))
        #expect(step(Self.captured(5000, key: true), 9000) == .pause(before: MediaTime(milliseconds: 5000)))
    }

    @Test mutating func `a key frame that does not come is not waited for long`() {
        _ = step(.videoFormat(Self.video), 0)
        open = 1000..<2000
        _ = film(0...2)
        #expect(step(Self.frame(2200), 2200) == .write([Self.captured(2200)]))
        #expect(step(Self.frame(12_100), 12_100) == .write([Self.captured(12_100)]))
        #expect(step(Self.frame(12_200), 12_200) == .pause(before: nil))
        #expect(step(Self.frame(12_400), 12_400) == .hold)
    }

    @Test mutating func `a camera that went away is not waited for either, and an event comes without a frame`() {
        _ = step(.videoFormat(Self.video), 0)
        open = 1000..<2000
        _ = film(0...2)
        #expect(tick(2500) == .hold)
        #expect(tick(12_400) == .hold)
        #expect(tick(12_500) == .pause(before: nil))
        #expect(step(Self.frame(13_000, key: true), 13_000) == .hold)
        open = 13_100..<20_000
        #expect(tick(13_100) == .write([.videoFormat(Self.video), Self.captured(13_000, key: true)]))
        #expect(tick(13_200) == .hold)
    }

    @Test mutating func `a new format reaches the recording that is written, and the one after it`() {
        _ = step(.videoFormat(Self.video), 0)
        open = 0..<1500
        _ = film(0...1)
        #expect(step(.videoFormat(Self.larger), 1000) == .write([.videoFormat(Self.larger)]))
        _ = film(1...2)
        #expect(step(Self.frame(2000, key: true), 2000) == .pause(before: MediaTime(milliseconds: 2000)))
        open = 2100..<9000
        guard case .write(let events) = step(Self.frame(2200), 2200) else {
            Issue.record("it is not recorded")
            return
        }
        #expect(Self.names(events) == ["W", "2000", "2200"])
    }

    @Test mutating func `a time that cannot be is not believed`() {
        _ = step(.videoFormat(Self.video), 0)
        open = 1000..<30_000
        guard case .accessUnit(var unit) = Self.frame(5000, key: true) else { return }
        unit.captureInstant = .max
        #expect(
            step(.accessUnit(unit), 5000) == .write([.videoFormat(Self.video), Self.captured(5000, key: true)]))
        unit.isKeyFrame = false
        unit.captureInstant = 0
        #expect(step(.accessUnit(unit), 89_000) != .hold, "a minute old at most")
        #expect(step(.accessUnit(unit), 100_000) != .hold)
        #expect(step(.accessUnit(unit), 111_000) == .pause(before: nil))
    }

    @Test mutating func `what waited behind a slow disk is not cut amid a group of pictures for its age`() {
        _ = step(.videoFormat(Self.video), 0)
        open = 1000..<2000
        _ = film(0...2)
        // All of it is looked at at 40 s.
        for time in stride(from: Int64(2200), to: 4000, by: 200) {
            #expect(step(Self.captured(time), 40_000) == .write([Self.captured(time)]))
        }
        #expect(tick(40_000) == .hold)
        #expect(step(Self.captured(4000, key: true), 40_100) == .pause(before: MediaTime(milliseconds: 4000)))
    }

    @Test mutating func `what cannot be recorded yet waits in memory, and longer than what need not be`() {
        canBegin = false
        _ = step(.videoFormat(Self.video), 0)
        open = 2000..<9500
        #expect(film(0...8) == [])
        #expect(tick(8000) == .hold)
        canBegin = true
        guard case .write(let events) = tick(8100) else {
            Issue.record("it is not recorded")
            return
        }
        #expect(Self.names(events).prefix(2) == ["V", "0"] && Self.names(events).last == "7800")
        #expect(selection.lost == 0)
        #expect(step(Self.captured(8200), 8200) == .write([Self.captured(8200)]))
    }

    @Test mutating func `what was to be recorded and could not be is counted as lost`() {
        canBegin = false
        _ = step(.videoFormat(Self.video), 0)
        open = 2000..<3000
        #expect(film(0...9) == [])
        let lost = selection.lost
        #expect(lost >= 5, "an event that was over before there was a key")
        open = 9000..<99_000
        #expect(tick(9100) == .hold)
        selection.end()
        #expect(selection.lost > lost)
    }
}
