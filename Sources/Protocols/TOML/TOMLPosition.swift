/// A place in a document.
public struct TOMLPosition: Hashable, Comparable, Sendable {
    /// From 1.
    public var line: Int
    /// From 1, in Unicode scalars.
    public var column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    public static func < (one: TOMLPosition, other: TOMLPosition) -> Bool {
        (one.line, one.column) < (other.line, other.column)
    }
}
