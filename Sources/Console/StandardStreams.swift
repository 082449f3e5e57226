internal import FoundationEssentials
internal import Glibc

/// What a program has to say: results only.
public enum StandardOutput {
    /// Writes the text and a line feed, at once.
    public static func writeLine(_ text: String) {
        writeAll(text + "\n", to: STDOUT_FILENO)
    }

    /// Writes the value as one line of JSON with sorted keys, at once.
    public static func writeJSON(_ value: some Encodable) {
        writeLine(JSONLine.text(value))
    }
}

/// JSON that fits on one line.
public enum JSONLine {
    /// With sorted keys. A value that JSON cannot hold (a number that is none) becomes an empty object.
    public static func text(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { return "{}" }
        return String(decoding: data, as: UTF8.self)
    }
}

/// What a person should read beside the result.
public enum StandardError {
    public static func write(_ text: String) {
        writeAll(text, to: STDERR_FILENO)
    }

    public static func writeLine(_ text: String) {
        writeAll(text + "\n", to: STDERR_FILENO)
    }
}

/// Writes all of it, whatever `write` takes at a time; gives up when the other end is gone.
private func writeAll(_ text: String, to descriptor: CInt) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
        let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        if written > 0 {
            bytes = bytes.dropFirst(written)
        } else if written < 0, errno == EINTR || errno == EAGAIN {
            continue
        } else {
            return
        }
    }
}

extension String {
    /// For a terminal: control characters of names and remote texts are shown, not obeyed.
    public var terminalSafe: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.flatMap { scalar -> [Unicode.Scalar] in
                    let isControl =
                        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
                        || (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
                    return isControl && scalar != "\n" && scalar != "\t"
                        ? Array("\\u{\(String(scalar.value, radix: 16))}".unicodeScalars) : [scalar]
                }))
    }
}
