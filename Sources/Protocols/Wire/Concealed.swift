/// A value that holds a secret, or what may be one: `description` says what it is, and no other textual form, neither of
/// `String(reflecting:)` nor of `dump`, says more.
public protocol Concealed: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Concealed {
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
