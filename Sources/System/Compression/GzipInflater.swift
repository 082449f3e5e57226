internal import CZlib

/// Inflates gzip (RFC 1952), with a bound on what comes out.
public enum GzipInflater {
    public enum Fault: Error, Equatable, Sendable {
        /// Not one complete gzip member, or its checksum is wrong.
        case malformed
        /// More than `limit` bytes come out.
        case tooLarge(limit: Int)
        /// More than `limit` times as many bytes come out as went in.
        case ratio(limit: Int)
        /// Bytes follow the member.
        case trailingBytes
        case libraryFailed(code: Int32)
    }

    /// Below this size of output no ratio is checked: a few hundred equal bytes compress well and do no harm.
    public static let ratioFloor = 16_384

    public static func inflate(_ input: [UInt8], limit: Int, ratio: Int = 100) throws(Fault) -> [UInt8] {
        var stream = z_stream()
        // 15 + 16: the largest window, gzip framing only.
        let opened = watchbox_inflateInit2(&stream, 15 + 16)
        guard opened == Z_OK else { throw .libraryFailed(code: opened) }
        defer { inflateEnd(&stream) }
        var source = input
        var output: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        let result: Result<[UInt8], Fault> = source.withUnsafeMutableBufferPointer { source in
            chunk.withUnsafeMutableBufferPointer { chunk in
                stream.next_in = source.baseAddress
                stream.avail_in = UInt32(clamping: source.count)
                while true {
                    stream.next_out = chunk.baseAddress
                    stream.avail_out = UInt32(chunk.count)
                    let code = CZlib.inflate(&stream, Z_NO_FLUSH)
                    output += chunk[..<(chunk.count - Int(stream.avail_out))]
                    if output.count > limit { return .failure(.tooLarge(limit: limit)) }
                    if output.count > ratioFloor, output.count / max(1, source.count) >= ratio {
                        return .failure(.ratio(limit: ratio))
                    }
                    switch code {
                    case Z_STREAM_END: return stream.avail_in == 0 ? .success(output) : .failure(.trailingBytes)
                    case Z_OK where stream.avail_out == 0: continue
                    // Z_OK with room left, or Z_BUF_ERROR: the input ended within the member.
                    case Z_OK, Z_BUF_ERROR, Z_DATA_ERROR, Z_NEED_DICT: return .failure(.malformed)
                    default: return .failure(.libraryFailed(code: code))
                    }
                }
            }
        }
        return try result.get()
    }
}
