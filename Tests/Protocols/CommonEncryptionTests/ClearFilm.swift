import Foundation
import Media
import MediaFile
import Synchronization
import TestSupport
import Testing

/// What a film is made of.
struct FilmCase: CustomTestStringConvertible, Sendable {
    var name: String
    var encoder = "libx264"
    var options: [String]
    var hasAudio = true

    var testDescription: String { name }

    static let all = [
        FilmCase(name: "H.264, B-frames", options: ["-bf", "3", "-refs", "4"]),
        FilmCase(name: "H.264, CAVLC, four slices", options: ["-x264-params", "cabac=0:slices=4:bframes=0"]),
        FilmCase(name: "H.264, interlaced, no audio", options: ["-flags", "+ilme+ildct"], hasAudio: false),
        FilmCase(name: "H.265", encoder: "libx265", options: ["-x265-params", "log-level=none:keyint=12:bframes=2"]),
        FilmCase(
            name: "H.265, slices", encoder: "libx265",
            options: ["-x265-params", "log-level=none:keyint=12:slices=3:ctu=16"]),
    ]

    /// Those that the ffmpeg of this machine can make.
    static let possible = all.filter { ForeignEncoders.has($0.encoder, "aac") }
}

/// A fragmented MP4 in pieces, as our recorder makes it.
struct ClearFilm {
    /// `ftyp` and `moov`.
    var initSegment: [UInt8]
    /// `moof` and `mdat` each.
    var fragments: [[UInt8]]

    /// Thirty-six pictures in groups of twelve, with a tone.
    init(_ film: FilmCase, _ ffmpeg: ForeignFFmpeg) throws {
        var arguments = ["-f", "lavfi", "-i", "testsrc2=s=320x240:r=25,format=yuv420p"]
        if film.hasAudio { arguments += ["-f", "lavfi", "-i", "sine=f=440:r=48000"] }
        arguments += ["-frames:v", "36", "-t", "1.44", "-c:v", film.encoder, "-preset", "veryfast", "-b:v", "1500k"]
        arguments += ["-g", "12"] + film.options + (film.hasAudio ? ["-c:a", "aac", "-b:a", "96k"] : [])
        _ = try ffmpeg.make("source.mp4", arguments)
        try self.init(recording: ffmpeg.path("source.mp4"))
    }

    /// Through our own reader and writer.
    private init(recording path: String) throws {
        let events = Mutex<[MediaEvent]>([])
        let source = MediaFileSource(
            MediaFileConfiguration(
                path: path, pace: .unthrottled, isLooped: false, durationLimit: nil, transcoding: nil))
        try source.run { event in events.withLock { $0.append(event) } }
        let writer = MediaWriter(.fragmentedMP4, to: .memory)
        var pieces: [[UInt8]] = []
        for event in events.withLock({ $0 }) {
            try writer.write(event)
            pieces.append(writer.take())
        }
        try writer.finish()
        pieces.append(writer.take())
        self.init(Array(pieces.joined()))
    }

    init(_ bytes: [UInt8]) {
        initSegment = []
        fragments = []
        for box in SimpleBox.list(bytes[...]) {
            switch box.kind {
            case "ftyp", "moov": initSegment += box.bytes
            case "moof": fragments.append(Array(box.bytes))
            case "mdat": fragments[fragments.count - 1] += box.bytes
            default: break
            }
        }
    }

    var bytes: [UInt8] { initSegment + fragments.joined() }
}

/// A box, found without the code under test.
struct SimpleBox {
    var kind: String
    /// With its header.
    var bytes: ArraySlice<UInt8>
    var content: ArraySlice<UInt8> { bytes.dropFirst(8) }

    static func list(_ bytes: ArraySlice<UInt8>) -> [SimpleBox] {
        var boxes: [SimpleBox] = []
        var rest = bytes
        while rest.count >= 8 {
            let size = rest.prefix(4).number
            guard size >= 8, size <= rest.count else { break }
            let kind = String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self)
            boxes.append(SimpleBox(kind: kind, bytes: rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return boxes
    }

    /// The first box at the end of a path.
    static func first(_ path: String..., in bytes: ArraySlice<UInt8>) -> SimpleBox? {
        var inside = bytes
        var found: SimpleBox?
        for kind in path {
            found = list(inside).first { $0.kind == kind }
            guard let box = found else { return nil }
            inside = box.content
        }
        return found
    }
}

extension ArraySlice<UInt8> {
    /// Big-endian.
    var number: Int { reduce(0) { $0 << 8 | Int($1) } }

    /// Takes so many bytes from the front.
    mutating func take(_ count: Int) -> ArraySlice<UInt8> {
        defer { self = dropFirst(count) }
        return prefix(count)
    }
}
