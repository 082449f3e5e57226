import CameraModel
import ControlAPI
import Foundation
import Glibc
import Synchronization

@testable import ControlPlane

/// A camera's process on its socket, as far as control talks to it: takes changes over as a real one would.
final class CameraStub: Sendable {
    struct Answer: Sendable {
        var status: Int
        var type = "application/json"
        var body: [UInt8] = []

        static let done = Answer(status: 204)
    }

    private struct State {
        var changes: [VideoChange] = []
        var asked = 0
        var held: [DispatchSemaphore] = []
        var isHeld = false
        var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let descriptor: CInt
    private let state = Mutex(State())
    private let handle: @Sendable (_ line: String, _ body: [UInt8]) -> Answer?

    /// Those that it has taken over.
    var changes: [VideoChange] { state.withLock { $0.changes } }

    /// - Parameter answer: to a request's first line and body; nil: as a process that takes every change over.
    init(
        _ camera: String, of stage: ControlStage,
        answer: @escaping @Sendable (_ line: String, _ body: [UInt8]) -> Answer? = { _, _ in nil }
    ) throws {
        let path = stage.paths.cameraSocket(camera)
        handle = answer
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        precondition(path.utf8.count < MemoryLayout.size(ofValue: address.sun_path))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0, listen(descriptor, 16) == 0 else { throw POSIXError(.EADDRINUSE) }
        let (listening, units) = (descriptor, stage.units)
        let unit = "watchbox-camera@\(camera).service"
        Thread.detachNewThread { [weak self] in
            while true {
                let connection = accept(listening, nil, nil)
                guard connection >= 0 else { break }
                // Not a task: control gives a camera some seconds, which the pool's threads may all be busy for.
                Thread.detachNewThread { [weak self] in
                    defer { close(connection) }
                    guard let (line, body) = Self.request(connection) else { return }
                    self?.asked()
                    let answer = self?.answer(line, body, unit, units) ?? Answer(status: 503)
                    Self.send(answer, to: connection)
                }
            }
            close(listening)
        }
    }

    /// The thread closes it: before, its number must not be that of another test's socket.
    deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Answers wait until `release`.
    func hold() { state.withLock { $0.isHeld = true } }

    func release() {
        let held = state.withLock { state in
            state.isHeld = false
            defer { state.held = [] }
            return state.held
        }
        for one in held { one.signal() }
    }

    /// Returns when so many requests have come.
    func isAsked(_ count: Int) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state in
                    let isDone = state.asked >= count || Task.isCancelled
                    if !isDone { state.waiting.append((count, continuation)) }
                    return isDone
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            // The test's time is over.
            let waiting = state.withLock { state in
                defer { state.waiting = [] }
                return state.waiting
            }
            for one in waiting { one.continuation.resume() }
        }
    }

    private func asked() {
        let waiting = state.withLock { state in
            state.asked += 1
            let asked = state.asked
            defer { state.waiting.removeAll { $0.count <= asked } }
            return state.waiting.filter { $0.count <= asked }
        }
        for one in waiting { one.continuation.resume() }
        let gate: DispatchSemaphore? = state.withLock { state in
            guard state.isHeld else { return nil }
            let gate = DispatchSemaphore(value: 0)
            state.held.append(gate)
            return gate
        }
        gate?.wait()
    }

    private func answer(_ line: String, _ body: [UInt8], _ unit: String, _ units: RecordingUnits) -> Answer {
        if let answer = handle(line, body) { return answer }
        guard line.hasPrefix("PATCH /api/v1/video "),
            let change = try? JSONDocument.decode(VideoChange.self, from: body)
        else { return Answer(status: 404) }
        units.report(unit, change)
        state.withLock { $0.changes.append(change) }
        return .done
    }

    private static func request(_ connection: CInt) -> (line: String, body: [UInt8])? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            if let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) {
                let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
                let lines = head.split(separator: "\r\n").map(String.init)
                let length = lines.first { $0.lowercased().hasPrefix("content-length:") }
                    .flatMap { Int($0.split(separator: ":")[1].filter { $0 != " " }) }
                if bytes.count - end.upperBound >= length ?? 0 {
                    return (lines.first ?? "", Array(bytes[end.upperBound...]))
                }
            }
            let count = read(connection, &buffer, buffer.count)
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
    }

    private static func send(_ answer: Answer, to connection: CInt) {
        let head =
            "HTTP/1.1 \(answer.status) Any\r\nContent-Type: \(answer.type)\r\n"
            + "Content-Length: \(answer.body.count)\r\nConnection: close\r\n\r\n"
        var bytes = Array(head.utf8) + answer.body
        while !bytes.isEmpty {
            let count = Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            guard count > 0 else { break }
            bytes.removeFirst(count)
        }
    }
}
