/// What a decoder accepts before it refuses. Each bound holds before memory is allocated for it.
public struct AMF0Limits: Equatable, Sendable {
    /// Containers within containers.
    public var depth: Int
    /// Entries of one object or array.
    public var entriesPerContainer: Int
    /// Entries of all containers together.
    public var entries: Int
    /// Encoded size of all values together.
    public var bytes: Int

    /// RTMP commands (types 17 and 20).
    public static let command = AMF0Limits(depth: 16, entriesPerContainer: 256, entries: 4096, bytes: 64 << 10)
    /// RTMP data messages (types 15 and 18).
    public static let data = AMF0Limits(depth: 16, entriesPerContainer: 256, entries: 4096, bytes: 256 << 10)
    /// Script tags of files: an index of key frames has two entries for each of them.
    public static let file = AMF0Limits(depth: 16, entriesPerContainer: 1 << 16, entries: 1 << 17, bytes: 2 << 20)
}
