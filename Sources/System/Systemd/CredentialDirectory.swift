internal import CSystemd
internal import Glibc
internal import Platform
internal import Wire

/// The secrets that systemd unsealed for this process (`LoadCredential=`, `LoadCredentialEncrypted=`).
public struct CredentialDirectory: Sendable {
    /// `$CREDENTIALS_DIRECTORY` of this process, read once.
    public static let environment = CredentialDirectory(
        path: getenv("CREDENTIALS_DIRECTORY").map { String(cString: $0) })

    /// Bytes of the largest credential that is read.
    static let sizeLimit = 64 * 1024
    private static let countLimit = 1024

    private let path: String?

    /// - Parameter path: nil for a process without credentials.
    public init(path: String?) {
        self.path = path.flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    /// The credential's bytes; nil when there is none of that name.
    ///
    /// - Throws: `.invalid` for a name outside of `[A-Za-z0-9._@-]+` or more than 64 KiB, `.denied`, `.system`.
    public func read(_ name: String) throws(SystemdError) -> [UInt8]? {
        guard Self.isName(name) else { throw .invalid("credential name \"\(name.oneLine(limit: 64))\"") }
        guard let path else { return nil }
        let descriptor = open("\(path)/\(name)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw .failed("open", errno, "reading credential \(name)")
        }
        defer { close(descriptor) }
        var information = stat()
        guard fstat(descriptor, &information) == 0 else { throw .system(call: "fstat", errno: errno) }
        guard information.st_mode & S_IFMT == S_IFREG else { throw .invalid("credential \(name) is not a file") }
        do throws(SmallFile.Failure) {
            return try WholeFile.read(descriptor, limit: Self.sizeLimit)
        } catch .tooLong(let limit) {
            throw .invalid("credential \(name) is longer than \(limit) bytes")
        } catch {
            throw .failed("read", error.number, "reading credential \(name)")
        }
    }

    /// Where the credential is, for a library that wants a file; nil when there is no such file.
    public func path(_ name: String) -> String? {
        guard Self.isName(name), let path else { return nil }
        var information = stat()
        let file = "\(path)/\(name)"
        guard lstat(file, &information) == 0, information.st_mode & S_IFMT == S_IFREG else { return nil }
        return file
    }

    /// All names, sorted; at most 1024.
    public var names: [String] {
        guard let path else { return [] }
        return Array(SmallFile.names(in: path).lazy.filter { self.path($0) != nil }.prefix(Self.countLimit))
    }

    /// `[A-Za-z0-9._@-]{1,255}`, but not "." and "..".
    static func isName(_ name: String) -> Bool {
        Names.isPlain(name, limit: 255, signs: "._@-") && name != "." && name != ".."
    }
}

extension [UInt8] {
    /// Overwrites the bytes; the compiler does not leave it out. Only of use while no other array shares them.
    mutating func wipe() {
        withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { explicit_bzero(base, bytes.count) }
        }
    }
}
