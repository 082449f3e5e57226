public import CommonEncryption
public import TDF

/// What is wrong with an archive of profile P, or with the film that goes into one, beside what can be wrong with any. Holds no key and no media.
public enum PlayableArchiveFault: Equatable, Sendable {
    /// A file of the archive, or the film that goes into one, is not what a fragmented MP4 has to be. `file` is nil for the film.
    case media(CommonEncryptionError, file: String?)
    case playlist(MediaPlaylist.Fault)
    /// Playlist and metadata name other files, or another key.
    case playlistDiffers
    /// The archive has a file that its metadata do not list, or lacks one that they do.
    case fileList(String)
    case fileSize(name: String, count: Int64, limit: Int)
    /// The bytes of a file are not those that the metadata list.
    case fileHash(String)
    /// A part of the film that goes into one is larger than a file of an archive may be.
    case filmPart(String, count: Int64, limit: Int)
    /// What was written is not what is read, or does not become the film: what is wrong with it.
    case readBack(String)
    /// The film needs more segments than an archive may have.
    case tooLong(limit: Int)
    case noFilm
}

extension PlayableArchiveFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .media(let error, let file?): "\(file): \(error)"
        case .media(let error, nil): "\(error)"
        case .playlist(let fault): "\(PlayableContainer.playlistName): \(fault)"
        case .playlistDiffers: "playlist and metadata name other files, or another key"
        case .fileList(let name): "\(name) is in the archive or in its metadata, and not in both"
        case .fileSize(let name, let count, let limit): "\(name) has \(count) bytes, at most \(limit) are read"
        case .fileHash(let name): "\(name) is not the file that the metadata list"
        case .filmPart(let what, let count, let limit):
            "\(what) of the film has \(count) bytes, at most \(limit) go into an archive"
        case .readBack(let reason): "what was written reads differently: \(reason)"
        case .tooLong(let limit): "the film has more than \(limit) segments"
        case .noFilm: "there is no fragment in the film"
        }
    }
}
