import Archive
import TestSupport
import Testing

@testable import Recording

struct RetentionTests {
    private static func recording(
        _ sequence: UInt64, size: Int64 = 100, begin: Int64 = 1_000_000, isPinned: Bool = false
    ) -> RecordingDirectory.Recording {
        .init(
            name: RecordingName(sequence: sequence, begin: begin, duration: 1000, isPinned: isPinned), size: size)
    }

    private static let retention = Retention(maxBytes: 500, maxAge: 10_000, minFree: 50)

    private static func gone(
        _ recordings: [RecordingDirectory.Recording], growing: Int64 = 0, free: Int64? = nil, now: Int64? = nil
    ) -> [UInt64] {
        retention.surplus(of: recordings, growing: growing, free: free, now: now).map(\.recording.name.sequence)
    }

    @Test func `nothing goes that fits`() {
        #expect(Self.gone((1...5).map { Self.recording($0) }, free: 50, now: 1_011_000) == [])
    }

    @Test func `the oldest go for the newest, and for what grows`() {
        #expect(Self.gone((1...5).map { Self.recording($0) }, growing: 1) == [1])
        #expect(Self.gone((1...9).map { Self.recording($0) }, growing: 100) == [1, 2, 3, 4, 5])
    }

    @Test func `a pinned one stays, and the next one goes in its place`() {
        let recordings = (1...6).map { Self.recording($0, isPinned: $0 < 3) }
        #expect(Self.gone(recordings) == [3])
        #expect(Self.gone(recordings, free: -10_000, now: .max / 2) == [3, 4, 5, 6])
        #expect(!Self.retention.fits((1...6).map { Self.recording($0) }, growing: 0))
        #expect(Self.retention.fits((1...5).map { Self.recording($0) }, growing: 0))
    }

    @Test func `age counts from the end, and only while the clock is right`() {
        let recordings = [Self.recording(1), Self.recording(2, begin: 1_005_000), Self.recording(3, begin: 0)]
        #expect(Self.gone(recordings, now: 1_011_000) == [])
        #expect(Self.gone(recordings, now: 1_011_001) == [1])
        #expect(Self.gone(recordings, now: 1_016_000) == [1], "none is older than what was made before it")
        #expect(Self.gone(recordings, now: 1_016_001) == [1, 2, 3])
        let wrong = [Self.recording(1), Self.recording(2, begin: 9_000_000, isPinned: true), Self.recording(3)]
        #expect(Self.gone(wrong, now: 1_011_001) == [1, 3], "a name of a time to come keeps nothing")
        #expect(Self.gone(recordings, now: nil) == [])
        #expect(Self.gone(recordings, now: 0) == [], "a clock that was set back makes nothing old")
        #expect(Self.gone([Self.recording(1, size: .max), Self.recording(2, size: .max)], growing: 1) == [1])
    }

    @Test func `as many go as it takes to leave room`() {
        let recordings = (1...4).map { Self.recording($0) }
        #expect(Self.gone(recordings, free: 49) == [1])
        #expect(Self.gone(recordings, free: -60) == [1, 2])
        #expect(Self.gone(recordings, free: nil) == [])
        let reasons = Self.retention.surplus(of: recordings, growing: 200, free: -60, now: nil).map(\.reason)
        #expect(reasons == [.size, .room])
    }

    @Test func `whatever there is, what stays fits or is pinned, and no younger one goes before an older`() {
        var random = SeededGenerator(seed: 16)
        for _ in 0..<2000 {
            let recordings = (1...UInt64.random(in: 1...20, using: &random)).map {
                Self.recording(
                    $0, size: Int64.random(in: 0...200, using: &random),
                    isPinned: Int.random(in: 0..<5, using: &random) == 0)
            }
            let growing = Int64.random(in: 0...300, using: &random)
            let gone = Set(Self.gone(recordings, growing: growing))
            let staying = recordings.filter { !gone.contains($0.name.sequence) }
            #expect(recordings.allSatisfy { !$0.name.isPinned || !gone.contains($0.name.sequence) })
            let unpinned = staying.filter { !$0.name.isPinned }
            #expect(Self.retention.fits(staying, growing: growing) || unpinned.isEmpty)
            if let oldest = unpinned.first { #expect(gone.allSatisfy { $0 < oldest.name.sequence }) }
        }
    }
}
