internal import ControlAPI
internal import HummingbirdCore
internal import NIOCore

/// Server-sent events onto one connection (HTML standard §9.2.5). Who does not read is dropped, not waited for.
///
/// - Note: `@unchecked Sendable`: Hummingbird's writer is a NIO writer, which is, behind a type that does not say so;
///   each use is of a copy.
struct EventWriter: @unchecked Sendable {
    private let body: any ResponseBodyWriter
    private let connection: Connection
    private let timeout: Duration

    init(body: any ResponseBodyWriter, connection: Connection, timeout: Duration) {
        self.body = body
        self.connection = connection
        self.timeout = timeout
    }

    func write(_ event: ServerEvent) async throws { try await write(Self.text(event)) }

    /// A comment: clients ignore it, but a connection that is dead is found out.
    func ping() async throws { try await write(":\n\n") }

    func finish() async throws {
        let deadline = connection.closes(in: timeout)
        defer { deadline.cancel() }
        try await body.finish(nil)
        try await connection.channel.close(mode: .output).get()
    }

    private func write(_ text: String) async throws {
        let deadline = connection.closes(in: timeout)
        defer { deadline.cancel() }
        var body = body
        try await body.write(ByteBuffer(string: text))
    }

    static func text(_ event: ServerEvent) -> String {
        var text = ""
        // Neither may break out of its line; an id with NUL would be ignored.
        if let id = event.id { text += "id: \(line(id))\n" }
        text += "event: \(line(event.event))\n"
        for part in event.data.utf8.split(omittingEmptySubsequences: false, whereSeparator: isLineEnd) {
            text += "data: \(Substring(part))\n"
        }
        return text + "\n"
    }

    /// CR and LF alone (HTML standard §9.2.5): U+2028 and its like are text, which JSON does not escape.
    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }

    private static func line(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != "\r" && $0 != "\n" && $0 != "\0" }))
    }
}
