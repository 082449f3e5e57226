internal import HTTPClient

extension StreamPull {
    /// What is to be sent, in order, until the connection has taken it.
    struct Output {
        /// Begins with what the connection did not take yet, which must come first again.
        private(set) var pending: [UInt8] = []
        /// The connection took nothing though it was writable: TLS waits for the camera, and polling would not wait.
        private(set) var isStuck = false

        var isEmpty: Bool { pending.isEmpty }

        mutating func append(_ bytes: [UInt8]) { pending += bytes }

        /// Sends what can be sent now; after an error nothing is lost, and nothing is worth being sent.
        mutating func flush(to connection: RawConnection) throws(HTTPClientError) {
            var taken = 0
            defer { pending.removeFirst(taken) }
            while taken < pending.count {
                let sent = try pending.span.bytes.withUnsafeBytes { (bytes) throws(HTTPClientError) in
                    try connection.send(UnsafeRawBufferPointer(rebasing: bytes[taken...]))
                }
                guard let sent, sent > 0 else { break }
                taken += min(sent, pending.count - taken)
            }
        }

        /// As `flush`, after poll said that the connection is writable.
        mutating func flushWritable(to connection: RawConnection) throws(HTTPClientError) {
            let before = pending.count
            try flush(to: connection)
            isStuck = before > 0 && pending.count == before
        }

        /// Whether poll is to wait for the connection to become writable; after it could not be helped, once not.
        mutating func waits() -> Bool {
            defer { isStuck = false }
            return !pending.isEmpty && !isStuck
        }
    }
}

extension RawConnection {
    func receive(into buffer: inout [UInt8]) throws(HTTPClientError) -> Int? {
        var outcome = Result<Int?, HTTPClientError>.success(nil)
        buffer.withUnsafeMutableBytes { room in
            do throws(HTTPClientError) {
                outcome = .success(try receive(into: room))
            } catch {
                outcome = .failure(error)
            }
        }
        return try outcome.get()
    }
}
