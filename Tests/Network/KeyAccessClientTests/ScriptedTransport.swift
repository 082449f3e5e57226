import HTTPClient
import Synchronization

@testable import KeyAccessClient

/// Answers requests as a script says, in place of a network.
final class ScriptedTransport: KASTransport {
    typealias Outcome = Result<HTTPResponse, HTTPClientError>

    private let seen = Mutex<[HTTPRequest]>([])
    private let script: @Sendable (HTTPRequest) -> Outcome

    init(_ script: @escaping @Sendable (HTTPRequest) -> Outcome) {
        self.script = script
    }

    var requests: [HTTPRequest] { seen.withLock { $0 } }

    func send(_ request: HTTPRequest) async throws(HTTPClientError) -> HTTPResponse {
        seen.withLock { $0.append(request) }
        return try script(request).get()
    }
}

extension HTTPRequest {
    func header(_ name: String) -> String? {
        headers.first { $0.name == name }?.value
    }
}

/// A value that a test sets and a closure reads.
final class Shared<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    init(_ value: Value) { mutex = Mutex(value) }

    var value: Value {
        get { mutex.withLock { $0 } }
        set { mutex.withLock { $0 = newValue } }
    }
}
