internal import Archive
internal import ErrorCatalog
internal import Glibc
internal import MediaFile
internal import Platform

/// Why nothing is recorded for now.
enum RecordingFault: Error {
    case directory(FileFailure)
    case archive(ArchiveError)
    case muxer(MediaWriterError)
    /// Another process has the directory.
    case taken(path: String)
    /// All that may be there is pinned.
    case pinned(bytes: Int64)
    /// Others fill the disk, and nothing is left that could go.
    case noRoom(free: Int64, floor: Int64)

    /// There is no room on the file system.
    var isFull: Bool {
        switch self {
        case .directory(let failure), .archive(.output(let failure)):
            failure.number == ENOSPC || failure.number == EDQUOT
        default: false
        }
    }

    /// Only a write shows whether it is over.
    var isOfWriting: Bool {
        switch self {
        case .directory, .archive: true
        case .muxer, .taken, .pinned, .noRoom: false
        }
    }

    /// The disk did not take what it had taken before.
    var isFlush: Bool {
        if case .archive(.output(let failure)) = self { failure.call == "fsync" } else { false }
    }

    /// It is about one file, and not about the disk.
    var isOfOneFile: Bool {
        let number: CInt =
            switch self {
            case .directory(let failure), .archive(.output(let failure)): failure.number
            default: 0
            }
        return [EPERM, EACCES, EBUSY, EISDIR, EINVAL, ELOOP, EIO].contains(number)
    }

    var reason: String {
        switch self {
        case .directory(let failure): "\(failure)"
        case .archive(let error): "\(error)"
        case .muxer(let error): "\(error)"
        case .taken(let path): "another process records into \(path)"
        case .noRoom(let free, let floor):
            "\(max(0, free) / 1_000_000) MB are free on the disk, and recordings leave \(floor / 1_000_000) MB"
        case .pinned(let bytes): "pinned recordings take the \(bytes / 1_000_000) MB that there are for them"
        }
    }
}
