import Foundation

/// A daemon's socket that answers each path with a string, or takes connections and says nothing.
final class CannedDaemon: Sendable {
    private let descriptor: CInt
    private let hasThread: Bool

    /// - Parameter answers: nil for a daemon that is wedged.
    init(_ path: String, answers: [String: String]?) throws {
        hasThread = answers != nil
        descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0, listen(descriptor, 64) == 0, chmod(path, 0o660) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        guard let answers else { return }
        let listening = descriptor
        Thread.detachNewThread {
            while true {
                let client = accept(listening, nil, nil)
                guard client >= 0 else { break }
                Self.answer(client, answers)
                close(client)
            }
            close(listening)
        }
    }

    /// The thread closes it: before, its number must not be that of another test's socket.
    deinit {
        shutdown(descriptor, CInt(SHUT_RDWR))
        if !hasThread { close(descriptor) }
    }

    private static func answer(_ client: CInt, _ answers: [String: String]) {
        var request: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !String(decoding: request, as: UTF8.self).contains("\r\n\r\n") {
            let count = read(client, &buffer, buffer.count)
            guard count > 0 else { return }
            request += buffer[..<count]
        }
        let target = String(decoding: request, as: UTF8.self).split(separator: " ").dropFirst().first ?? ""
        let body = answers[String(target.prefix { $0 != "?" })]
        let text =
            "HTTP/1.1 \(body == nil ? "404 Not Found" : "200 OK")\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(body?.utf8.count ?? 0)\r\nConnection: close\r\n\r\n\(body ?? "")"
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(client, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
