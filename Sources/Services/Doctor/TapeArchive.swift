/// A tar archive as POSIX.1-1988 has it (`ustar`): regular files only, owned by root, mode 0600, without a library.
public struct TapeArchive: Sendable {
    public struct NameError: Error, Equatable {
        public var name: String
    }

    private static let block = 512
    private var bytes: [UInt8] = []

    public init() {}

    /// - Parameters:
    ///   - name: 1 to 100 bytes of a relative path without `..`.
    ///   - time: seconds since 1970.
    public mutating func add(_ name: String, _ content: [UInt8], time: Int64) throws(NameError) {
        let isPath = name.split(separator: "/", omittingEmptySubsequences: false).allSatisfy {
            !["", ".", ".."].contains($0)
        }
        guard (1...100).contains(name.utf8.count), isPath, !name.utf8.contains(0) else { throw NameError(name: name) }
        var header = [UInt8](repeating: 0, count: Self.block)
        func put(_ text: String, at offset: Int) {
            for (index, byte) in text.utf8.enumerated() { header[offset + index] = byte }
        }
        put(name, at: 0)
        put(Self.octal(0o600, digits: 7), at: 100)
        put(Self.octal(0, digits: 7), at: 108)
        put(Self.octal(0, digits: 7), at: 116)
        put(Self.octal(Int64(content.count), digits: 11), at: 124)
        put(Self.octal(min(max(0, time), 0o77777777777), digits: 11), at: 136)
        put("        ", at: 148)
        put("0", at: 156)
        put("ustar", at: 257)
        put("00", at: 263)
        put("root", at: 265)
        put("root", at: 297)
        let sum = header.reduce(Int64(0)) { $0 + Int64($1) }
        put(Self.octal(sum, digits: 6) + "\0 ", at: 148)
        bytes += header
        bytes += content
        bytes += [UInt8](repeating: 0, count: (Self.block - content.count % Self.block) % Self.block)
    }

    /// With the two empty blocks at its end.
    public var data: [UInt8] { bytes + [UInt8](repeating: 0, count: 2 * Self.block) }

    private static func octal(_ value: Int64, digits: Int) -> String {
        let text = String(value, radix: 8)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
