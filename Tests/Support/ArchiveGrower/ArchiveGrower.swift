import Archive
import Glibc
import NanoTDF
import TDF

/// Records archives, one after the other, until it is killed: for the test of that.
///
/// Arguments: the directory, a PEM text of the KAS's key, and the sequence of the first. After each flush that returned, and after
/// each end, a line on standard output says what is safe: sequence and segments.
@main struct ArchiveGrower {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let first = UInt64(arguments[3]) else { exit(2) }
        do {
            let recipient = TDFRecipient(url: "https://kas.example.net/kas", publicKeyPEM: arguments[2])
            for sequence in first... {
                let archive = try GrowingArchive(
                    RecordingName.stem(sequence), in: arguments[1], recipient: recipient,
                    policy: PlaintextPolicy(stream: "door"), begin: 0)
                for index in 0..<GrownContent.count {
                    try archive.append(GrownContent.segment(index, of: sequence)[...], milliseconds: 1000)
                    guard index % 3 == 2 else { continue }
                    try archive.flush()
                    say("\(sequence) \(index + 1)")
                }
                _ = try archive.end {
                    RecordingName(sequence: sequence, begin: $0, duration: $1).fileName
                }
                say("\(sequence) \(GrownContent.count)")
            }
        } catch {
            say("\(error)")
            exit(1)
        }
    }

    /// One call of `write`, past all buffers: what was said was said before the kill.
    private static func say(_ text: String) {
        let line = Array("\(text)\n".utf8)
        guard write(STDOUT_FILENO, line, line.count) == line.count else { exit(3) }
    }
}
