import BoxMemory
import Glibc

/// Writes to a memory until it is killed, or until it cannot: for the tests of power cuts and full disks.
///
/// Arguments: the path of the memory, the first step to make, and the last. After each step that returned, its number is
/// written to standard output. When a step fails, its error follows and the exit status is 1.
@main struct MemoryWriter {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let first = Int(arguments[2]), let last = Int(arguments[3]), first <= last else {
            exit(2)
        }
        do {
            let memory = try BoxMemory(path: arguments[1])
            for number in first...last {
                try MemoryHistory.perform(number, on: memory)
                say("\(number)")
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
