internal import Media
internal import NanoTDF

/// Which units of a stream carry a note, and what it says of the collection before: each key frame, and something at
/// least once a second; audio only while there are no frames.
struct NoteSchedule: Equatable, Sendable {
    /// With a frame every 100 ms this is still once a second.
    private static let period: UInt64 = 900_000_000
    /// Without a frame for so long, audio carries the notes.
    private static let timeout: UInt64 = 2_000_000_000

    private var lastNote: UInt64?
    private var lastFrame: UInt64
    /// The collection before: in the first note, and in that of each key frame, so that no single frame that is kept
    /// back hides its end.
    private var predecessor: StreamNote.Predecessor?
    private var isNamed = false

    init(at now: UInt64 = 0) {
        lastFrame = now
    }

    /// A stream begins on a new connection.
    mutating func began(at now: UInt64) {
        lastNote = nil
        lastFrame = now
    }

    /// A collection that was in use is over.
    mutating func left(_ collection: CollectionSealer) {
        predecessor = StreamNote.Predecessor(
            headerHash: collection.headerHash, lastCounter: collection.itemCount)
        isNamed = false
    }

    /// The unit's bytes with a note in them; nil for a unit that goes out as it is.
    /// - Parameters:
    ///   - room: bytes that the unit may have at most.
    ///   - time: asked only for a unit that carries a note.
    func noted(
        _ unit: AccessUnit, audioFormat: AudioFormat?, room: Int, at now: UInt64, time: () -> StreamNote.Time
    ) -> [UInt8]? {
        guard isDue(unit, audioFormat, at: now), unit.data.count <= room - StreamNote.maxBytes else { return nil }
        let note = StreamNote(time: time(), predecessor: unit.isKeyFrame || !isNamed ? predecessor : nil)
        switch unit.track {
        case .video(let codec): return note.inserted(intoVideo: unit.data, codec: codec)
        case .audio: return note.inserted(intoAudio: unit.data)
        }
    }

    /// A unit was sealed.
    mutating func sealed(_ unit: AccessUnit, withNote: Bool, at now: UInt64) {
        if unit.track.isVideo { lastFrame = now }
        guard withNote else { return }
        lastNote = now
        isNamed = true
    }

    private func isDue(_ unit: AccessUnit, _ audioFormat: AudioFormat?, at now: UInt64) -> Bool {
        let isTime = lastNote.map { now >= $0 && now - $0 >= Self.period } ?? true
        switch unit.track {
        case .video(let codec):
            // A note that the source has in that place is not taken for ours: ours goes behind it.
            return unit.isKeyFrame || isTime || StreamNote.isPresent(inVideo: unit.data, codec: codec)
        case .audio:
            guard let audioFormat, StreamNote.fits(audioFormat) else { return false }
            let isWithoutFrames = now >= lastFrame && now - lastFrame >= Self.timeout
            return isTime && isWithoutFrames || StreamNote.isPresent(inAudio: unit.data)
        }
    }
}
