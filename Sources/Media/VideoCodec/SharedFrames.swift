internal import CSandbox
internal import Glibc
internal import Platform
internal import Synchronization

/// Memory that a process shares with the child that decodes for it: the JPEG in front, behind it places for frames,
/// used in turn. The places and sizes are this process's own; nothing that a child writes is believed but samples.
final class SharedFrames: Sendable {
    /// Where everything is, on both sides.
    struct Layout: Equatable, Sendable {
        /// Longer than any JPEG that an `RTP.JPEGAssembler` gives.
        static let jpegBytes = 16 << 20
        static let places = 2
        private static let page = 4096

        let width: Int
        let height: Int
        /// Of brightness; vector code is at its best there, and chroma's half is aligned too.
        var bytesPerLine: Int { (width + 63) / 64 * 64 }
        /// Of one place, with what encoders read beyond the last row.
        var placeBytes: Int {
            (bytesPerLine * (height + 16) * 3 / 2 + Self.page * 2 - 1) / Self.page * Self.page
        }
        var total: Int { Self.jpegBytes + Self.places * placeBytes }

        /// - Throws: `.invalid` for anything but a size of a frame with halved chroma.
        init(width: Int, height: Int) throws(VideoCodecError) {
            guard (16...VideoFrame.maxSide).contains(width), width.isMultiple(of: 2) else {
                throw .invalid(.width, value: width)
            }
            guard (16...VideoFrame.maxSide).contains(height), height.isMultiple(of: 2),
                width * height <= FrameRequest.maxPixels
            else { throw .invalid(.height, value: height) }
            self.width = width
            self.height = height
        }

        /// Within the memory.
        func range(ofPlace place: Int) -> Range<Int> {
            let begin = Self.jpegBytes + place * placeBytes
            return begin..<(begin + placeBytes)
        }
    }

    let layout: Layout
    /// For the child.
    let descriptor: Int32
    private let memory: Mapping
    private let taken = Mutex<Set<Int>>([])

    init(_ layout: Layout) throws(DecoderFault) {
        self.layout = layout
        descriptor = wb_sealed_memory(layout.total)
        guard descriptor >= 0 else {
            throw .lost("no memory for the decoder: \(SystemMessage.text(-descriptor))")
        }
        guard let memory = Mapping(descriptor, count: layout.total) else {
            let number = errno
            close(descriptor)
            throw .lost("no memory for the decoder: \(SystemMessage.text(number))")
        }
        self.memory = memory
    }

    deinit {
        close(descriptor)
    }

    /// Puts a JPEG where the child reads it.
    func put(_ jpeg: [UInt8]) throws(DecoderFault) {
        guard jpeg.count <= Layout.jpegBytes else { throw .damaged("\(jpeg.count) bytes of JPEG") }
        memory.bytes.copyBytes(from: jpeg)
    }

    /// A place that no one reads; nil: all are in use.
    func take() -> Int? {
        taken.withLock { taken in
            guard let place = (0..<Layout.places).first(where: { !taken.contains($0) }) else { return nil }
            taken.insert(place)
            return place
        }
    }

    func giveBack(_ place: Int) {
        taken.withLock { _ = $0.remove(place) }
    }

    /// What lies at a place that was taken, without a copy. The place is given back when no one uses the frame any
    /// more. A child that was broken into can change the samples at any time, and nothing else.
    func frame(at place: Int) throws(VideoCodecError) -> VideoFrame {
        let bytes = UnsafeMutableRawBufferPointer(rebasing: memory.bytes[layout.range(ofPlace: place)])
        return try Self.frame(in: bytes, layout) { [self] in giveBack(place) }
    }

    /// The same on the child's side, where it is not kept.
    static func frame(
        in bytes: UnsafeMutableRawBufferPointer, _ layout: Layout, release: @escaping @Sendable () -> Void
    ) throws(VideoCodecError) -> VideoFrame {
        try VideoFrame(
            lending: bytes, bytesPerLine: layout.bytesPerLine, width: layout.width, height: layout.height,
            pixelFormat: .yuv420p, isFullRange: false, matrix: .bt601, release: release)
    }
}

/// A file's memory, as long as somebody holds it.
final class Mapping: @unchecked Sendable {
    // Who reads and writes what is agreed on by messages.
    let bytes: UnsafeMutableRawBufferPointer

    /// Nil with `errno` when the kernel refuses.
    init?(_ descriptor: Int32, count: Int) {
        let base = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let base, base != MAP_FAILED else { return nil }
        bytes = UnsafeMutableRawBufferPointer(start: base, count: count)
    }

    deinit {
        munmap(bytes.baseAddress, bytes.count)
    }
}
