public import Wire

/// What a refused connection taught for the next one to the same server. Begin with the default; hand on what
/// `RTMPSessionError.continueOnNewConnection` carries. Each step can be taken once, so the chain ends.
public struct ConnectHints: Equatable, Sendable {
    enum AuthenticationStep: Equatable, Sendable {
        case none
        /// Appended to `app` and `tcUrl`.
        case user(query: String)
        case response(query: String)
    }

    var authentication = AuthenticationStep.none
    /// Cleared after a server broke on `fourCcList` (HaishinKit/HaishinKit.swift#1486).
    var announcesFourCCs = true

    public init() {}

    /// `text` (an app or a tcUrl) with the query of the authentication step.
    func appended(to text: String) -> String {
        switch authentication {
        case .none: text
        case .user(let query), .response(let query): text + (text.contains("?") ? "&" : "?") + query
        }
    }

    /// The hints for the next connection after a refused `connect`; an error when there is no next step.
    func after(
        _ demand: AdobeAuthentication.Demand, credentials: RTMPURL.Credentials?, clientChallenge: String,
        digests: RTMPDigests
    ) -> Result<ConnectHints, RTMPSessionError> {
        var next = self
        switch (demand, authentication) {
        case (.failed, _), (_, .response):
            return .failure(.authenticationFailed(code: "authfailed"))
        case (.user, .user):
            return .failure(.authenticationFailed(code: "needauth"))
        case (.user, .none):
            guard let credentials else { return .failure(.authenticationFailed(code: "needauth")) }
            next.authentication = .user(query: AdobeAuthentication.userQuery(credentials))
        case (.response(let challenge), .none), (.response(let challenge), .user):
            guard let credentials else { return .failure(.authenticationFailed(code: "needauth")) }
            next.authentication = .response(
                query: AdobeAuthentication.responseQuery(
                    challenge, credentials: credentials, clientChallenge: clientChallenge, digests: digests))
        }
        return .success(next)
    }
}

extension ConnectHints: Concealed {
    public var description: String {
        let step =
            switch authentication {
            case .none: "no authentication"
            case .user: "authentication: user"
            case .response: "authentication: response"
            }
        return announcesFourCCs ? step : step + ", no fourCcList"
    }
}
