internal import Glibc

/// A call of the kernel about a file that failed.
public struct FileFailure: Error, Equatable, Sendable, CustomStringConvertible {
    public var call: String
    public var path: String
    /// errno.
    public var number: CInt

    public init(call: String, path: String, number: CInt) {
        self.call = call
        self.path = path
        self.number = number
    }

    /// A file that was to be new has a name that is taken.
    public var isThere: Bool { number == EEXIST }

    /// Nothing has that name.
    public var isMissing: Bool { number == ENOENT }

    /// Why, without the path.
    public var reason: String {
        isThere ? "there is a file of that name already" : SystemMessage.text(number)
    }

    public var description: String { "\(path): \(call): \(reason)" }
}
