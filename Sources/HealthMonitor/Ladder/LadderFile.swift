internal import ControlAPI
internal import Glibc
internal import Systemd

/// `ladder.json`: written anew each time, flushed, and only then put in place, so that a power cut leaves the old one or
/// the new one.
struct LadderFile: Sendable {
    struct Loaded: Equatable, Sendable {
        var state: LadderState
        /// What was wrong with the file: then nothing is known of earlier steps. Nil when it was fine, or when there was
        /// none.
        var trouble: String?
    }

    struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
        var call: String
        var path: String
        var number: Int32

        var description: String { "\(path): \(call): \(String(cString: strerror(number)))" }
    }

    let directory: String
    private var path: String { "\(directory)/ladder.json" }

    private static let mostBytes = 256 << 10

    init(directory: String) {
        self.directory = directory
    }

    func load() -> Loaded {
        let bytes: [UInt8]
        do throws(SmallFile.Failure) {
            bytes = try SmallFile.read(path, atMost: Self.mostBytes)
        } catch .missing {
            return Loaded(state: LadderState())
        } catch {
            return Loaded(
                state: LadderState(), trouble: "\(path) cannot be read: \(error); larger steps wait for their budget")
        }
        if let state = try? JSONDocument.decode(LadderState.self, from: bytes), state.isSound {
            return Loaded(state: state)
        }
        // Kept for whoever wants to know why; one is enough.
        _ = rename(path, "\(path).damaged")
        return Loaded(
            state: LadderState(),
            trouble: "\(path) was damaged and moved to ladder.json.damaged; larger steps wait for their budget")
    }

    func save(_ state: LadderState) throws(Failure) {
        let temporary = "\(path).new"
        let bytes = JSONDocument.bytes(state)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Failure(call: "open", path: temporary, number: errno) }
        do throws(Failure) {
            defer { close(descriptor) }
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    throw Failure(call: "write", path: temporary, number: count < 0 ? errno : ENOSPC)
                }
                rest = rest.dropFirst(count)
            }
            guard fsync(descriptor) == 0 else { throw Failure(call: "fsync", path: temporary, number: errno) }
        } catch {
            unlink(temporary)
            throw error
        }
        guard rename(temporary, path) == 0 else { throw Failure(call: "rename", path: path, number: errno) }
        let parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { throw Failure(call: "open", path: directory, number: errno) }
        defer { close(parent) }
        guard fsync(parent) == 0 else { throw Failure(call: "fsync", path: directory, number: errno) }
    }
}
