internal import FoundationEssentials
internal import Glibc
internal import Platform
internal import Synchronization
internal import Wire

/// What a program has to say: results only.
public enum StandardOutput {
    /// Writes the text and a line feed, at once.
    public static func writeLine(_ text: String) {
        writeAll(text + "\n", to: STDOUT_FILENO)
    }

    /// Writes the text as it is, at once.
    public static func write(_ text: String) {
        writeAll(text, to: STDOUT_FILENO)
    }

    /// Writes the bytes as they are, at once.
    public static func write(_ bytes: ArraySlice<UInt8>) {
        writeAll(bytes, to: STDOUT_FILENO)
    }

    /// Takes everything off a terminal; elsewhere an empty line stands between one screen and the next.
    public static func clear() {
        writeAll(isatty(STDOUT_FILENO) == 1 ? "\u{1B}[H\u{1B}[2J" : "\n", to: STDOUT_FILENO)
    }

    /// Writes the value as one line of JSON with sorted keys, at once.
    public static func writeJSON(_ value: some Encodable) {
        writeLine(JSONLine.text(value))
    }
}

/// JSON that fits on one line.
public enum JSONLine {
    /// With sorted keys. A value that JSON cannot hold (NaN, infinity) becomes an empty object.
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

/// What a command prints is what it is for; a daemon goes on without a reader.
let isOutputTheResult = Atomic(false)

/// Writes all of it, whatever `write` takes at a time. A command whose output cannot be written says so and ends; a reader
/// that went away (`| head`) ends it silently, as a shell expects.
private func writeAll(_ text: String, to descriptor: CInt) {
    writeAll(Array(text.utf8)[...], to: descriptor)
}

private func writeAll(_ bytes: ArraySlice<UInt8>, to descriptor: CInt) {
    var bytes = bytes
    while !bytes.isEmpty {
        let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        if written > 0 {
            bytes = bytes.dropFirst(written)
            continue
        }
        let reason = errno
        switch reason {
        case EINTR: continue
        case EAGAIN:
            var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            poll(&waiting, 1, 1000)
        default:
            // With no reader there is nothing to say on standard error either.
            guard descriptor == STDOUT_FILENO, isOutputTheResult.load(ordering: .relaxed) else { return }
            if reason != EPIPE {
                writeAll("error: standard output: \(SystemMessage.text(reason))\n", to: STDERR_FILENO)
            }
            _exit(reason == EPIPE ? 128 + SIGPIPE : ExitStatus.failed.rawValue)
        }
    }
}

extension String {
    /// For a terminal: control characters of names and remote texts are shown, not obeyed.
    public var terminalSafe: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.flatMap { scalar -> [Unicode.Scalar] in
                    ShownText.isPrintable(scalar) || scalar == "\n" || scalar == "\t"
                        ? [scalar] : Array("\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
                }))
    }
}
