internal import ControlAPI
internal import Glibc
internal import Platform

/// `ladder.json`.
struct LadderFile: Sendable {
    struct Loaded: Equatable, Sendable {
        var state: LadderState
        /// What was wrong with the file: then nothing is known of earlier steps. Nil when it was fine, or when there
        /// was none.
        var trouble: String?
    }

    typealias Failure = FileFailure

    let directory: String
    private var path: String { "\(directory)/ladder.json" }

    private static let maxBytes = 256 << 10

    init(directory: String) {
        self.directory = directory
    }

    func load() -> Loaded {
        let bytes: [UInt8]
        do throws(SmallFile.Failure) {
            bytes = try SmallFile.read(path, atMost: Self.maxBytes)
        } catch .missing {
            return Loaded(state: LadderState())
        } catch {
            return Loaded(
                state: LadderState(), trouble: "\(path) cannot be read: \(error); larger steps wait for their budget")
        }
        if let state = try? JSONDocument.decode(LadderState.self, from: bytes), state.isValid {
            return Loaded(state: state)
        }
        // Kept for whoever wants to know why; one is enough.
        _ = rename(path, "\(path).damaged")
        return Loaded(
            state: LadderState(),
            trouble: "\(path) was damaged and moved to ladder.json.damaged; larger steps wait for their budget")
    }

    func save(_ state: LadderState) throws(Failure) {
        try DurableFile.replace(path, with: JSONDocument.bytes(state))
    }
}
