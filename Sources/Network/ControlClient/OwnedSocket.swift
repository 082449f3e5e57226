internal import Glibc
internal import Platform

/// One socket's file, held: whatever takes its name meanwhile, `path` leads to this very one.
final class OwnedSocket: Sendable {
    /// O_PATH of asm-generic/fcntl.h, which glibc has for GNU's dialect of C only: the file itself, not opened.
    private static let reference: CInt = 0o10_000_000

    private let descriptor: CInt

    /// For connect(2), as long as this object is there.
    var path: String { "/proc/self/fd/\(descriptor)" }

    /// - Parameter owner: the only user whose socket it may be.
    init(path: String, owner: UInt32) throws(ControlClientError) {
        descriptor = open(path, Self.reference | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw SocketProbe.error(path, SystemMessage.text(errno)) }
        var information = stat()
        guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFSOCK,
            information.st_uid == owner
        else {
            close(descriptor)
            throw .unreachable(path: path, why: "what is there is not the socket of the user that it should be")
        }
    }

    deinit { close(descriptor) }
}
