/// What a camera saw or was notified of, as others act on it; the same for all makers.
public struct SensorEvent: Codable, Equatable, Sendable {
    public enum Kind: String, Codable, Sendable, CaseIterable {
        /// Something moves in the frame, or someone is in it.
        case motion
        /// The camera is covered, turned away or out of focus.
        case tamper
        /// A contact at the camera: a door, a button.
        case digitalInput
    }

    public var kind: Kind
    /// Whether it began (true) or ended (false); nil for one without duration.
    public var isActive: Bool?
    /// The camera's own name for what it comes from: a token of a video source or of an input, or a rule's name.
    public var source: String?

    public init(kind: Kind, isActive: Bool? = nil, source: String? = nil) {
        self.kind = kind
        self.isActive = isActive
        self.source = source
    }
}
