import RTP
import Testing

/// Packets of an old session, sources that are named wrongly, and that change.
struct SourceTests {
    private static let sets = [Units.sequence, Units.picture]

    private func key(_ sender: inout Sender, _ value: UInt8) -> [UInt8] {
        sender.timestamp &+= 3600
        return sender.packet(Units.key(value), marker: true)
    }

    @Test func `the source that the Transport header names takes over from an old session's`() {
        // scottlamb/retina#17: packets of the old one come first, and in between.
        var old = Sender(source: 7)
        var new = Sender(source: 8)
        var track = RTPTrack.h264(Self.sets, source: 8)
        #expect(track.received(key(&old, 1), at: 0).map(\.beginsSource) == [false])
        #expect(track.received(key(&new, 2), at: millisecond).map(\.beginsSource) == [true])
        #expect(track.received(key(&old, 1), at: 2 * millisecond).isEmpty)
        let units = track.received(key(&new, 3), at: 3 * second)
        #expect(units.map(\.data) == [Units.accessUnit(Units.key(3))])
        #expect(units.first?.beginsSource == false)
        #expect(track.statistics.discarded == 1)
    }

    @Test func `where the Transport header is wrong the key frame of PLAY is not lost`() {
        var sender = Sender(source: 8)
        var track = RTPTrack.h264(Self.sets, source: 9)
        #expect(track.received(key(&sender, 1), at: 0).map(\.isKeyFrame) == [true])
        #expect(track.received(sender.packet(Units.delta(), marker: true), at: 40 * millisecond).count == 1)
        #expect(track.statistics.discarded == 0)
        // It comes after all.
        var named = Sender(source: 9, sequence: 1)
        let units = track.received(key(&named, 2), at: 600 * millisecond)
        #expect(units.map(\.beginsSource) == [true])
    }

    @Test func `a hint of zero is ignored`() {
        var sender = Sender(source: 8)
        var track = RTPTrack.h264(Self.sets, source: 0)
        #expect(track.received(key(&sender, 1), at: 0).count == 1)
    }

    @Test func `another source is followed when the first has been silent`() {
        var first = Sender(source: 1)
        var second = Sender(source: 2, sequence: 40000, timestamp: 5)
        var track = RTPTrack.h264(Self.sets)
        #expect(track.received(key(&first, 1), at: 0).map(\.beginsSource) == [false])
        #expect(track.received(key(&second, 2), at: 100 * millisecond).isEmpty)
        #expect(track.received(key(&first, 1), at: 400 * millisecond).count == 1)
        #expect(track.received(key(&second, 2), at: 899 * millisecond).isEmpty)
        let units = track.received(key(&second, 2), at: 900 * millisecond)
        #expect(units.map(\.beginsSource) == [true])
        #expect(units.first?.format == nil)
        #expect(track.received(key(&first, 1), at: 901 * millisecond).isEmpty)
        #expect(track.statistics.lost == 0)
    }

    @Test func `a source that was named may pause longer`() {
        var named = Sender(source: 8)
        var other = Sender(source: 7)
        var track = RTPTrack.h264(Self.sets, source: 8)
        #expect(track.received(key(&named, 1), at: 0).count == 1)
        #expect(track.received(key(&other, 2), at: 2 * second).isEmpty)
        #expect(track.received(key(&named, 3), at: 2 * second).map(\.beginsSource) == [false])
        #expect(track.received(key(&other, 4), at: 5 * second).map(\.beginsSource) == [true])
    }

    @Test func `a new source must begin with a key frame`() {
        var first = Sender(source: 1)
        var track = RTPTrack.h264(Self.sets)
        #expect(track.received(key(&first, 1), at: 0).count == 1)
        var other = Sender(source: 2)
        #expect(track.received(other.packet(Units.delta(), marker: true), at: second).isEmpty)
        #expect(track.needsKeyFrame)
        let units = track.received(key(&other, 1), at: second)
        #expect(units.map(\.beginsSource) == [true])
    }

    @Test func `after a goodbye the next source is followed at once`() {
        var first = Sender(source: 0x0102_0304)
        var track = RTPTrack.h264(Self.sets)
        _ = track.received(key(&first, 1), at: 0)
        track.receivedControl(Units.hex("81cb000199999999")[...], at: 1)
        #expect(!track.hasLeft)
        track.receivedControl(Units.hex("81cb000101020304")[...], at: 1)
        #expect(track.hasLeft)
        // What was still under way.
        #expect(track.received(key(&first, 1), at: 2).count == 1)
        #expect(track.hasLeft)
        var other = Sender(source: 2)
        #expect(track.received(key(&other, 1), at: 3).map(\.beginsSource) == [true])
        #expect(!track.hasLeft)
    }

    @Test func `a source that goes on after its goodbye has not left`() {
        var sender = Sender(source: 0x0102_0304)
        var track = RTPTrack.h264(Self.sets)
        _ = track.received(key(&sender, 1), at: 0)
        track.receivedControl(Units.hex("81cb000101020304")[...], at: 0)
        _ = track.received(key(&sender, 1), at: second)
        #expect(!track.hasLeft)
    }
}
