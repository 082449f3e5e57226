internal import Glibc
internal import Platform

/// One address and port of a scan, and what is asked there.
struct ScanTarget: Equatable {
    var address: SocketAddress
    var question: DeviceQuestion
}

/// One connection of a scan, from the first packet to the result. Used by one thread.
final class ScanConnection {
    enum State {
        case connecting
        case reading
    }

    /// What has become of it.
    enum Outcome: Equatable {
        case pending
        /// Nothing answers there, or not in time.
        case closed
        case answered(DeviceQuestion.Verdict)
    }

    enum Start {
        case connection(ScanConnection)
        /// Nothing is there; known at once.
        case closed
        /// The system cannot ask now, or at all.
        case failed(errno: Int32)
    }

    let target: ScanTarget
    let descriptor: Int32
    private(set) var deadline: UInt64
    private let answerTime: UInt64
    private var state = State.connecting
    private var answer: [UInt8] = []

    private init(_ target: ScanTarget, _ descriptor: Int32, deadline: UInt64, answerTime: UInt64) {
        self.target = target
        self.descriptor = descriptor
        self.deadline = deadline
        self.answerTime = answerTime
    }

    deinit { close(descriptor) }

    static func start(_ target: ScanTarget, at now: UInt64, connectTime: UInt64, answerTime: UInt64) -> Start {
        let descriptor = socket(
            target.address.familyNumber,
            Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return .failed(errno: errno) }
        let connection = ScanConnection(target, descriptor, deadline: now + connectTime, answerTime: answerTime)
        let result = target.address.withPointer { connect(descriptor, $0, $1) }
        if result == 0 || errno == EINPROGRESS { return .connection(connection) }
        switch errno {
        case ECONNREFUSED, ECONNRESET, ETIMEDOUT, EHOSTUNREACH, EHOSTDOWN: return .closed
        default: return .failed(errno: errno)
        }
    }

    /// What `poll` should wait for.
    var events: Int16 {
        switch state {
        case .connecting: Int16(POLLOUT)
        case .reading: Int16(POLLIN)
        }
    }

    /// The descriptor is ready.
    func ready(at now: UInt64, buffer: inout [UInt8]) -> Outcome {
        switch state {
        case .connecting: connected(at: now)
        case .reading: read(into: &buffer)
        }
    }

    /// Its time is over.
    func expired() -> Outcome {
        switch state {
        case .connecting: .closed
        case .reading: decided(isComplete: true)
        }
    }

    private func connected(at now: UInt64) -> Outcome {
        var error: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0, error == 0 else { return .closed }
        guard let request = target.question.request(to: target.address) else { return .closed }
        // A few hundred bytes fit into a fresh connection's buffer.
        guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { return .closed }
        state = .reading
        deadline = now + answerTime
        return .pending
    }

    private func read(into buffer: inout [UInt8]) -> Outcome {
        let room = target.question.limit - answer.count
        let count = recv(descriptor, &buffer, min(buffer.count, room), Int32(MSG_DONTWAIT))
        if count < 0 { return errno == EAGAIN || errno == EINTR ? .pending : decided(isComplete: true) }
        answer += buffer.prefix(count)
        return decided(isComplete: count == 0 || answer.count >= target.question.limit)
    }

    private func decided(isComplete: Bool) -> Outcome {
        switch target.question.verdict(answer, isComplete: isComplete) {
        case .undecided: isComplete ? .answered(.other) : .pending
        case let verdict: .answered(verdict)
        }
    }
}
