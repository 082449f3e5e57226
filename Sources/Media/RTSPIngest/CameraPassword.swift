internal import ErrorCatalog
internal import Platform

/// A camera's password as its file holds it: one line.
enum CameraPassword {
    static let maxFileSize = 4096

    /// - Throws: why it cannot be read, without any part of it.
    static func read(_ path: String) throws(PullFault) -> String {
        guard let bytes = try? SmallFile.whole(path, limit: maxFileSize) else {
            throw PullFault(
                .loginNeeded,
                "the file with the camera's password cannot be read, or is longer than \(maxFileSize) bytes",
                hint: "Run: watchboxctl camera password ID", ending: .person)
        }
        var line = bytes[...]
        if line.last == UInt8(ascii: "\n") { line.removeLast() }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard !line.contains(UInt8(ascii: "\n")), !line.contains(0) else {
            throw PullFault(
                .loginNeeded, "the file with the camera's password holds more than one line",
                hint: "Run: watchboxctl camera password ID", ending: .person)
        }
        guard let text = String(validating: line, as: UTF8.self) else {
            throw PullFault(
                .loginNeeded, "the camera's password is not UTF-8", hint: "Run: watchboxctl camera password ID",
                ending: .person)
        }
        return text
    }
}
