import Console
import FoundationEssentials
import Glibc
import Platform

/// Secrets come from a file, from standard input, or from a person who types unseen: never from an argument, which
/// everybody on the machine can read.
enum Secret {
    private static let maximumBytes = 4096

    /// From a file, or from standard input for `-`; nil when none is named. One line feed at the end is an editor's.
    static func given(file: String?) throws(CommandFailure) -> String? {
        guard let file else { return nil }
        let data: Data?
        if file == "-" {
            data = try? FileHandleReader.readAll(STDIN_FILENO, limit: maximumBytes)
        } else {
            data = try? Data(contentsOf: URL(filePath: file))
        }
        guard var data, data.count <= maximumBytes else {
            throw CommandFailure(
                what: "the secret cannot be read", why: "\(file) is missing, not readable, or longer than 4096 bytes",
                hint: "check the file and its permissions", status: .usage)
        }
        if data.last == UInt8(ascii: "\n") { data.removeLast() }
        guard !data.isEmpty, let text = String(validating: data, as: UTF8.self) else {
            throw CommandFailure(
                what: "the secret cannot be used", why: "\(file) is empty, or is not UTF-8 text",
                hint: "write the secret into it, and nothing else", status: .usage)
        }
        return text
    }

    /// When a user is named: from the file, or asked for on a terminal.
    ///
    /// - Parameter mayKeep: nothing typed is nil, for a password that is stored already, instead of an error.
    static func forUser(
        _ user: String?, file: String?, of what: String, mayKeep: Bool = false
    ) throws(CommandFailure) -> String? {
        if let given = try given(file: file) { return given }
        guard let user, !user.isEmpty, isatty(STDIN_FILENO) == 1 else { return nil }
        guard mayKeep else { return try typed("Password of \(what)") }
        return try answer("Password of \(what), or nothing to keep the one that is stored")
    }

    /// Asks on the terminal, showing nothing.
    ///
    /// - Parameter kept: what is said when nothing is typed.
    static func typed(
        _ prompt: String, kept: String = "nothing was changed", hint: String = "run it again"
    ) throws(CommandFailure) -> String {
        guard let line = try answer(prompt) else {
            throw CommandFailure(what: kept, why: "nothing was typed", hint: hint, status: .abortedByUser)
        }
        return line
    }

    /// Nil when nothing was typed. The terminal shows again what is typed, however this ends.
    private static func answer(_ prompt: String) throws(CommandFailure) -> String? {
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure(
                what: "the secret cannot be asked for", why: "standard input is not a terminal",
                hint: "name a file that holds the secret, or - for standard input", status: .usage)
        }
        var before = termios()
        guard tcgetattr(STDIN_FILENO, &before) == 0 else {
            throw CommandFailure(
                what: "the terminal cannot be silenced", why: SystemMessage.text(errno),
                hint: "name a file that holds the secret", status: .failed)
        }
        let visible = before
        // Whoever ends the command at the prompt must not be left with a terminal that shows nothing.
        let signals = SignalWatch {
            var visible = visible
            tcsetattr(STDIN_FILENO, TCSANOW, &visible)
            StandardError.writeLine("")
            _exit(128 + SIGINT)
        }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
            StandardError.writeLine("")
            signals.cancel()
            for number in signals.numbers { signal(number, SIG_DFL) }
        }
        StandardError.write("\(prompt) (hidden): ")
        guard let line = readLine(strippingNewline: true), !line.isEmpty else { return nil }
        guard line.utf8.count <= maximumBytes else {
            throw CommandFailure(
                what: "the secret cannot be used", why: "it is longer than \(maximumBytes) bytes",
                hint: "check what was pasted", status: .usage)
        }
        return line
    }
}

/// Asks before something is lost.
enum Question {
    /// - Throws: exit status 10 unless somebody says yes.
    static func confirm(_ text: String, flag: String, isConfirmed: Bool) throws(CommandFailure) {
        if isConfirmed { return }
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure(
                what: "nothing was changed", why: "there is no terminal to ask at, and this cannot be undone",
                hint: "add \(flag)", status: .abortedByUser)
        }
        StandardError.write("\(text) [y/N] ")
        let answer = readLine() ?? ""
        guard ["y", "yes"].contains(answer.lowercased()) else {
            throw CommandFailure(
                what: "nothing was changed", why: "the answer was no", hint: "add \(flag) to skip the question",
                status: .abortedByUser)
        }
    }
}

/// Reads a descriptor to its end, up to a limit.
enum FileHandleReader {
    static func readAll(_ descriptor: CInt, limit: Int) throws -> Data {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 4096)
        while data.count <= limit {
            let count = read(descriptor, &buffer, buffer.count)
            if count == 0 { return data }
            if count < 0 {
                if errno == EINTR { continue }
                throw CommandFailure(
                    what: "standard input cannot be read", why: SystemMessage.text(errno),
                    hint: "name a file", status: .failed)
            }
            data.append(contentsOf: buffer[..<count])
        }
        return data
    }
}
