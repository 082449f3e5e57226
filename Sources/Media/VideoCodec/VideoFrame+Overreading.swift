internal import CAVCodec

extension VideoFrame {
    /// Whether vector code may read a little beyond the last sample of each plane, as libswscale's does: it works on
    /// groups of pixels, and a driver's memory can end with the last sample, where a page ends too.
    var isReadableBeyondEnd: Bool {
        // Whole groups, which only the red, green and blue of a pixel, being three, never are.
        if width.isMultiple(of: 32), !pixelFormat.isRGB { return true }
        guard let planes = pixelFormat.planes else { return true }
        for index in planes.indices {
            guard let memory = memory(ofPlane: index), let base = memory.bytes.baseAddress else { continue }
            let end = UInt(bitPattern: base) &+ UInt(memory.bytes.count)
            // In the same page as the last sample, or in the same buffer.
            let isInPage = (end &- 1) / Self.minPageSize == (end &+ Self.furthestRead) / Self.minPageSize
            guard isInPage || isInBuffer(end, count: Self.furthestRead) else { return false }
        }
        return true
    }

    /// A copy whose memory goes on behind the last sample.
    func copyReadableBeyondEnd() throws(VideoCodecError) -> VideoFrame {
        let copy = try VideoFrame(width: width, height: height, pixelFormat: pixelFormat, lineAlignment: 64)
        try Libav.check(wb_av_frame_copy_props(copy.avFrame, avFrame), "av_frame_copy_props")
        for index in (pixelFormat.planes ?? []).indices {
            guard
                let from = memory(ofPlane: index), let to = copy.memory(ofPlane: index),
                let source = from.bytes.baseAddress, let target = to.bytes.baseAddress, let planes = pixelFormat.planes
            else { throw .unsupportedFrame(what: "copying", frame: description) }
            for row in 0..<planes[index].rows(height: height) {
                (target + row * to.stride)
                    .copyMemory(from: source + row * from.stride, byteCount: planes[index].bytesPerRow(width: width))
            }
        }
        return copy
    }

    private static let minPageSize: UInt = 4096
    /// Two registers of AVX2.
    private static let furthestRead: UInt = 64

    private func isInBuffer(_ address: UInt, count: UInt) -> Bool {
        let buffers = avFrame.pointee.buf
        for buffer in [buffers.0, buffers.1, buffers.2] {
            guard let buffer, let data = buffer.pointee.data else { continue }
            let begin = UInt(bitPattern: data)
            let end = begin &+ UInt(buffer.pointee.size)
            if address >= begin, address <= end, end - address >= count { return true }
        }
        return false
    }
}
