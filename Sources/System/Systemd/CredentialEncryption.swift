internal import CSystemd
internal import Glibc
internal import Platform

/// Sealing a secret for this box and one credential name, without being root: `io.systemd.Credentials.Encrypt` over
/// varlink, systemd 256 or newer. polkit decides who may (`io.systemd.credentials.encrypt`). Opening one again is for root.
public struct CredentialEncryption: Sendable {
    /// Bytes of the largest secret, so that the answer stays below `answerLimit`.
    static let secretLimit = 32 * 1024
    static let answerLimit = 64 * 1024

    private let socketPath: String
    private let deadline: Duration

    /// - Parameter socketPath: where systemd-creds.socket listens.
    public init(socketPath: String = "/run/systemd/io.systemd.Credentials") {
        // For what hangs: systemd starts a process for each call, on a slow board amid all else that starts. A client of
        // control waits for 35 s.
        self.init(socketPath: socketPath, deadline: .seconds(30))
    }

    init(socketPath: String, deadline: Duration) {
        self.socketPath = socketPath
        self.deadline = deadline
    }

    /// Whether the socket is there; systemd older than 256 has none.
    public var isAvailable: Bool {
        var information = stat()
        return stat(socketPath, &information) == 0 && information.st_mode & S_IFMT == S_IFSOCK
    }

    /// The sealed credential as `LoadCredentialEncrypted=` reads it: Base64, with the name inside.
    ///
    /// - Throws: `.invalid` for a bad name or more than 32 KiB, `.unavailable`, `.denied`, `.timedOut` after 30 s.
    public func encrypt(_ secret: [UInt8], name: String) async throws(SystemdError) -> [UInt8] {
        guard CredentialDirectory.isName(name) else {
            throw .invalid("credential name \"\(name.oneLine(limit: 64))\"")
        }
        guard secret.count <= Self.secretLimit else {
            throw .invalid("secret \(name) is longer than \(Self.secretLimit) bytes")
        }
        let (socketPath, deadline) = (socketPath, deadline)
        return try await OwnThread.run { () throws(SystemdError) in
            var request = Self.request(secret, name: name)
            defer { request.wipe() }
            let call = CredentialAnswer.Call(method: .encrypt, name: name)
            var exchange = try VarlinkExchange(
                socketPath: socketPath, deadline: .now + deadline, purpose: call.purpose)
            try exchange.send(request)
            return try CredentialAnswer.blob(in: try exchange.receive(limit: Self.answerLimit), call)
        }
    }

    /// What `encrypt` sealed, for root: polkit lets nobody else (`io.systemd.credentials.decrypt`).
    ///
    /// - Parameters:
    ///   - blob: as `encrypt` returned it, up to 64 KiB.
    ///   - name: that it was sealed under; under another it does not open.
    /// - Throws: `.invalid` for a bad name, and for a blob that is damaged, of another box or of another name;
    ///   `.unavailable`, `.denied`, `.timedOut` after 30 s.
    public func decrypt(_ blob: [UInt8], name: String) async throws(SystemdError) -> [UInt8] {
        guard CredentialDirectory.isName(name) else {
            throw .invalid("credential name \"\(name.oneLine(limit: 64))\"")
        }
        // systemd's own may end with a line feed.
        let text = String(decoding: blob.last == UInt8(ascii: "\n") ? blob.dropLast() : blob[...], as: UTF8.self)
        guard blob.count <= Self.answerLimit, Base64.isValid(text) else {
            throw .invalid("credential \(name) is not what systemd sealed")
        }
        let (socketPath, deadline) = (socketPath, deadline)
        return try await OwnThread.run { () throws(SystemdError) in
            let call = CredentialAnswer.Call(method: .decrypt, name: name)
            var exchange = try VarlinkExchange(
                socketPath: socketPath, deadline: .now + deadline, purpose: call.purpose)
            let request =
                #"{"method":"\#(call.method.rawValue)","parameters":{"name":"\#(name)","blob":"\#(text)","#
                + #""scope":"system"}}"#
            try exchange.send(Array(request.utf8) + [0])
            var answer = try exchange.receive(limit: Self.answerLimit)
            defer { answer.wipe() }
            return try CredentialAnswer.data(in: answer, call)
        }
    }

    /// The call with its final NUL. `name` needs no escaping: its characters are letters, digits and `._@-`.
    static func request(_ secret: [UInt8], name: String) -> [UInt8] {
        let method = CredentialAnswer.Method.encrypt.rawValue
        let head = #"{"method":"\#(method)","parameters":{"name":"\#(name)","data":""#
        let tail = #"","scope":"system"}}"#
        var request: [UInt8] = []
        // All of the room at once: an array that grows leaves copies of the secret behind.
        request.reserveCapacity(head.utf8.count + Base64.encodedCount(secret.count) + tail.utf8.count + 1)
        request.append(contentsOf: head.utf8)
        Base64.append(secret, to: &request)
        request.append(contentsOf: tail.utf8)
        request.append(0)
        return request
    }
}
