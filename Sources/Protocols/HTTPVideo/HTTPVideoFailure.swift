public import RTSP

/// Why frames over HTTP ended, or did not come about. Texts that come from the camera are cut and made printable; no
/// address, user or password is in here.
public enum HTTPVideoFailure: Error, Equatable, Sendable {
    /// What a session over RTSP can end with as well.
    case session(RTSPFailure)
    /// The first bytes are of another protocol.
    case notHTTP
    /// The answer is neither a stream of JPEG images nor a frame.
    ///
    /// - Parameters:
    ///   - type: its Content-Type; empty when it names none.
    ///   - isPage: of a web page, or of an error that is written as one.
    case noFrames(type: String, isPage: Bool)
    /// More redirects than are followed.
    case tooManyRedirects(limit: Int)
}

extension HTTPVideoFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .session(let failure): "\(failure)"
        case .notHTTP: "what answers there is not HTTP"
        case .noFrames(let type, let isPage):
            isPage
                ? "the address answers with a web page (\(type.isEmpty ? "text" : type)) and not with frames"
                : "the address answers with \(type.isEmpty ? "something unknown" : type), "
                    + "and neither with a stream of JPEG images nor with a frame"
        case .tooManyRedirects(let limit): "the camera redirects more than \(limit) times"
        }
    }
}
