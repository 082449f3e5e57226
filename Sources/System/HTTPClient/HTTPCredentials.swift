public import Wire

/// A user name and a password for a server that asks for them.
public struct HTTPCredentials: Equatable, Sendable {
    public var user: String
    public var password: String

    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}

extension HTTPCredentials: Concealed {
    /// Neither of both.
    public var description: String { "(credentials)" }
}
