internal import AMF0
internal import Wire

/// The relays of ours that a stream has come through. It travels in `connect`, so that relays which forward to each
/// other in a circle notice. Others ignore it.
public struct RelayChain: Equatable, Sendable {
    /// A stream that has come through so many goes no further.
    public static let maxLength = 3
    static let property = "watchboxRelays"
    /// Hexadecimal digits of an identifier.
    private static let digits = 16

    public private(set) var relays: [String] = []
    /// It said something that no relay of ours says, or more than may be: such a stream is not forwarded.
    private var isUnreadable = false

    public init() {}

    /// - Parameter value: of the property in a client's `connect`.
    init(_ value: AMF0Value?) {
        guard let value else { return }
        guard let text = value.stringValue, text.utf8.count <= Self.maxLength * (Self.digits + 1) else {
            isUnreadable = true
            return
        }
        let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        isUnreadable = !names.allSatisfy { Hexadecimal.isLower($0, count: Self.digits) }
        relays = isUnreadable ? [] : names
    }

    /// It may be handed on to one more relay.
    public var mayGoOn: Bool { !isUnreadable && relays.count < Self.maxLength }

    /// - Parameter relay: 16 hexadecimal digits.
    public func adding(_ relay: String) -> RelayChain {
        var chain = self
        chain.relays.append(relay)
        return chain
    }

    var text: String { relays.joined(separator: ",") }
}
