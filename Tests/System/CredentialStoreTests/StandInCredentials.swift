import Foundation
import Glibc
import Synchronization

/// Answers `io.systemd.Credentials.Encrypt` and `Decrypt` on a socket as systemd does for root. What it calls a blob is Base64 of the name and
/// the secret's bytes turned around, so that a test sees what was sealed and a search for the secret finds nothing.
final class StandInCredentials: Sendable {
    struct Call: Equatable {
        var name: String
        var secret: [UInt8]
        var scope: String?
    }

    let path: String
    private let listener: Int32
    private let recorded = Mutex<[Call]>([])
    private let refusal = Mutex<String?>(nil)

    init(directory: String) throws {
        path = directory + "/credentials.sock"
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8).prefix($0.count - 1)) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0, listen(listener, 8) == 0 else { throw POSIXError(.EADDRINUSE) }
        let thread = Thread { [self] in serve() }
        thread.start()
    }

    var calls: [Call] { recorded.withLock { $0 } }

    /// The varlink error that it answers from now on; nil: it encrypts.
    func refuse(with error: String?) { refusal.withLock { $0 = error } }

    /// Ends the thread, and removes the socket as a stop of systemd-creds.socket does.
    func stop() {
        unlink(path)
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func serve() {
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else {
                close(listener)
                return
            }
            answer(connection)
            close(connection)
        }
    }

    private func answer(_ connection: Int32) {
        var request: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4096)
        while !request.contains(0) {
            let count = read(connection, &part, part.count)
            guard count > 0 else { return }
            request += part[..<count]
        }
        let call = try? JSONSerialization.jsonObject(with: Data(request.prefix { $0 != 0 })) as? [String: Any]
        let parameters = call?["parameters"] as? [String: Any] ?? [:]
        var reply: [String: Any] = ["error": "org.varlink.service.InvalidParameter", "parameters": [String: Any]()]
        if let error = refusal.withLock({ $0 }) {
            reply = ["error": error, "parameters": [String: Any]()]
        } else if call?["method"] as? String == "io.systemd.Credentials.Encrypt",
            let name = parameters["name"] as? String, let text = parameters["data"] as? String,
            let secret = Data(base64Encoded: text)
        {
            recorded.withLock {
                $0.append(Call(name: name, secret: [UInt8](secret), scope: parameters["scope"] as? String))
            }
            reply = ["parameters": ["blob": String(decoding: Self.blob(name, [UInt8](secret)), as: UTF8.self)]]
        }
        if refusal.withLock({ $0 }) == nil, call?["method"] as? String == "io.systemd.Credentials.Decrypt",
            let name = parameters["name"] as? String, let text = parameters["blob"] as? String,
            let blob = Data(base64Encoded: text)
        {
            let parts = blob.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
            reply =
                Array(parts[0]) == Array(name.utf8)
                ? ["parameters": ["data": Data(parts[1].map { ~$0 }).base64EncodedString()]]
                : ["error": "io.systemd.Credentials.NameMismatch", "parameters": [String: Any]()]
        }
        guard var bytes = try? JSONSerialization.data(withJSONObject: reply) else { return }
        bytes.append(0)
        _ = bytes.withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
    }

    static func blob(_ name: String, _ secret: [UInt8]) -> [UInt8] {
        Array(Data(Array(name.utf8) + [0] + secret.map { ~$0 }).base64EncodedString().utf8)
    }
}
