internal import ControlAPI
internal import Synchronization

/// Events out of a streamed answer, one at a time, for one reader.
final class EventReader: Sendable {
    private struct State {
        var parser = ServerEventParser()
        var ready: [ServerEvent] = []
    }

    private let bytes: AsyncThrowingStream<[UInt8], any Error>
    private let state = Mutex(State())

    init(_ bytes: AsyncThrowingStream<[UInt8], any Error>) {
        self.bytes = bytes
    }

    func next() async throws -> ServerEvent? {
        while true {
            if let event = state.withLock({ $0.ready.isEmpty ? nil : $0.ready.removeFirst() }) { return event }
            var iterator = bytes.makeAsyncIterator()
            guard let chunk = try await iterator.next(isolation: nil) else { return nil }
            try state.withLock { state in
                do throws(ServerEventParser.Failure) {
                    state.ready = try state.parser.received(chunk)
                } catch .tooLong(let limit) {
                    throw ControlClientError.invalidAnswer(path: nil, why: "an event is longer than \(limit) bytes")
                }
            }
        }
    }
}
