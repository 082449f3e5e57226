import Media
import RTP
import Testing

/// Streams that refresh their pictures bit by bit, and have recovery points instead of key frames.
struct IntraRefreshTests {
    private static let sets = [Units.sequence, Units.picture]
    /// recovery_frame_cnt 24, exact_match_flag.
    private static let recoveryPoint: [UInt8] = [6, 6, 2, 0x0C, 0xC0, 0x80]

    /// Pictures at 25 a second; a recovery point each `distance`, key frames where they are said to be.
    private func run(
        _ track: inout RTPTrack, _ sender: inout Sender, from begin: Int = 0, seconds: Int, distance: Int = 25,
        keys: Set<Int> = []
    ) -> [EncodedUnit] {
        var units: [EncodedUnit] = []
        for picture in 0..<(seconds * 25) {
            let now = UInt64(picture + begin * 25) * 40 * millisecond
            if picture % distance == 0 { units += track.received(sender.packet(Self.recoveryPoint), at: now) }
            let slice = keys.contains(picture) ? Units.key() : Units.delta(UInt8(picture % 200 + 1))
            units += track.received(sender.packet(slice, marker: true), at: now)
            sender.timestamp &+= 3600
        }
        return units
    }

    @Test func `a stream without key frames begins at a recovery point after three seconds, and says so`() throws {
        var sender = Sender()
        var track = RTPTrack.h264(Self.sets)
        let units = run(&track, &sender, seconds: 7)
        // Of seven seconds the first three are gone: a key frame may have come.
        #expect(units.count == 100)
        #expect(track.statistics.skipped == 75)
        #expect(track.statistics.damaged == 0)
        let first = try #require(units.first)
        #expect(first.isKeyFrame && first.isRecoveryPoint)
        #expect(first.format?.width == 96)
        #expect(first.data == Units.accessUnit(Self.recoveryPoint, Units.delta(76)))
        #expect(units.enumerated().filter { $1.isKeyFrame }.map(\.offset) == [0, 25, 50, 75])
        #expect(units.allSatisfy { $0.isRecoveryPoint == $0.isKeyFrame })
    }

    @Test func `after a loss it goes on at the next recovery point`() {
        var sender = Sender()
        var track = RTPTrack.h264(Self.sets)
        _ = run(&track, &sender, seconds: 4)
        sender.sequence &+= 1
        let units = run(&track, &sender, from: 4, seconds: 2)
        #expect(units.count == 50)
        #expect(units.first?.isRecoveryPoint == true)
        sender.sequence &+= 1
        #expect(track.received(sender.packet(Units.delta(), marker: true)).isEmpty)
    }

    @Test func `key frames are better: recovery points between them begin nothing`() {
        var sender = Sender()
        var track = RTPTrack.h264(Self.sets)
        let units = run(&track, &sender, seconds: 20, keys: [0, 200, 400])
        #expect(units.count == 500)
        #expect(units.enumerated().filter { $1.isKeyFrame }.map(\.offset) == [0, 200, 400])
        #expect(units.allSatisfy { !$0.isRecoveryPoint })
    }

    @Test func `a stream that begins with its only key frame lives by recovery points after ten seconds`() {
        var sender = Sender()
        var track = RTPTrack.h264(Self.sets)
        let units = run(&track, &sender, seconds: 13, keys: [0])
        #expect(units.count == 325)
        #expect(units.enumerated().filter { $1.isKeyFrame }.map(\.offset) == [0, 250, 275, 300])
        #expect(units.filter(\.isRecoveryPoint).count == 3)
    }

    @Test func `one recovery point shows nothing`() {
        var sender = Sender()
        var track = RTPTrack.h264(Self.sets)
        #expect(run(&track, &sender, seconds: 10, distance: 250).isEmpty)
        #expect(track.needsKeyFrame)
    }

    @Test func `an encoder with a recovery point on every picture begins with its key frame`() {
        var sender = Sender()
        var track = RTPTrack.h264(Self.sets)
        let units = run(&track, &sender, seconds: 5, distance: 1, keys: [50, 100])
        #expect(units.count == 75)
        #expect(units.first?.isRecoveryPoint == false)
        #expect(units.allSatisfy { !$0.isRecoveryPoint })
    }

    @Test func `key frames far apart are waited for, whatever recovery points stand between them`() {
        var sender = Sender()
        var track = RTPTrack.h264(Self.sets)
        // The first distance of 30 s is not known yet; the second one is.
        let units = run(&track, &sender, seconds: 60, keys: [0, 750])
        #expect(units.count == 1500)
        #expect(units.enumerated().allSatisfy { !$1.isRecoveryPoint || $0 < 750 })
    }
}
