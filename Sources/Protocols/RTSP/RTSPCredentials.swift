public import Wire

/// A camera's user and password, as a person types them. Its textual forms show neither.
public struct RTSPCredentials: Equatable, Sendable {
    public let user: String
    public let password: String

    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}

extension RTSPCredentials: Concealed {
    public var description: String { "RTSPCredentials(***)" }
}
