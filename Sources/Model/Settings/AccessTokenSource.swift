internal import Synchronization
public import Wire

/// Where the bearer token comes from.
public enum AccessTokenSource: Equatable, Sendable {
    /// Requests go without: for a KAS that asks for none.
    case none
    /// Read when it is first needed, and again whenever the file changed: tokens expire.
    case file(String)
    case value(String)
    /// From a file until a newer one is provided: a unit's credentials stay as they were when it was started.
    case held(HeldAccessToken)
}

/// A token that is replaced while the process runs.
public final class HeldAccessToken: Equatable, Sendable {
    /// Read until there is a newer token.
    public let file: String
    private let held = Mutex<String?>(nil)

    /// - Parameter file: read until there is a newer token.
    public init(file: String) {
        self.file = file
    }

    /// Brought while the process runs; nil until then. Who sets it has checked it.
    package var newer: String? {
        get { held.withLock { $0 } }
        set { held.withLock { $0 = newValue } }
    }

    public static func == (left: HeldAccessToken, right: HeldAccessToken) -> Bool { left === right }
}

extension AccessTokenSource: Concealed {
    public var description: String {
        switch self {
        case .none: "no token"
        case .file(let path): "token from \(path)"
        case .value: "token given"
        case .held: "token given, replaced while the process runs"
        }
    }
}
