internal import CAVCodec
public import Media
internal import VideoCodec

/// Writes formats and access units into an MP4 file or an MPEG transport stream. Used by one thread at a time.
///
/// Access units go into MP4 byte for byte. Times are moved so that the first unit is at zero; where they would not
/// grow within a track, which no container allows, they are made to, and counted. When the reader of a pipe goes away,
/// the writer ends without an error (`isReaderGone`).
public final class MediaWriter {
    public enum Container: Equatable, Sendable {
        /// Complete when `finish()` was called; needs a file.
        case mp4
        /// Playable as far as it goes, at any moment; also into a pipe.
        case fragmentedMP4
        case mpegTS
    }

    public enum Destination: Equatable, Sendable {
        /// Created, or replaced, when the first unit is written.
        case file(path: String)
        /// Stays open, and its owner's.
        case descriptor(Int32)
        /// To be taken from there (`take()`); not for `mp4`.
        case memory
    }

    public struct Tracks: OptionSet, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        public static let video = Tracks(rawValue: 1)
        public static let audio = Tracks(rawValue: 2)
    }

    /// What was written.
    public struct Summary: Equatable, Sendable {
        public var videoUnits = 0
        public var audioUnits = 0
        /// Of the container.
        public var bytes = 0
        /// Units of a track whose format was not known when the first unit came.
        public var ignoredUnits = 0
        /// Units whose time was changed because it did not follow the one before.
        public var adjustedUnits = 0

        public init() {}
    }

    public private(set) var summary = Summary()

    /// The pipe's reader has gone, or was given up; further units are passed over.
    public private(set) var isReaderGone = false

    /// What is written is in the destination already, as a writer put it there that was given the same: it is passed over, byte for byte, and only
    /// what is known at the end is remembered. Of `mp4` alone, from the first unit on; what is in front of the media is written anyway.
    ///
    /// The content of units does not matter then, only its size.
    public var isRepeating = false {
        didSet { muxer?.isRepeating = isRepeating }
    }

    /// Bytes in front of the media, of `mp4`; 0 before the first unit.
    public var headerSize: Int { muxer?.headerSize ?? 0 }

    /// For another thread, when this one may be waiting for a pipe's reader.
    public let abandonment = WriteAbandonment()

    private let container: Container
    private let destination: Destination
    private let expected: Tracks
    private let isOrdered: Bool
    private var videoFormat: VideoFormat?
    private var audioFormat: AudioFormat?
    private var held: [AccessUnit] = []
    private var muxer: Muxer?
    private var rest: [UInt8] = []
    private var isFinished = false

    /// How long the first units wait for the format of an expected track.
    private static let maxHoldTime = MediaTime(nanoseconds: 2_000_000_000)
    private static let maxHeldUnits = 512

    /// - Parameters:
    ///   - tracks: what is going to come. The first units wait up to two seconds of their own time for the
    ///   formats of these; without it, the tracks are those whose formats came before the first unit.
    ///   - isOrdered: of `fragmentedMP4` whose fragments are ended by `endFragment()`: units come in the order of their decode
    ///   times, nearly, over all tracks. Behind the first fragment none waits for the other track, or is copied to wait.
    public init(
        _ container: Container, to destination: Destination, tracks: Tracks = [], isOrdered: Bool = false
    ) {
        self.container = container
        self.destination = destination
        expected = tracks
        self.isOrdered = isOrdered && container == .fragmentedMP4
    }

    /// Takes the next event, in decoding order of its track.
    public func write(_ event: MediaEvent) throws(MediaWriterError) {
        precondition(!isFinished, "written to after finish()")
        guard !isReaderGone else { return }
        switch event {
        case .videoFormat(let format):
            try muxer?.change(to: format)
            videoFormat = format
        case .audioFormat(let format):
            try muxer?.change(to: format)
            audioFormat = format
        case .accessUnit(let unit):
            if muxer == nil {
                held.append(unit)
                guard isReadyToBegin(unit) else { return }
                try begin()
            } else {
                try mux(unit)
            }
        }
    }

    /// Completes the file. To be called once; without any unit nothing is created.
    @discardableResult
    public func finish() throws(MediaWriterError) -> Summary {
        precondition(!isFinished, "finished twice")
        isFinished = true
        if muxer == nil, !held.isEmpty, !isReaderGone { try begin() }
        if let muxer {
            if !isReaderGone { try tolerateReaderGone { () throws(MediaWriterError) in try muxer.finish() } }
            summary.bytes = muxer.bytesWritten
            rest = muxer.take()
        }
        muxer = nil
        return summary
    }

    /// What was written to memory since the last call; also after `finish()`. Of `fragmentedMP4` it ends with a fragment, so it is
    /// empty until one has ended.
    public func take() -> [UInt8] {
        if let muxer { return muxer.take() }
        defer { rest = [] }
        return rest
    }

    /// What `take()` would give, in memory that stays the writer's: what comes next finds it there. May be empty; is gone afterwards,
    /// also when `body` fails.
    public func drain<Failure: Error>(_ body: (ArraySlice<UInt8>) throws(Failure) -> Void) throws(Failure) {
        if let muxer { return try muxer.drain(body) }
        defer { rest = [] }
        try body(rest[...])
    }

    /// Ends a fragment of `fragmentedMP4` where the next key frame would be too late.
    public func endFragment() throws(MediaWriterError) {
        precondition(!isFinished, "written to after finish()")
        guard let muxer, container == .fragmentedMP4, !isReaderGone else { return }
        try tolerateReaderGone { () throws(MediaWriterError) in try muxer.endFragment() }
        summary.bytes = muxer.bytesWritten
    }

    /// Writes the media that it has, of `mp4`: all that came is in the destination then, and nothing that comes later changes it.
    ///
    /// - Returns: bytes so far; nil: the first units still wait for a format, or it is another container.
    public func settle() throws(MediaWriterError) -> Int? {
        precondition(!isFinished, "written to after finish()")
        guard let muxer, container == .mp4 else { return nil }
        try muxer.settle()
        summary.bytes = muxer.bytesWritten
        return muxer.bytesWritten
    }

    private func isReadyToBegin(_ unit: AccessUnit) -> Bool {
        let known: Tracks = [videoFormat == nil ? [] : .video, audioFormat == nil ? [] : .audio]
        if !known.isEmpty, known.isSuperset(of: expected) { return true }
        guard let first = held.first else { return false }
        return unit.decodeTime - first.decodeTime > Self.maxHoldTime || held.count >= Self.maxHeldUnits
    }

    private func begin() throws(MediaWriterError) {
        let units = held
        held = []
        guard videoFormat != nil || audioFormat != nil else {
            summary.ignoredUnits += units.count
            return
        }
        let file =
            switch destination {
            case .file(let path): try OutputFile.create(path, abandonment)
            case .descriptor(let descriptor): OutputFile.borrowing(descriptor, abandonment)
            case .memory: OutputFile.memory(abandonment)
            }
        let muxer = try Muxer(container, file, video: videoFormat, audio: audioFormat, isOrdered: isOrdered)
        self.muxer = muxer
        try tolerateReaderGone { () throws(MediaWriterError) in try muxer.begin() }
        muxer.isRepeating = isRepeating
        for unit in units { try mux(unit) }
    }

    private func mux(_ unit: AccessUnit) throws(MediaWriterError) {
        guard let muxer, !isReaderGone else { return }
        try tolerateReaderGone { () throws(MediaWriterError) in
            switch try muxer.write(unit) {
            case .ignored:
                summary.ignoredUnits += 1
                return
            case .adjusted: summary.adjustedUnits += 1
            case .exact: break
            }
            if unit.track.isVideo { summary.videoUnits += 1 } else { summary.audioUnits += 1 }
        }
        summary.bytes = muxer.bytesWritten
    }

    private func tolerateReaderGone(_ body: () throws(MediaWriterError) -> Void) throws(MediaWriterError) {
        do throws(MediaWriterError) {
            try body()
        } catch {
            guard let muxer, muxer.isReaderGone else { throw error }
            isReaderGone = true
        }
        if let muxer, muxer.isReaderGone { isReaderGone = true }
    }
}
