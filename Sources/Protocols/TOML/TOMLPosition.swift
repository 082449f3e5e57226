/// A place in a document.
public struct TOMLPosition: Hashable, Comparable, Sendable {
    /// From 1.
    public var line: Int
    /// From 1, in Unicode scalars.
    public var column: Int

    public static func < (one: TOMLPosition, other: TOMLPosition) -> Bool {
        (one.line, one.column) < (other.line, other.column)
    }
}
