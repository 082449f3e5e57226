internal import Cryptography
internal import FLV
package import Foundation
internal import Media
internal import VideoCodec
internal import Wire

/// What a relay holds of a stream, as an FLV file that was recorded from it without a key.
package struct RelayCopy {

    private var formats: [MediaEvent] = []
    private var units: [AccessUnit] = []

    /// - Throws: what makes the file no FLV file.
    package init(_ file: URL) throws {
        var reader = FLVFileReader()
        reader.append([UInt8](try Data(contentsOf: file)))
        var depacketizer = Depacketizer()
        while let tag = try reader.nextTag() {
            guard tag.type != FLVTag.script, !NTDFHeaderFrame.matches(tag.body[...]) else { continue }
            let event = try depacketizer.message(type: tag.type, timestamp: tag.timestamp, body: tag.body[...])
            switch event {
            case .accessUnit(let unit): units.append(unit)
            case .videoFormat, .audioFormat: formats.append(event!)
            case nil: break
            }
        }
    }

    /// Coded frames of both media.
    package var frames: Int { units.count }

    /// Gives the copy to a decoder, as whoever runs the relay could.
    ///
    /// - Parameter camera: the camera's log: a payload with the size or the hash of what was sealed would be clear.
    package func view(camera: [FrameRecord]) throws -> Report.RelayView {
        var view = Report.RelayView()
        view.frames = units.count
        let clearHashes = Set(camera.map(\.sha256))
        view.clearFrames = units.count { clearHashes.contains(Hexadecimal.encode(Digest.sha256($0.data))) || Self.looksLikeNALUnits($0) }
        let video = units.filter(\.track.isVideo)
        view.videoFrames = video.count
        let format = formats.lazy.compactMap { if case .videoFormat(let format) = $0 { format } else { nil } }.first
        if let format {
            let decoder = try VideoDecoder(format)
            for unit in video { try decoder.decode(unit) { _, _ in } }
            try decoder.finish { _, _ in }
            view.decodedPictures = decoder.verdict.pictures
            view.verdict =
                "given \(video.count) frames, a decoder refused \(decoder.verdict.errors) and made "
                + "\(decoder.verdict.pictures) pictures"
            if view.clearFrames > 0 { view.verdict += "; \(view.clearFrames) frames are NOT encrypted" }
        } else {
            view.verdict = "no video was relayed"
        }
        if let key = video.first(where: \.isKeyFrame) { view.picture = try Self.picture(of: key.data) }
        return view
    }

    /// A whole access unit of NAL units with 4-byte lengths; random bytes almost never are one.
    private static func looksLikeNALUnits(_ unit: AccessUnit) -> Bool {
        guard unit.track.isVideo else { return false }
        var rest = unit.data[...]
        while rest.count >= 4 {
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            guard length > 0, length <= rest.count - 4 else { return false }
            rest = rest.dropFirst(4 + length)
        }
        return rest.isEmpty
    }

    /// One grey pixel for each byte, 16:9.
    private static func picture(of bytes: [UInt8]) throws -> [UInt8] {
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
        return try PNGWriter.encode(try RawPicture(width: width, height: height, pixels: pixels))
    }
}
