internal import Glibc

/// What a directory holds.
public enum Directory {
    /// All names but "." and "..", sorted.
    ///
    /// - Parameters:
    ///   - descriptor: of the directory; stays open, and where it stands.
    ///   - path: for errors.
    public static func names(of descriptor: CInt, path: String) throws(FileFailure) -> [String] {
        // A descriptor of its own: the listing moves its position, and closes it.
        let again = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard again >= 0 else { throw FileFailure(call: "open", path: path, number: errno) }
        guard let listing = fdopendir(again) else {
            let number = errno
            close(again)
            throw FileFailure(call: "fdopendir", path: path, number: number)
        }
        defer { closedir(listing) }
        return names(of: listing, most: .max)
    }

    /// At most 4096 names but "." and "..", sorted.
    public static func names(in path: String) throws(FileFailure) -> [String] {
        guard let listing = opendir(path) else { throw FileFailure(call: "opendir", path: path, number: errno) }
        defer { closedir(listing) }
        return names(of: listing, most: 4096)
    }

    private static func names(of listing: OpaquePointer, most: Int) -> [String] {
        var names: [String] = []
        while names.count < most, let entry = readdir(listing) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
