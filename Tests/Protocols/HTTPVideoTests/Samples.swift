import TestSupport

@testable import HTTPVideo

/// Frames as far as their markers go: no samples that could be decoded.
enum Sample {
    static func jpeg(_ seed: UInt64, size: Int = 300, thumbnail: Bool = false) -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        var bytes: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 16] + Array("JFIF".utf8) + [UInt8](repeating: 0, count: 10)
        if thumbnail {
            // A whole frame within a segment, as Exif has it.
            let inner = jpeg(seed &+ 1, size: 40)
            bytes += [0xFF, 0xE1, UInt8((inner.count + 2) >> 8), UInt8((inner.count + 2) & 0xFF)] + inner
        }
        bytes += [0xFF, 0xDB, 0, 67, 0] + [UInt8](repeating: 9, count: 64)
        bytes += [0xFF, 0xC0, 0, 11, 8, 0, 16, 0, 16, 1, 1, 0x11, 0]
        bytes += [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0]
        while bytes.count < size {
            let byte = UInt8(truncatingIfNeeded: random.next())
            bytes.append(byte)
            if byte == 0xFF { bytes.append(random.next() % 4 == 0 ? 0xD0 : 0) }
        }
        if bytes.last == 0xFF { bytes.append(0) }
        return bytes + [0xFF, 0xD9]
    }

    /// In the samples there is what looks like the next part.
    static func jpeg(holding text: String) -> [UInt8] {
        let plain = jpeg(7)
        return Array(plain.dropLast(2)) + Array(text.utf8) + [0x11, 0x22, 0xFF, 0xD9]
    }

    static func cut(_ jpeg: [UInt8], to count: Int) -> [UInt8] { Array(jpeg.prefix(count)) }

    /// All of a stream, read in pieces that end at these places.
    static func read(
        _ bytes: [UInt8], boundary: String?, cuts: [Int] = []
    ) throws -> (frames: [[UInt8]], damaged: UInt64) {
        var reader = MultipartReader(boundary: boundary)
        var frames: [[UInt8]] = []
        var begin = 0
        for end in cuts + [bytes.count] where end >= begin && end <= bytes.count {
            frames += try reader.received(bytes[begin..<end])
            begin = end
        }
        if let last = reader.ended() { frames.append(last) }
        return (frames, reader.damaged)
    }
}

/// A stream as a camera writes it.
struct StreamSample: Sendable {
    var boundary: String? = "frame"
    /// In front of each part.
    var delimiter = "--frame"
    var lineEnd = "\r\n"
    var type: String? = "image/jpeg"
    /// What is said of a frame's length; nil: nothing.
    var length: (@Sendable (Int) -> String)? = { "\($0)" }
    var extra: [String] = []
    var before = ""
    var behind = "\r\n"
    var emptyLine = true

    func bytes(_ frames: [[UInt8]]) -> [UInt8] {
        var all = Array(before.utf8)
        var frames = frames[...]
        if before.contains("image/jpeg"), let first = frames.popFirst() { all += first + Array(behind.utf8) }
        for frame in frames {
            var text = delimiter + lineEnd
            if let type { text += "Content-Type: \(type)" + lineEnd }
            if let length { text += "Content-Length: \(length(frame.count))" + lineEnd }
            for line in extra { text += line + lineEnd }
            if emptyLine { text += lineEnd }
            all += Array(text.utf8) + frame + Array(behind.utf8)
        }
        return all
    }
}
