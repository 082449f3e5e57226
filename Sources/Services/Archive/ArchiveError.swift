public import Platform
public import TDF

/// Why an archive could not be written or read. Holds no key and no plaintext.
public enum ArchiveError: Error, Equatable, Sendable {
    /// The archive, or what goes into one, cannot be read from its file.
    case input(RandomAccessFile.Failure)
    case output(FileFailure)
    /// What is wrong with the archive, and where.
    case format(TDFError)
    /// The same of one of profile P.
    case playable(PlayableArchiveFault)
    /// What was written is not what is read: the storage does not keep it.
    case readBack(TDFError)
    /// Whoever waits for it wants it no more.
    case cancelled
}

extension ArchiveError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .input(let failure): "\(failure)"
        case .output(let failure): "\(failure.path): \(failure.reason)"
        case .format(let error): "\(error)"
        case .playable(let fault): "\(fault)"
        case .readBack(let error): "what was written reads differently: \(error)"
        case .cancelled: "it was interrupted"
        }
    }
}

/// What is under way says how far it is, in bytes; what this throws ends it.
public typealias ArchiveProgress = (Int64) throws(ArchiveError) -> Void
