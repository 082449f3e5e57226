internal import Glibc
internal import Media
internal import Platform

/// An open file that is read from front to back, or from any place; closed when its owner ends.
struct FileReader: ~Copyable {
    /// Bytes, when it was opened.
    let size: Int64

    private let descriptor: CInt
    private let path: String

    /// Opens a regular file, and reports why it cannot.
    init(path: String) throws(MediaSourceError) {
        (descriptor, size) = try Self.open(path)
        self.path = path
    }

    deinit { close(descriptor) }

    /// Up to `count` bytes; empty at the end.
    func read(_ count: Int) throws(MediaSourceError) -> [UInt8] {
        try bytes(count) { Glibc.read(descriptor, $0.baseAddress, $0.count) }
    }

    /// Up to `count` bytes from `offset` on; empty at the end.
    func read(_ count: Int, at offset: Int64) throws(MediaSourceError) -> [UInt8] {
        try bytes(count) { pread(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
    }

    private func bytes(
        _ count: Int, _ call: (UnsafeMutableBufferPointer<UInt8>) -> Int
    ) throws(MediaSourceError) -> [UInt8] {
        while true {
            var code: CInt = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                let result = call(UnsafeMutableBufferPointer(rebasing: buffer[..<count]))
                if result < 0 { code = errno }
                filled = max(result, 0)
            }
            if code == 0 { return bytes }
            if code != EINTR {
                throw MediaSourceError(
                    what: "cannot read \(path)", why: SystemMessage.text(code), hint: "Check the disk.")
            }
        }
    }

    private static func open(_ path: String) throws(MediaSourceError) -> (descriptor: CInt, size: Int64) {
        // O_NONBLOCK: a pipe without a writer would otherwise hold us here for ever.
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let code = errno
            throw MediaSourceError(
                what: "cannot open \(path)", why: SystemMessage.text(code),
                hint: code == EACCES ? "Allow this user to read it." : "Check the path.")
        }
        do throws(MediaSourceError) {
            return (descriptor, try size(descriptor, path))
        } catch {
            close(descriptor)
            throw error
        }
    }

    private static func size(_ descriptor: CInt, _ path: String) throws(MediaSourceError) -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw MediaSourceError(
                what: "cannot open \(path)", why: SystemMessage.text(errno), hint: "Check the path.")
        }
        let hint = "Name a file with video or audio in it."
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw MediaSourceError(what: "cannot open \(path)", why: "it is a directory", hint: hint)
        default: throw MediaSourceError(what: "cannot open \(path)", why: "it is not a regular file", hint: hint)
        }
        guard status.st_size > 0 else {
            throw MediaSourceError(what: "cannot open \(path)", why: "the file is empty", hint: hint)
        }
        return Int64(status.st_size)
    }
}
