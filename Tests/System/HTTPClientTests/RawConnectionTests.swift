import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import HTTPClient

@Suite(.ownThread, .timeLimit(.minutes(15)), .enabled(if: PythonPeer.isInstalled, "python3 is not installed"))
struct RawConnectionTests {
    private func connect(
        _ port: UInt16, host: String = "127.0.0.1", _ trust: HTTPTrust? = nil, authority: String? = nil
    ) throws(HTTPClientError) -> RawConnection {
        try RawConnection(
            .init(
                host: host, port: port, trust: trust, connectTimeout: .seconds(60), certificateAuthorityFile: authority),
            isCancelled: { false })
    }

    private func failure(
        _ options: RawConnection.Options, isCancelled: () -> Bool = { false }
    ) -> HTTPClientError? {
        do throws(HTTPClientError) {
            _ = try RawConnection(options, isCancelled: isCancelled)
            return nil
        } catch {
            return error
        }
    }

    private func wait(_ connection: RawConnection, _ events: CInt) {
        var entry = pollfd(fd: connection.descriptor, events: Int16(events), revents: 0)
        _ = poll(&entry, 1, 60_000)
    }

    /// Until `count` bytes came, or the end: receives until there is nothing, then polls.
    private func read(_ connection: RawConnection, _ count: Int, piece: Int = 4096) throws -> [UInt8] {
        var bytes: [UInt8] = []
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: piece, alignment: 1)
        defer { buffer.deallocate() }
        while bytes.count < count {
            guard let got = try connection.receive(into: buffer) else {
                wait(connection, POLLIN)
                continue
            }
            if got == 0 { break }
            bytes += buffer[..<got]
        }
        return bytes
    }

    private func write(_ connection: RawConnection, _ bytes: [UInt8]) throws {
        var rest = bytes
        while !rest.isEmpty {
            // The rest moves in memory each time, as a caller's queue does.
            guard let count = try rest.withUnsafeBytes({ try connection.send($0) }) else {
                wait(connection, POLLOUT)
                rest = Array(rest)
                continue
            }
            rest = Array(rest.dropFirst(count))
        }
    }

    @Test func `bytes go both ways over TCP`() throws {
        let peer = try PythonPeer.raw(.echo)
        let connection = try connect(peer.port)
        #expect(connection.peerAddress == "127.0.0.1")
        #expect(connection.localAddress == "127.0.0.1")
        #expect(connection.pin == nil)
        #expect(connection.descriptor >= 0)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 10, alignment: 1)
        defer { buffer.deallocate() }
        #expect(try connection.receive(into: buffer) == nil)
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 % 253) }
        try write(connection, Array(bytes[..<1000]))
        #expect(try read(connection, 1000) == Array(bytes[..<1000]))
        #expect(try connection.receive(into: buffer) == nil)
    }

    @Test(.enabled(if: CertificateFiles.isInstalled, "openssl is not installed"))
    func `bytes go both ways over TLS, whatever the size of the buffer`() throws {
        let files = try CertificateFiles()
        let peer = try PythonPeer.raw(.burst, tls: files)
        for (trust, piece) in [(HTTPTrust.firstUse, 1000), (.pinned(files.pin), 65_536), (.pinned(files.pin), 1)] {
            let connection = try connect(peer.port, trust)
            #expect(connection.pin == files.pin)
            try write(connection, [1])
            let bytes = try read(connection, 100_000, piece: piece)
            #expect(bytes == (0..<100_000).map { UInt8($0 % 251) })
        }
    }

    @Test(.enabled(if: CertificateFiles.isInstalled, "openssl is not installed"))
    func `a name and an authority are checked unless a pin takes their place`() throws {
        let files = try CertificateFiles()
        let peer = try PythonPeer.raw(.echo, tls: files)
        for authority in [nil, files.certificate] {
            let options = RawConnection.Options(
                host: "127.0.0.1", port: peer.port, trust: .system, connectTimeout: .seconds(60),
                certificateAuthorityFile: authority)
            guard case .tlsFailed(let host, _) = failure(options) else {
                Issue.record("accepted")
                continue
            }
            #expect(host == "127.0.0.1")
        }
        let other = try CertificateFiles()
        let wrong = failure(.init(host: "127.0.0.1", port: peer.port, trust: .pinned(other.pin)))
        #expect(wrong == .pinMismatch(host: "127.0.0.1"))
        let none = failure(.init(host: "127.0.0.1", port: peer.port, trust: .pinned("/etc/passwd")))
        #expect(none == .tlsFailed(host: "127.0.0.1", reason: "the stored pin does not have the form sha256//BASE64"))
    }

    @Test func `the authority's own host is accepted`() throws {
        try #require(CertificateFiles.isInstalled)
        let server = try TLSServer(names: "DNS:localhost")
        defer { server.stop() }
        let connection = try connect(
            UInt16(server.port), host: "localhost", .system, authority: server.certificate)
        #expect(connection.pin?.hasPrefix("sha256//") == true)
    }

    @Test func `the peer's end is reported once everything was read`() throws {
        let plain = try PythonPeer.raw(.end)
        #expect(try read(try connect(plain.port), 100) == Array("bye".utf8))
        try #require(CertificateFiles.isInstalled)
        let peer = try PythonPeer.raw(.end, tls: try CertificateFiles())
        #expect(try read(try connect(peer.port, .firstUse), 100) == Array("bye".utf8))
    }

    /// Also with TLS, where a write that could not go out whole must be repeated as it was.
    @Test(arguments: [false, true])
    func `a peer that does not read makes us wait, and nothing is lost or doubled`(encrypted: Bool) throws {
        if encrypted { try #require(CertificateFiles.isInstalled) }
        let files = encrypted ? try CertificateFiles() : nil
        let peer = try PythonPeer.raw(.gate, tls: files)
        let connection = try connect(peer.port, encrypted ? .firstUse : nil)
        let total = 8 << 20
        // As the peer expects them.
        let period = 251 * 400
        let bytes = (0..<2 * period).map { UInt8($0 % 251) }
        var offset = 0
        var gate: RawConnection?
        while offset < total {
            let begin = offset % period
            let piece = Array(bytes[begin..<begin + min(50_000, total - offset)])
            if let count = try piece.withUnsafeBytes({ try connection.send($0) }) {
                offset += count
            } else {
                // Plain: the gate is a TCP connection and nothing more.
                if gate == nil { gate = try connect(peer.port) }
                wait(connection, POLLOUT)
            }
        }
        #expect(gate != nil)
        #expect(try peer.line() == "\(total) as expected")
    }

    @Test(arguments: [false, true])
    func `a peer that resets is an error, not a signal`(encrypted: Bool) throws {
        if encrypted { try #require(CertificateFiles.isInstalled) }
        let peer = try PythonPeer.raw(.reset, tls: encrypted ? try CertificateFiles() : nil)
        let connection = try connect(peer.port, encrypted ? .firstUse : nil)
        let bytes = [UInt8](repeating: 1, count: 1000)
        var error: HTTPClientError?
        // The first ones go into the socket before the reset has come.
        while error == nil {
            do {
                if try bytes.withUnsafeBytes({ try connection.send($0) }) == nil { wait(connection, POLLOUT) }
            } catch let thrown {
                error = thrown as? HTTPClientError
            }
        }
        guard case .connectionLost(let host, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(host == "127.0.0.1")
        // Whoever has something shorter to say after that, or nothing.
        let known = try #require(error)
        for count in [1, 0, 1000] {
            #expect(throws: known) { try bytes[..<count].withUnsafeBytes { try connection.send($0) } }
        }
    }

    @Test(.enabled(if: CertificateFiles.isInstalled, "openssl is not installed"))
    func `what was begun to be sent and is missing then is an error`() throws {
        let peer = try PythonPeer.raw(.gate, tls: try CertificateFiles())
        let connection = try connect(peer.port, .firstUse)
        let bytes = [UInt8](repeating: 1, count: 16_384)
        while try bytes.withUnsafeBytes({ try connection.send($0) }) != nil {}
        for count in [100, 16_384] {
            #expect(
                throws: HTTPClientError.connectionLost(
                    host: "127.0.0.1", reason: "bytes that were begun to be sent are missing")
            ) { try bytes[..<count].withUnsafeBytes { try connection.send($0) } }
        }
    }

    @Test func `the last reference closes it`() throws {
        let peer = try PythonPeer.raw(.watch)
        var connection: RawConnection? = try connect(peer.port)
        try write(try #require(connection), [1, 2, 3])
        connection = nil
        #expect(try peer.line() == "ENDED")
    }

    @Test func `names and both address families are reached`() throws {
        let peer = try PythonPeer.raw(.echo)
        #expect(try connect(peer.port, host: "localhost").peerAddress == "127.0.0.1")
    }

    /// Whether the loopback interface has ::1.
    private static let hasIPv6 =
        (try? String(contentsOfFile: "/proc/net/if_inet6", encoding: .utf8))?
        .contains(String(repeating: "0", count: 31) + "1 ") ?? false

    @Test(.enabled(if: Self.hasIPv6, "this machine has no IPv6"))
    func `an IPv6 address is taken without brackets`() throws {
        let peer = try PythonPeer.raw(.echo, address: "::1")
        let connection = try connect(peer.port, host: "::1")
        #expect(connection.peerAddress == "::1")
        try write(connection, [7])
        #expect(try read(connection, 1) == [7])
    }
}
