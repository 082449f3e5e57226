internal import CAVCodec
internal import Glibc
internal import Media

/// A ``ByteSource`` behind libavformat's AVIOContext. Used by one thread at a time.
final class InputBytes {
    /// Why reading ended, when it was not the end.
    private(set) var failure: MediaSourceError?

    private let source: any ByteSource
    private var position: Int64 = 0
    private var context: UnsafeMutablePointer<AVIOContext>?

    private static let bufferSize: CInt = 64 << 10

    init(_ source: any ByteSource) {
        self.source = source
    }

    deinit {
        if context != nil {
            wb_av_freep(&context!.pointee.buffer)
            wb_avio_context_free(&context)
        }
    }

    /// The context for a demuxer; libavformat must be loaded. It points at this object, which must outlive the demuxer.
    ///
    /// - Returns: nil when memory is out.
    func openContext() -> UnsafeMutablePointer<AVIOContext>? {
        guard let buffer = wb_av_malloc(Int(Self.bufferSize)) else { return nil }
        context = wb_avio_alloc_reader(
            buffer.assumingMemoryBound(to: UInt8.self), Self.bufferSize,
            Unmanaged.passUnretained(self).toOpaque(),
            { opaque, bytes, count in
                guard let input = InputBytes.from(opaque), let bytes, count > 0 else { return wb_averror(EINVAL) }
                return input.read(UnsafeMutableRawBufferPointer(start: bytes, count: Int(count)))
            }, { opaque, offset, whence in InputBytes.from(opaque)?.seek(offset, whence) ?? -1 })
        if context == nil { wb_av_free(buffer) }
        return context
    }

    private static func from(_ opaque: UnsafeMutableRawPointer?) -> InputBytes? {
        opaque.map { Unmanaged<InputBytes>.fromOpaque($0).takeUnretainedValue() }
    }

    private func seek(_ offset: Int64, _ whence: CInt) -> Int64 {
        if whence & AVSEEK_SIZE != 0 { return source.size }
        let base: Int64? =
            switch whence & ~AVSEEK_FORCE {
            case SEEK_SET: 0
            case SEEK_CUR: position
            case SEEK_END: source.size
            default: nil
            }
        guard let base else { return Int64(wb_averror(EINVAL)) }
        let (target, isTooLarge) = base.addingReportingOverflow(offset)
        guard !isTooLarge, target >= 0 else { return Int64(wb_averror(EINVAL)) }
        position = target
        return target
    }

    private func read(_ target: UnsafeMutableRawBufferPointer) -> CInt {
        guard failure == nil else { return wb_averror(EIO) }
        guard position < source.size else { return wb_averror_eof() }
        do throws(MediaSourceError) {
            let bytes = try source.read(position..<min(position + Int64(target.count), source.size))
            // A file that became shorter ends there.
            guard !bytes.isEmpty else { return wb_averror_eof() }
            let count = min(bytes.count, target.count)
            target.copyBytes(from: bytes.prefix(count))
            position += Int64(count)
            return CInt(count)
        } catch {
            failure = error
            return wb_averror(EIO)
        }
    }
}
