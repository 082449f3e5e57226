public import ErrorCatalog
internal import Glibc
internal import Platform

/// The operator's files. Read only; no WatchBox program writes there.
public enum ConfigurationFiles {
    /// Bytes of one file.
    public static let sizeLimit = 256 << 10
    public static let countLimit = 64

    /// `watchbox.toml`, then `conf.d/*.toml` by name; empty when there is none of them.
    ///
    /// - Throws: WB-1001 with the file and the reason. A file that is a link, a pipe or a device is refused; the
    ///   directories may be links.
    public static func read(directory: String = "/etc/watchbox") throws(CodedError) -> [SourceFile] {
        var files: [SourceFile] = []
        if let text = try read(directory, "watchbox.toml", mayBeAbsent: true) {
            files.append(SourceFile(name: "watchbox.toml", text: text))
        }
        for name in try names(in: "\(directory)/conf.d") {
            guard files.count < countLimit else {
                throw fault(
                    "conf.d", "holds too many files", why: "At most \(countLimit) are read", hint: "Join some of them")
            }
            // It was listed, so that its absence now comes from editing: the read fails, and is tried again.
            if let text = try read(directory, "conf.d/\(name)", mayBeAbsent: false) {
                files.append(SourceFile(name: "conf.d/\(name)", text: text))
            }
        }
        return files
    }

    private static func names(in directory: String) throws(CodedError) -> [String] {
        guard let stream = opendir(directory) else {
            if errno == ENOENT { return [] }
            throw fault(
                "conf.d", "cannot be listed", why: SystemMessage.text(errno),
                hint: "Check its permissions: sudo ls -ld \(directory)")
        }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = Glibc.readdir(stream) else {
                guard errno == 0 else {
                    throw fault("conf.d", "cannot be listed", why: SystemMessage.text(errno), hint: nil)
                }
                return names.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let name else {
                throw fault("conf.d", "holds a file whose name is not UTF-8", why: nil, hint: "Rename it")
            }
            guard name.hasSuffix(".toml"), !name.hasPrefix(".") else { continue }
            names.append(name)
            guard names.count <= countLimit else {
                throw fault(
                    "conf.d", "holds too many files", why: "At most \(countLimit) are read", hint: "Join some of them")
            }
        }
    }

    private static func read(
        _ directory: String, _ name: String, mayBeAbsent: Bool
    ) throws(CodedError) -> String? {
        // O_NONBLOCK: opening a pipe would wait for its other end.
        let descriptor = open("\(directory)/\(name)", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else {
            let code = errno
            if mayBeAbsent, code == ENOENT { return nil }
            if code == ELOOP {
                throw fault(name, "is a link", why: "Links are not followed", hint: "Put the file itself there")
            }
            throw fault(name, "cannot be opened", why: SystemMessage.text(code), hint: nil)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw fault(name, "cannot be read", why: SystemMessage.text(errno), hint: nil)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw fault(name, "is not a file", why: nil, hint: "Put a file there, or take it away")
        }
        let bytes = try contents(descriptor, name)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw fault(name, "is not UTF-8 in line \(lineOfFirstInvalid(bytes))", why: nil, hint: "Save it as UTF-8")
        }
        return text
    }

    private static func contents(_ descriptor: CInt, _ name: String) throws(CodedError) -> [UInt8] {
        do throws(SmallFile.Failure) {
            return try WholeFile.read(descriptor, limit: sizeLimit)
        } catch .tooLong {
            throw fault(
                name, "is longer than 256 KiB", why: nil, hint: "Shorten it, or split it into files in conf.d")
        } catch {
            throw fault(name, "cannot be read", why: "\(error)", hint: nil)
        }
    }

    /// The first line that is not UTF-8, from 1.
    static func lineOfFirstInvalid(_ bytes: [UInt8]) -> Int {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return 1 + (lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0)
    }

    private static func fault(_ name: String, _ what: String, why: String?, hint: String?) -> CodedError {
        CodedError(
            .unreadableFile, "\(KeyText.shownFile(name)) \(what)", why: why, hint: hint, object: KeyText.shownFile(name)
        )
    }
}
