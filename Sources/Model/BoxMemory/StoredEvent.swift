/// Something that happened, for the event ring.
public struct StoredEvent: Codable, Equatable, Sendable {
    /// Given when it is stored, and never twice; 0 before.
    public var id: Int64
    /// Unix time.
    public var realtimeMicroseconds: Int64
    /// Such as `camera.state`: lower-case letters, digits, `.`, `-`; at most 64.
    public var topic: String
    /// Of the error catalog, such as `WB-2107`.
    public var code: String?
    /// What it is about, such as `camera/front`.
    public var object: String?
    /// For people: control characters are replaced, and more than 2048 characters are cut.
    public var text: String
    /// One JSON object, at most 16 KiB.
    public var details: String?

    public init(
        id: Int64 = 0, realtimeMicroseconds: Int64, topic: String, code: String? = nil, object: String? = nil,
        text: String, details: String? = nil
    ) {
        self.id = id
        self.realtimeMicroseconds = realtimeMicroseconds
        self.topic = topic
        self.code = code
        self.object = object
        self.text = text
        self.details = details
    }
}
