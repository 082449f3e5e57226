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
        _ track: inout RTPTrack, _ sender: inout Sender, seconds: Int, distance: Int = 25, keys: Set<Int> = []
    ) -> [CodedUnit] {
        var units: [CodedUnit] = []
        for picture in 0..<(seconds * 25) {
            let now = UInt64(picture) * 40 * millisecond
            if picture % distance == 0 { units += track.received(sender.packet(Self.recoveryPoint), at: now) }
            let slice = keys.contains(picture) ? Units.key() : Units.delta(UInt8(picture % 200 + 1))
            units += track.received(sender.packet(slice, marker: true), at: now)
            sender.timestamp &+= 3600
        }
        return units
    }

    @Test func `a stream without key frames begins at its second recovery point, and says so`() throws {
        var sender = Sender()
        var track = RTPTrack.h264(Self.sets)
        let units = run(&track, &sender, seconds: 5)
        // Of five seconds the first one is gone.
        #expect(units.count == 100)
        #expect(track.statistics.skipped == 25)
        #expect(track.statistics.damaged == 0)
        let first = try #require(units.first)
        #expect(first.isKeyFrame && first.isRecoveryPoint)
        #expect(first.format?.width == 96)
        #expect(first.data == Units.accessUnit(Self.recoveryPoint, Units.delta(26)))
        #expect(units.enumerated().filter { $1.isKeyFrame }.map(\.offset) == [0, 25, 50, 75])
        #expect(units.allSatisfy { $0.isRecoveryPoint == $0.isKeyFrame })
    }

    @Test func `after a loss it goes on at the next recovery point`() {
        var sender = Sender()
        var track = RTPTrack.h264(Self.sets)
        _ = run(&track, &sender, seconds: 3)
        sender.sequence &+= 1
        let units = run(&track, &sender, seconds: 2)
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
}
