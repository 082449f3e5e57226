import Foundation
import Synchronization
import TestSupport

/// An HTTP service that answers each request with the same status and nothing else, one connection after the other, and counts them.
final class RefusingService: Sendable {
    private final class Count: Sendable {
        let value = Atomic(0)
    }

    let port: UInt16
    private let listener: CInt
    private let count = Count()

    /// Answered so far.
    var requests: Int { count.value.load(ordering: .acquiring) }

    init(status: Int) {
        (listener, port) = deafPort()
        precondition(listen(listener, 16) == 0)
        let answer = Array("HTTP/1.1 \(status) No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)
        Thread.detachNewThread { [listener, count] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                if Self.readRequest(connection) {
                    count.value.add(1, ordering: .acquiringAndReleasing)
                    _ = send(connection, answer, answer.count, CInt(MSG_NOSIGNAL))
                }
                close(connection)
            }
        }
    }

    deinit {
        shutdown(listener, CInt(SHUT_RDWR))
        close(listener)
    }

    /// Head and body; false: whoever connected sent no request.
    private static func readRequest(_ connection: CInt) -> Bool {
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return false }
            text += String(decoding: buffer[..<count], as: UTF8.self)
            guard let end = text.range(of: "\r\n\r\n") else { continue }
            let length = text.firstMatch(of: /(?i)content-length: *([0-9]+)/).flatMap { Int($0.output.1) } ?? 0
            if text[end.upperBound...].utf8.count >= length { return true }
        }
    }
}
