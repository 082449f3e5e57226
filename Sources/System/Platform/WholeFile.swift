internal import Glibc

/// What is in a file, through a descriptor that the caller has opened and looked at, and closes.
public enum WholeFile {
    /// From where the descriptor stands to the end. In one piece: it may be a key, and what an array leaves behind when it
    /// grows is not wiped.
    ///
    /// - Throws: `.tooLong` for more than `limit` bytes, and for a file that grows meanwhile.
    public static func read(_ descriptor: CInt, limit: Int) throws(SmallFile.Failure) -> [UInt8] {
        var status = stat()
        let isSized = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_size > 0
        // Files of the kernel's say that they are empty.
        var bytes = [UInt8](repeating: 0, count: (isSized ? min(Int(status.st_size), limit) : limit) + 1)
        var filled = 0
        var failure: SmallFile.Failure?
        while failure == nil {
            // Not through a slice of the array, which would be a copy.
            let count = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress! + filled, $0.count - filled)
            }
            if count == 0 { break }
            if count < 0 {
                if errno != EINTR { failure = .refused(errno: errno) }
                continue
            }
            filled += count
            if filled == bytes.count { failure = .tooLong(limit: limit) }
        }
        if let failure {
            bytes.withUnsafeMutableBytes { explicit_bzero($0.baseAddress!, $0.count) }
            throw failure
        }
        bytes.removeLast(bytes.count - filled)
        return bytes
    }
}
