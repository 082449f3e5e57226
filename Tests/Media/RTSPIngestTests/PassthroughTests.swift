import CameraModel
import Foundation
import Media
import Testing

@testable import RTSPIngest

/// What a camera sends goes out byte for byte: frames of several hundred kilobytes, and audio.
// These need python3 and ffmpeg, which make a camera and what it sends; the product itself needs neither.
@Suite(.enabled(if: TestCamera.hasMedia, "python3 or ffmpeg with libx264 and libx265 is missing"))
struct PassthroughTests {
    private let directory = TemporaryDirectory()

    @Test(
        arguments: [VideoCodec.h264, .hevc], [CameraConfiguration.Network.Transport.tcp, .udp])
    func `frames and audio are those of the recording`(
        codec: VideoCodec, transport: CameraConfiguration.Network.Transport
    ) async throws {
        let truth = try await Truth(codec)
        #expect(truth.frames.count == 10)
        let sizes = truth.frames.map(\.count)
        #expect(sizes.allSatisfy { $0 > 100_000 })
        let camera = try await TestCamera.large()
        defer { camera.end() }
        let query = "fps=5&pace=1&audio=aac" + (codec == .hevc ? "&h265=1" : "")
        let running = RunningSource(try .test(camera.url(query), in: directory, transport: transport))
        try await running.wait("the recording, and its begin again") {
            $0.frames.count >= 13 && $0.audio.count >= 80
        }
        let seen = try await running.stop()
        let capture = running.source.capture
        #expect(capture.network?.transport == transport.rawValue)
        #expect(capture.network?.connections == 1)

        // Over UDP this machine may lose a packet: then frames are missing, and none is different.
        let isWhole = capture.lost == 0
        var last: Int?
        for (number, frame) in seen.frames.enumerated() {
            // Not within the macro, which would print megabytes.
            let found = truth.frames.firstIndex(of: frame.data)
            let place = try #require(found, "frame \(number) of \(frame.data.count) bytes is not in the recording")
            if isWhole, let last { #expect(place == (last + 1) % truth.frames.count) }
            #expect(frame.isKeyFrame == (place % 5 == 0))
            last = place
        }
        #expect(seen.formats.map(\.codec) == [codec])
        #expect(seen.formats.first?.width == 1920)
        #expect(seen.formats.first?.height == 1080)

        #expect(seen.audioFormats.map(\.audioSpecificConfig) == [truth.audioSpecificConfig])
        let audio = seen.audio.map(\.data)
        let strange = audio.count { !truth.audio.contains($0) }
        #expect(strange == 0)
        if isWhole {
            let begins = truth.audio.indices.contains { begin in
                audio.indices.allSatisfy { audio[$0] == truth.audio[(begin + $0) % truth.audio.count] }
            }
            #expect(begins, "the audio is not the recording's, in its order")
        }
    }

    /// The recording that the camera sends, read by what this project reads byte streams with.
    private struct Truth {
        /// NAL units behind their lengths, without those that an access unit does not carry.
        var frames: [[UInt8]] = []
        var audio: [[UInt8]] = []
        var audioSpecificConfig: [UInt8] = []

        init(_ codec: VideoCodec) async throws {
            let media = try #require(await TestCamera.largeMedia.place)
            let name = codec == .h264 ? "large.h264" : "large.h265"
            let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: media.path(name))))
            var units: [ArraySlice<UInt8>] = []
            var hasSlice = false
            for unit in AnnexB.units(in: bytes[...]) {
                let kind = codec.kind(ofNALUnit: unit)
                let flags = unit[unit.startIndex + (codec == .h264 ? 1 : 2)]
                if hasSlice, !kind.isPicture || flags & 0x80 != 0 {
                    frames.append(AnnexB.lengthPrefixed(units))
                    units = []
                    hasSlice = false
                }
                hasSlice = hasSlice || kind.isPicture
                if kind.isPicture || kind == .supplementalInformation { units.append(unit) }
            }
            frames.append(AnnexB.lengthPrefixed(units))
            try readAudio(media.path("large.aac"))
        }

        /// ADTS (ISO/IEC 14496-3 §1.A.2.2).
        private mutating func readAudio(_ path: String) throws {
            let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
            var offset = 0
            while offset + 7 <= bytes.count {
                let header = bytes[offset..<(offset + 7)].map { Int($0) }
                let length = (header[3] & 3) << 11 | header[4] << 3 | header[5] >> 5
                audio.append(Array(bytes[(offset + (header[1] & 1 == 1 ? 7 : 9))..<(offset + length)]))
                let type = header[2] >> 6 + 1
                let config = type << 11 | (header[2] >> 2 & 15) << 7 | ((header[2] & 1) << 2 | header[3] >> 6) << 3
                audioSpecificConfig = [UInt8(config >> 8), UInt8(config & 0xFF)]
                offset += length
            }
        }
    }
}
