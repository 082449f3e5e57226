import Foundation
import TestSupport
import Testing

@testable import Media

/// What an encoder is told, so that its slice headers have certain fields.
struct SliceCase: CustomTestStringConvertible, Sendable {
    var name: String
    var codec: VideoCodec = .h264
    var options: String
    var source = "testsrc2=s=192x160:r=25"
    var filter: String?
    var frames = 30

    var testDescription: String { "\(codec) \(name)" }

    var encoder: String { codec == .h264 ? "libx264" : "libx265" }
    /// `-x264-params` or `-x265-params`.
    var parameters: String { codec == .h264 ? options : "log-level=none:\(options)" }

    /// An Annex B stream.
    func stream(_ ffmpeg: ForeignFFmpeg) throws -> [UInt8] {
        let graph = filter.map { "\(source),\($0)" } ?? source
        let name = codec == .h264 ? "-x264-params" : "-x265-params"
        return try ffmpeg.make(
            codec == .h264 ? "stream.h264" : "stream.hevc",
            [
                "-f", "lavfi", "-i", graph, "-frames:v", "\(frames)", "-c:v", encoder, name, parameters, "-g", "12",
                "-threads", "2",
            ])
    }
}

/// Motion that fades, so that encoders find weights.
private let fade = "fade=in:0:20,format=yuv420p"

let sliceCases: [SliceCase] = [
    SliceCase(name: "CABAC, B-frames", options: "bframes=3:b-pyramid=normal:ref=4:cabac=1", filter: "format=yuv420p"),
    SliceCase(name: "CAVLC, baseline", options: "cabac=0:bframes=0:ref=3:8x8dct=0", filter: "format=yuv420p"),
    SliceCase(name: "weighted prediction", options: "weightp=2:weightb=1:bframes=2:ref=5", filter: fade),
    SliceCase(name: "CAVLC and weights", options: "cabac=0:weightp=2:bframes=2:ref=8", filter: fade),
    SliceCase(name: "several slices", options: "slices=4:bframes=2", filter: "format=yuv420p"),
    SliceCase(name: "many slices", options: "slice-max-mbs=11:bframes=0", filter: "format=yuv420p"),
    SliceCase(name: "interlaced", options: "tff=1:bframes=2:ref=4:weightp=1", filter: "format=yuv420p"),
    SliceCase(name: "fields marked, progressive", options: "fake-interlaced=1:bframes=2", filter: "format=yuv420p"),
    SliceCase(name: "without deblocking", options: "no-deblock=1:bframes=1", filter: "format=yuv420p"),
    SliceCase(name: "open GOP, many references", options: "open-gop=1:bframes=5:b-pyramid=strict:ref=16"),
    SliceCase(name: "4:2:2", options: "bframes=2:weightp=2", filter: "fade=in:0:20,format=yuv422p"),
    SliceCase(name: "4:4:4", options: "bframes=2:weightp=2", filter: "fade=in:0:20,format=yuv444p"),
    SliceCase(name: "gray", options: "bframes=2:weightp=2", filter: "fade=in:0:20,format=gray"),
    SliceCase(name: "intra refresh", options: "intra-refresh=1:bframes=0", filter: "format=yuv420p"),
    SliceCase(
        name: "B-frames", codec: .hevc, options: "bframes=4:b-pyramid=1:ref=4", filter: "format=yuv420p"),
    SliceCase(
        name: "weights", codec: .hevc, options: "weightp=1:weightb=1:bframes=2:ref=4", filter: fade),
    SliceCase(
        name: "several slices", codec: .hevc, options: "slices=3:bframes=2:ctu=16", filter: "format=yuv420p"),
    SliceCase(name: "wavefronts", codec: .hevc, options: "wpp=1:ctu=16:bframes=1", filter: "format=yuv420p"),
    SliceCase(name: "without wavefronts", codec: .hevc, options: "wpp=0:bframes=1", filter: "format=yuv420p"),
    SliceCase(
        name: "no SAO, no deblocking", codec: .hevc, options: "no-sao=1:no-deblock=1:bframes=1", filter: fade),
    SliceCase(
        name: "4:4:4, chroma offsets", codec: .hevc, options: "cbqpoffs=3:crqpoffs=-2:bframes=2:weightp=1",
        filter: "fade=in:0:20,format=yuv444p"),
    SliceCase(
        name: "open GOP, no temporal prediction", codec: .hevc, options: "open-gop=1:no-temporal-mvp=1:ref=5:bframes=3",
        filter: "format=yuv420p"),
    SliceCase(
        name: "temporal layers", codec: .hevc, options: "temporal-layers=1:bframes=3", filter: "format=yuv420p"),
    SliceCase(
        name: "CRA, RASL", codec: .hevc, options: "open-gop=1:keyint=8:min-keyint=8:bframes=3",
        filter: "format=yuv420p"),
]

@Suite(.ownThread) struct SliceHeaderTests {
    @Test(.enabled(if: ForeignEncoders.has("libx265"), "ffmpeg has no libx265: no header of H.265 is compared"))
    func `the streams are of both codecs`() {
        #expect(sliceCases.contains { $0.codec == .hevc && ForeignEncoders.has($0.encoder) })
    }

    /// libavcodec's own parser of the same headers, which it prints bit by bit.
    @Test(
        .enabled(if: ForeignEncoders.has("libx264"), "ffmpeg has no libx264"),
        arguments: sliceCases.filter { ForeignEncoders.has($0.encoder) })
    func `a header ends where libavcodec sees its end`(stream: SliceCase) throws {
        let ffmpeg = try ForeignFFmpeg()
        let bytes = try stream.stream(ffmpeg)
        let expected = try Self.foreignEnds(ffmpeg, stream)
        var headers = SliceHeaders(codec: stream.codec)
        var ends: [Int] = []
        for unit in AnnexB.units(in: bytes[...]) {
            try headers.insert(unit)
            guard stream.codec.kind(ofNALUnit: unit).isPicture else { continue }
            let end = try headers.end(of: unit)
            ends.append(end)
            let length = try headers.length(ofHeaderIn: unit)
            // All of the header, and no byte that begins behind it.
            #expect(BitReader.rbsp(of: unit.prefix(length)).count == (end + 7) / 8)
            #expect(BitReader.rbsp(of: unit.prefix(length - 1)).count == (end + 7) / 8 - 1)
        }
        #expect(ends.count >= stream.frames)
        #expect(ends == expected)
    }

    /// The bit behind the last one that is printed for each slice.
    private static func foreignEnds(_ ffmpeg: ForeignFFmpeg, _ stream: SliceCase) throws -> [Int] {
        let file = stream.codec == .h264 ? "stream.h264" : "stream.hevc"
        let text = try ffmpeg.run([
            "-v", "trace", "-i", file, "-map", "0:v", "-c", "copy", "-bsf:v", "trace_headers", "-f", "null", "-",
        ]).errors
        var ends: [Int] = []
        var isInSlice = false
        for line in text.split(separator: "\n") {
            guard let bracket = line.range(of: "[trace_headers @ ")?.lowerBound,
                let close = line[bracket...].firstIndex(of: "]")
            else { continue }
            let words = line[line.index(after: close)...].split(separator: " ")
            // "34  slice_qp_delta  0001010 = 5", or a title.
            guard words.count >= 5, let position = words.first.flatMap({ Int($0) }), words[words.count - 2] == "="
            else {
                isInSlice = words == ["Slice", "Header"] || words == ["Slice", "Segment", "Header"]
                if isInSlice { ends.append(0) }
                continue
            }
            if isInSlice { ends[ends.count - 1] = position + words[words.count - 3].count }
        }
        return ends
    }

    @Test(.enabled(if: ForeignEncoders.has("libx264"), "ffmpeg has no libx264"), arguments: [0, 1, 2, 3])
    func `damaged headers and sets are refused or end within the unit`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var refused = 0
        for stream in [sliceCases[2], sliceCases[6], sliceCases[15], sliceCases[17]] {
            guard ForeignEncoders.has(stream.encoder) else { continue }
            let units = AnnexB.units(in: try stream.stream(try ForeignFFmpeg())[...]).map { Array($0) }
            var pristine = SliceHeaders(codec: stream.codec)
            for unit in units { try pristine.insert(unit[...]) }
            for _ in 0..<4000 {
                var headers = pristine
                var unit = units[Int.random(in: 0..<units.count, using: &generator)]
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    // Behind the byte that says what it is.
                    let index = Int.random(in: 1..<min(unit.count, 40), using: &generator)
                    unit[index] = UInt8.random(in: 0...255, using: &generator)
                }
                if Bool.random(using: &generator) {
                    unit = Array(unit.prefix(Int.random(in: 1...unit.count, using: &generator)))
                }
                do throws(MediaError) {
                    try headers.insert(unit[...])
                    let slices = units.filter { stream.codec.kind(ofNALUnit: $0[...]).isPicture }
                    let slice =
                        stream.codec.kind(ofNALUnit: unit[...]).isPicture
                        ? unit : slices[Int.random(in: 0..<slices.count, using: &generator)]
                    let length = try headers.length(ofHeaderIn: slice[...])
                    #expect(length > 0 && length <= slice.count)
                } catch {
                    refused += 1
                }
            }
        }
        #expect(refused > 100)
    }

    @Test func `what is no slice, and a slice without its sets, are refused`() throws {
        var headers = SliceHeaders(codec: .h264)
        #expect(throws: MediaError.missing(.pictureParameterSet)) {
            try headers.length(ofHeaderIn: [0x65, 0x88, 0x84])
        }
        // Data partition A, and a slice of an auxiliary picture.
        for type: UInt8 in [2, 19] {
            #expect(throws: MediaError.invalid(.nalUnitType, value: UInt64(type), offset: 8)) {
                try headers.length(ofHeaderIn: [0x60 | type, 0x88, 0x84])
            }
        }
        #expect(throws: MediaError.truncatedBits(offset: 0, needed: 1, available: 0)) {
            try headers.length(ofHeaderIn: [])
        }
        // The picture's set alone is not enough.
        try headers.insert([0x68, 0xEB, 0xE3, 0xCB, 0x22, 0xC0])
        #expect(throws: MediaError.missing(.pictureParameterSet)) {
            try headers.length(ofHeaderIn: [0x65, 0x88, 0x84])
        }
        let hevc = SliceHeaders(codec: .hevc)
        #expect(throws: MediaError.invalid(.nuhLayerID, value: 1, offset: 13)) {
            try hevc.length(ofHeaderIn: [0x02, 0x09, 0x80])
        }
        #expect(throws: MediaError.invalid(.nalUnitType, value: 22, offset: 7)) {
            try hevc.length(ofHeaderIn: [22 << 1, 0x01, 0x80])
        }
    }

    /// H.265, equations 7-61 and 7-62: a picture that falls onto the one that is coded is none of its references.
    @Test func `a set that is predicted from another`() throws {
        var writer = BitWriter()
        // inter_ref_pic_set_prediction_flag; delta_rps_sign 0, abs_delta_rps_minus1 0: all are one further on.
        writer.flag(true)
        writer.flag(false)
        writer.unsignedExpGolomb(0)
        // The four of the reference, -1, -3, 2, 5, then itself.
        for isUsed in [true, true, false, true, true] {
            writer.flag(isUsed)
            if !isUsed { writer.flag(true) }
        }
        let reference = HEVCReferencePictureSet(
            before: [.init(distance: -1, isUsed: true), .init(distance: -3, isUsed: true)],
            behind: [.init(distance: 2, isUsed: true), .init(distance: 5, isUsed: false)])
        var reader = BitReader(writer.bytes)
        let set = try HEVCReferencePictureSet.parse(&reader, behind: [reference], isInSlice: false)
        #expect(set.before == [.init(distance: -2, isUsed: true)])
        #expect(
            set.behind == [
                .init(distance: 1, isUsed: true), .init(distance: 3, isUsed: false), .init(distance: 6, isUsed: true),
            ])
        #expect(set.count == 4)
        #expect(set.usedCount == 3)
    }
}
