internal import Archive
internal import Glibc
internal import Platform

/// The right to write into a directory of recordings: one process at a time has it, and loses it with its end.
final class RecordingLock {
    private let descriptor: CInt

    init(_ directory: RecordingDirectory) throws(RecordingFault) {
        let descriptor = Glibc.open(directory.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw .directory(FileFailure(call: "open", path: directory.path, number: errno))
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let number = errno
            close(descriptor)
            if number == EWOULDBLOCK { throw .taken(path: directory.path) }
            throw .directory(FileFailure(call: "flock", path: directory.path, number: number))
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }
}
