public import ErrorCatalog

/// `application/problem+json` (RFC 9457), with our code and the next step.
public struct Problem: Error, Codable, Equatable, Sendable {
    public var status: Int
    /// The catalog's title.
    public var title: String
    /// What happened in this case, and why.
    public var detail: String
    public var code: ErrorCode
    /// One command, or one sentence.
    public var hint: String
    /// The camera, relay or file that it is about.
    public var object: String?

    public init(status: Int, title: String, detail: String, code: ErrorCode, hint: String, object: String? = nil) {
        self.status = status
        self.title = title
        self.detail = detail
        self.code = code
        self.hint = hint
        self.object = object
    }

    public init(_ error: CodedError) {
        self.init(
            status: Self.status(of: error.code), title: error.code.entry?.title ?? "Something went wrong",
            detail: error.why.map { "\(error.what): \($0)" } ?? error.what, code: error.code,
            hint: error.hint ?? error.code.entry?.hint ?? "Read the log: watchboxctl logs", object: error.object)
    }

    public var response: APIResponse {
        APIResponse(status: status, body: .json(JSONDocument.bytes(self)))
    }

    /// HTTP's view of a code.
    static func status(of code: ErrorCode) -> Int {
        switch code {
        case .notPermitted: 403
        case .notFound, .noSuchGeneration: 404
        case .exists, .busy, .definedInFile, .incompleteCamera, .inUse, .discoveryRunning,
            .objectQuarantined:
            409
        case .conflict: 412
        case .unreadableFile, .invalidSyntax, .unknownKey, .invalidValue, .missingSecret, .unsupportedSource,
            .scanTooLarge:
            422
        case .badRequest: 400
        case .tooMuch: 429
        case .relayUnreachable, .keyAccessUnreachable, .noFrames, .unreachable, .cameraUnreachable,
            .cameraTimeout:
            504
        case .relayRefused, .relayRedirects, .keyAccessRefused, .certificateRefused, .notRTSP, .loginNeeded,
            .loginUnsupported,
            .accessForbidden, .loginRefused, .noSuchStream, .cameraBusy, .transportRefused, .unsupportedCodec,
            .noKeyFrame, .streamFrozen, .streamRedirected, .certificateChanged, .cameraProtocol, .identityNotProven,
            .cameraRefuses, .cameraCertificate:
            502
        default: 500
        }
    }
}
