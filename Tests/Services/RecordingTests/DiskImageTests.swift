import Archive
import Foundation
import Media
import TestSupport
import Testing

@testable import Recording

/// A power cut as the disk sees it: what it held at that moment is put into a box again.
@Suite(.enabled(if: DiskImage.isPossible, "no file system in a file may be mounted here"), .ownThread)
struct DiskImageTests {
    @Test(arguments: [UInt64(1), 2])
    func `a disk whose power went has all but a group of pictures and two seconds, and nothing in clear`(
        seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        let stage = try RecordingStage()
        let image = try DiskImage(stage.directory + ".image", megabytes: 32)
        defer { try? FileManager.default.removeItem(atPath: image.path) }
        try image.mount(at: stage.directory)
        defer { DiskImage.unmount(stage.directory) }
        let film = try Film.pattern(seconds: 30)
        // The one file grows, and only its flushes bring it to the disk; in the last third others follow it.
        let writer = try stage.writer(stage.settings(length: 20_000))
        let cuts = (0..<6).map { _ in Int.random(in: 1..<film.count, using: &random) }.sorted()
        for (from, to) in zip([0] + cuts, cuts) {
            stage.show(Array(film[from..<to]), to: writer)
            try Self.powerGoes(image, film, shown: Array(film[..<to]).video.count)
        }
        writer.end()
    }

    private static func powerGoes(_ image: DiskImage, _ film: [MediaEvent], shown: Int) throws {
        let stage = try RecordingStage()
        let copy = try image.copy(to: stage.directory + ".image")
        defer { try? FileManager.default.removeItem(atPath: copy.path) }
        let secrets = Set(film.video.map { key($0.data.dropFirst(8)) })
        #expect(hits(secrets, in: try copy.bytes()) == 0, "media is on the disk in clear")

        try copy.mount(at: stage.directory)
        defer { DiskImage.unmount(stage.directory) }
        try stage.writer().end()
        #expect(stage.files.count == stage.names.count, "neither key nor half a file is left: \(stage.files)")
        let frames = try stage.frames().filter(\.track.isVideo).map(\.data)
        #expect(frames == film.video.prefix(frames.count).map(\.data))
        // 25 frames a second, a group of pictures each second; flushed when two seconds have passed, which is looked at each half second.
        #expect(shown - frames.count <= 3 * 25 + 13, "\(frames.count) of \(shown) frames")
    }

    @Test func `media in clear would be found`() throws {
        let stage = try RecordingStage()
        let image = try DiskImage(stage.directory + ".image", megabytes: 16)
        defer { try? FileManager.default.removeItem(atPath: image.path) }
        try image.mount(at: stage.directory)
        defer { DiskImage.unmount(stage.directory) }
        let film = try Film.pattern(seconds: 5)
        let file = open("\(stage.directory)/film", O_CREAT | O_WRONLY, 0o600)
        for unit in film.video { _ = unit.data.withUnsafeBytes { write(file, $0.baseAddress, $0.count) } }
        fsync(file)
        close(file)
        let copy = try image.copy(to: stage.directory + ".copy")
        defer { try? FileManager.default.removeItem(atPath: copy.path) }
        #expect(hitsOf(film, in: try copy.bytes()) >= film.video.count / 2)
    }

    private func hitsOf(_ film: [MediaEvent], in bytes: [UInt8]) -> Int {
        Self.hits(Set(film.video.map { Self.key($0.data.dropFirst(8)) }), in: bytes)
    }

    /// Eight bytes of a frame, behind the head of its first NAL unit.
    private static func key(_ bytes: some Collection<UInt8>) -> UInt64 {
        bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// How often one of these stands anywhere in there.
    private static func hits(_ secrets: Set<UInt64>, in bytes: [UInt8]) -> Int {
        var window: UInt64 = 0
        var count = 0
        for byte in bytes {
            window = window << 8 | UInt64(byte)
            if secrets.contains(window) { count += 1 }
        }
        return count
    }
}
