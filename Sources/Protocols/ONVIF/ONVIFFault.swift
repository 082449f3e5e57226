/// A SOAP fault, of version 1.1 or 1.2, as a device answered it.
public struct ONVIFFault: Error, Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        /// No login, a wrong one, or one whose time is off.
        case notAuthorized
        /// The login is right, and this user must not.
        case forbidden
        /// The device does not know this operation, or has not that feature.
        case actionNotSupported
        /// A subscription that is gone.
        case resourceUnknown
        /// A profile, preset or configuration token that is unknown, or a value that the device does not take.
        case invalidArgument
        /// The device cannot now: busy, out of memory, no more subscriptions.
        case busy
        case other
    }

    public var kind: Kind
    /// The last (most precise) subcode's local name; empty when there is none.
    public var subcode: String
    /// The device's own text, shortened to 128 printable characters.
    public var reason: String

    public init(kind: Kind, subcode: String = "", reason: String = "") {
        self.kind = kind
        self.subcode = subcode
        self.reason = reason
    }
}
