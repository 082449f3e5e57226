/// Why a recording or a stream to a pipe could not be written.
public enum MediaWriterError: Error, Equatable, Sendable {
    /// libavformat is not on this machine. The message names the package to install.
    case libraryMissing(String)
    /// The file cannot be created; why, as the system reports it.
    case cannotCreate(path: String, reason: String)
    /// Writing failed: the disk is full, the pipe broke in another way than by its reader's end.
    case cannotWrite(reason: String)
    /// A libavformat function failed: its name and what libav says about it.
    case failed(call: String, message: String)
    /// An MP4 file is completed at its beginning, which a pipe does not allow: choose fragmented MP4 or MPEG-TS.
    case needsSeeking
    /// A configuration record that cannot be read.
    case malformedFormat(String)
    /// The track goes on with another codec, or with other audio: begin a new file.
    case formatChanged(String)
}

extension MediaWriterError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .libraryMissing(let message): message
        case .cannotCreate(let path, let reason): "cannot create \(path): \(reason)"
        case .cannotWrite(let reason): "cannot write: \(reason)"
        case .failed(let call, let message): "\(call): \(message)"
        case .needsSeeking: "an MP4 file cannot be written to a pipe: choose fragmented MP4 or MPEG-TS"
        case .malformedFormat(let reason): "the track's configuration cannot be read: \(reason)"
        case .formatChanged(let what): "\(what) changed within the stream: begin a new file"
        }
    }
}
