/// A camera's user and password, as a person types them. Its textual forms show neither.
public struct RTSPCredentials: Equatable, Sendable {
    public let user: String
    public let password: String

    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}

extension RTSPCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "RTSPCredentials(***)" }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["credentials": "***"]) }
}
