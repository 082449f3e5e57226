internal import FLV
package import Foundation
internal import Media
internal import VideoCodec

/// What a relay holds of a stream, as an FLV file that was recorded from it without a key.
package struct RelayCopy {

    private var format: VideoFormat?
    private var units: [AccessUnit] = []

    /// - Throws: why the file is not an FLV file.
    package init(_ file: URL) throws {
        var reader = FLVFileReader()
        reader.append([UInt8](try Data(contentsOf: file)))
        while let tag = try reader.nextTag() {
            let body = tag.body[...]
            switch tag.type {
            case FLVTag.video where !NTDFHeaderFrame.matches(body):
                let (header, payload) = try VideoTagHeader.parse(body)
                switch header.kind {
                case .sequenceHeader:
                    format = try VideoFormat.parse(codec: header.codec, configurationRecord: payload).format
                case .codedFrame: keep(.video(header.codec), header.isKeyFrame, tag, payload)
                default: break
                }
            case FLVTag.audio:
                let (header, payload) = try AudioTagHeader.parse(body)
                if header.kind == .rawFrame { keep(.audio(.aac), true, tag, payload) }
            default: break
            }
        }
    }

    private mutating func keep(
        _ track: AccessUnit.Track, _ isKeyFrame: Bool, _ tag: FLVTag, _ payload: ArraySlice<UInt8>
    ) {
        let time = MediaTime(milliseconds: Int64(tag.timestamp))
        units.append(
            AccessUnit(
                track: track, isKeyFrame: isKeyFrame, presentationTime: time, decodeTime: time, data: Array(payload)))
    }

    /// Encoded frames of both media.
    package var frames: Int { units.count }

    /// Gives the copy to a decoder, as whoever runs the relay could.
    ///
    /// - Parameter camera: the camera's log: a payload with the size or the hash of what was sealed would be clear.
    package func view(camera: [FrameRecord]) throws -> Report.RelayView {
        var view = Report.RelayView()
        view.frames = units.count
        let sealed = Set(camera.map { "\($0.iv ?? 0)/\($0.bytes + ($0.note ?? 0))" })
        view.clearFrames = units.count { !Self.isSealed($0, of: sealed) }
        let video = units.filter(\.track.isVideo)
        view.videoFrames = video.count
        if let format {
            let decoder = try VideoDecoder(format)
            for unit in video { try decoder.decode(unit) { _, _ in } }
            try decoder.finish { _, _ in }
            view.decodedFrames = decoder.verdict.frames
            view.verdict =
                "Given \(video.count) frames, a decoder refused \(decoder.verdict.errors) and made "
                + "\(decoder.verdict.frames) frames"
            if view.clearFrames > 0 { view.verdict += "; \(view.clearFrames) frames are NOT encrypted" }
        } else {
            view.verdict = "No video was relayed"
        }
        if let key = video.first(where: \.isKeyFrame) { view.frame = try Self.frame(of: key.data) }
        return view
    }

    private static func isSealed(_ unit: AccessUnit, of sealed: Set<String>) -> Bool {
        if isItem(unit.data, of: sealed) { return true }
        guard case .video(let codec) = unit.track else { return false }
        return switch NALWrapper.form(of: unit.data[...], codec: codec) {
        case .item: false
        case .wrapped(let item), .either(let item): isItem(Array(item), of: sealed)
        }
    }

    /// IV, length of the rest, ciphertext and tag, for an access unit of the size that the camera sealed under that IV:
    /// 22 bytes longer, and by its note, every one of them accounted for. The end of a stream is an item without
    /// content.
    private static func isItem(_ data: [UInt8], of sealed: Set<String>) -> Bool {
        guard data.count >= 22 else { return false }
        let counter = data[0..<3].reduce(0) { $0 << 8 | Int($1) }
        let length = data[3..<6].reduce(0) { $0 << 8 | Int($1) }
        return length == data.count - 6 && (data.count == 22 || sealed.contains("\(counter)/\(data.count - 22)"))
    }

    /// One grey pixel for each byte, 16:9.
    private static func frame(of bytes: [UInt8]) throws -> [UInt8] {
        let height = max(9, Int((Double(bytes.count) * 9 / 16).squareRoot()) / 9 * 9)
        let width = height * 16 / 9
        var pixels: [UInt8] = []
        pixels.reserveCapacity(width * height * 3)
        for index in 0..<(width * height) {
            let grey = index < bytes.count ? bytes[index] : 0
            pixels.append(grey)
            pixels.append(grey)
            pixels.append(grey)
        }
        return try PNGWriter.encode(try VideoFrame(width: width, height: height, pixels: pixels))
    }
}
