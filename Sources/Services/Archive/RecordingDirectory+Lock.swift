internal import Glibc
public import Platform

extension RecordingDirectory {
    /// Whether somebody records into it now: a recorder holds a lock on the directory as long as it lives, however long its pauses are, and
    /// a power cut leaves none.
    ///
    /// For the moment of the question this holds a lock as well, so ask only where a person wants to know.
    public func isWritten() throws(FileFailure) -> Bool {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFailure(call: "open", path: path, number: errno) }
        // Closing it gives the lock back.
        defer { close(descriptor) }
        while flock(descriptor, LOCK_SH | LOCK_NB) != 0 {
            switch errno {
            case EWOULDBLOCK: return true
            case EINTR: continue
            // A file system without locks is no recorder's.
            default: return false
            }
        }
        return false
    }

    /// Of recordings that were being written, those of which there is anything: a journal alone is what is left to be removed.
    public func withFrames(_ growing: [UInt64]) -> [UInt64] {
        growing.filter { sequence in
            var status = stat()
            let part = "\(path)/\(RecordingName.stem(sequence))\(GrowingArchive.partSuffix)"
            return lstat(part, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        }
    }
}
