public import RTSP

/// Why pictures over HTTP ended, or did not come about. Texts that come from the camera are cut and made printable; no
/// address, user or password is in here.
public enum HTTPVideoFailure: Error, Equatable, Sendable {
    /// What a session over RTSP can end with as well.
    case session(RTSPFailure)
    /// The first bytes are of another protocol.
    case notHTTP
    /// The answer is neither a stream of JPEG pictures nor a picture.
    ///
    /// - Parameters:
    ///   - type: its Content-Type; empty when it names none.
    ///   - isPage: of a web page, or of an error that is written as one.
    case noPictures(type: String, isPage: Bool)
    /// More redirects than are followed.
    case tooManyRedirects(limit: Int)
}

extension HTTPVideoFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .session(let failure): "\(failure)"
        case .notHTTP: "what answers there is not HTTP"
        case .noPictures(let type, let isPage):
            isPage
                ? "the address answers with a web page (\(type.isEmpty ? "text" : type)) and not with pictures"
                : "the address answers with \(type.isEmpty ? "something unknown" : type), "
                    + "and neither with a stream of JPEG pictures nor with a picture"
        case .tooManyRedirects(let limit): "the camera sends on more than \(limit) times"
        }
    }
}
