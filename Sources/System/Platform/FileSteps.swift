internal import Glibc

/// What it takes to put a file in place, asked of the kernel one by one.
struct FileSteps: Sendable {
    enum Step: CaseIterable, Sendable {
        case openDirectory, open, fchmod, fchown, write, truncate, fsync, rename, unlink, fsyncDirectory

        var call: String {
            switch self {
            case .openDirectory: "open"
            case .truncate: "ftruncate"
            case .fsyncDirectory: "fsync"
            default: "\(self)"
            }
        }
    }

    /// A test's, which is told of each step before the kernel is, and says with which errno it fails, as on a full or a broken
    /// disk; nil: the kernel decides.
    @TaskLocal static var witness: (@Sendable (_ step: Step, _ path: String) -> CInt?)?

    /// - Returns: what `body` gave, 0 or more.
    @discardableResult
    func callAsFunction(_ step: Step, _ path: String, _ body: () -> Int) throws(FileFailure) -> Int {
        if let number = Self.witness?(step, path) { throw FileFailure(call: step.call, path: path, number: number) }
        while true {
            let result = body()
            if result >= 0 { return result }
            if errno != EINTR { throw FileFailure(call: step.call, path: path, number: errno) }
        }
    }

    /// All of `bytes`.
    ///
    /// - Throws: a part of them may be there then.
    func write(
        _ bytes: ArraySlice<UInt8>, to descriptor: CInt, at offset: Int64, _ path: String
    ) throws(FileFailure) {
        var written = 0
        while written < bytes.count {
            written += try self(.write, path) {
                bytes.withUnsafeBytes {
                    pwrite(descriptor, $0.baseAddress! + written, $0.count - written, off_t(offset) + off_t(written))
                }
            }
        }
    }
}
