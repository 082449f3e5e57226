import FLV
import Foundation
import Media
import MediaFile
import Testing

@Suite struct WithoutLibavTests {
    @Test func `an FLV file is passed on without libav in the process`() async {
        // In a process of its own: other tests of this one load libav.
        await #expect(processExitsWith: .success) {
            let format = try VideoFormat(codec: .h264, configurationRecord: Fixture.configurationRecord[...])
            let audio = try AudioFormat(audioSpecificConfig: [0x11, 0x90])
            let recording = Recording()
            recording.append(.videoFormat(format))
            recording.append(.audioFormat(audio))
            for number in 0..<20 as Range<Int64> {
                let time = MediaTime(milliseconds: number * 40)
                recording.append(
                    .accessUnit(
                        AccessUnit(
                            track: .video(.h264), isKeyFrame: number == 0, presentationTime: time, decodeTime: time,
                            data: [0, 0, 0, 2, number == 0 ? 0x65 : 0x41, UInt8(number)])))
            }
            let path = try Scratch.write(try FLVBytes.make(recording).bytes, "own.flv")
            let played = try Recording.file(path)
            guard played.videoUnits.map(\.data) == recording.videoUnits.map(\.data) else { exit(2) }
            let libraries = MappedLibraries.names
            guard libraries.contains(where: { $0.hasPrefix("libc.so") }) else { exit(4) }
            guard !libraries.contains(where: { MappedLibraries.isLibav($0) }) else { exit(3) }
            exit(0)
        }
    }

    @Test func `a test pattern brings libavcodec, but not libavformat`() async {
        await #expect(processExitsWith: .success) {
            _ = try Recording.pattern(frames: 2)
            let libraries = MappedLibraries.names
            guard libraries.contains(where: { $0.hasPrefix("libavcodec") }) else { exit(2) }
            guard !libraries.contains(where: { $0.hasPrefix("libavformat") }) else { exit(3) }
            exit(0)
        }
    }
}

/// The shared objects in this process.
private enum MappedLibraries {
    static var names: Set<String> {
        // A file of the kernel's has no size; it is read until it ends.
        guard let handle = FileHandle(forReadingAtPath: "/proc/self/maps") else { return [] }
        let text = String(decoding: handle.readDataToEndOfFile(), as: UTF8.self)
        let paths = text.split(separator: "\n").compactMap { $0.split(separator: "/").last }
        return Set(paths.map(String.init))
    }

    static func isLibav(_ name: String) -> Bool {
        ["libavutil", "libavcodec", "libavformat", "libswscale", "libswresample"].contains { name.hasPrefix($0) }
    }
}

/// A configuration record of libx264, 160x90.
private enum Fixture {
    static let configurationRecord: [UInt8] = [
        0x01, 0x42, 0xC0, 0x0B, 0xFF, 0xE1, 0x00, 0x18, 0x67, 0x42, 0xC0, 0x0B, 0xDA, 0x0A, 0x37, 0xE4,
        0xC0, 0x44, 0x00, 0x00, 0x03, 0x00, 0x04, 0x00, 0x00, 0x03, 0x00, 0xC8, 0x3C, 0x50, 0xAA, 0x80,
        0x01, 0x00, 0x04, 0x68, 0xCE, 0x0F, 0xC8,
    ]
}
