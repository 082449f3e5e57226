import Glibc
import Testing

@testable import Systemd

@Suite(.timeLimit(.minutes(15)))
struct CredentialEncryptionTests {
    /// A varlink service that answers one call with `answer`, as it is; nil: not at all.
    private final class Service: Sendable {
        let path = "/tmp/watchbox-varlink-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        let received = ReceivedBytes()

        init(_ answer: [UInt8]?) throws {
            let listener = socket(AF_UNIX, 1 | 0o2000000, 0)  // SOCK_STREAM | SOCK_CLOEXEC
            var address = TestAddress(path)
            try #require(listener >= 0 && address.with { bind(listener, $0, $1) } == 0 && listen(listener, 4) == 0)
            startThread { [received] in
                let peer = accept(listener, nil, nil)
                close(listener)
                var buffer = [UInt8](repeating: 0, count: 65_536)
                while peer >= 0 {
                    let count = recv(peer, &buffer, buffer.count, 0)
                    if count <= 0 { break }
                    if received.append(buffer[..<count]), let answer {
                        _ = send(peer, answer, answer.count, CInt(MSG_NOSIGNAL))
                        break
                    }
                }
                if peer >= 0 { close(peer) }
            }
        }

        deinit { unlink(path) }
    }

    private func encrypt(
        _ answer: String?, _ secret: [UInt8] = [1, 2], name: String = "camera-front_password"
    ) async throws -> String {
        let service = try Service(answer.map { Array($0.utf8) + [0] })
        let blob = try await CredentialEncryption(socketPath: service.path).encrypt(secret, name: name)
        return String(decoding: blob, as: UTF8.self)
    }

    @Test func `the secret goes out as Base64, the blob comes back`() async throws {
        let service = try Service(Array(#"{"parameters":{"blob":"Whxqht+dQA=="}}"#.utf8) + [0])
        let encryption = CredentialEncryption(socketPath: service.path)
        #expect(encryption.isAvailable)
        #expect(try await encryption.encrypt(Array("s3cret".utf8), name: "kas-key") == Array("Whxqht+dQA==".utf8))
        #expect(
            service.received.text
                == #"{"method":"io.systemd.Credentials.Encrypt","parameters":{"name":"kas-key","data":"czNjcmV0","scope":"system"}}"#
                + "\0")
    }

    @Test func `the blob goes out as it is, the secret comes back`() async throws {
        let service = try Service(Array(#"{"parameters":{"data":"czNjcmV0"}}"#.utf8) + [0])
        let encryption = CredentialEncryption(socketPath: service.path)
        #expect(
            try await encryption.decrypt(Array("Whxqht+dQA==\n".utf8), name: "box_kas-token") == Array("s3cret".utf8))
        #expect(
            service.received.text
                == #"{"method":"io.systemd.Credentials.Decrypt","parameters":{"name":"box_kas-token","blob":"Whxqht+dQA==","#
                + #""scope":"system"}}"# + "\0")
    }

    @Test(arguments: [
        (#"{"error":"org.varlink.service.PermissionDenied"}"#, SystemdError.denied("decrypting credential x")),
        (
            #"{"error":"io.systemd.Credentials.NameMismatch","parameters":{}}"#,
            .invalid("decrypting credential x: io.systemd.Credentials.NameMismatch")
        ),
        (
            #"{"error":"io.systemd.System","parameters":{"errno":5}}"#,
            .system(call: "io.systemd.Credentials.Decrypt", errno: 5)
        ),
        (#"{"parameters":{"blob":"AAAA"}}"#, .invalid("systemd-creds' answer for credential x has no Base64 data")),
        (#"{"parameters":{"data":"A"}}"#, .invalid("systemd-creds' answer for credential x has no Base64 data")),
    ])
    func `every other answer to Decrypt is an error`(answer: String, error: SystemdError) async throws {
        let service = try Service(Array(answer.utf8) + [0])
        await #expect(throws: error) {
            try await CredentialEncryption(socketPath: service.path).decrypt(Array("AAAA".utf8), name: "x")
        }
    }

    @Test(arguments: [("AA\",\"x\":\"A", "x"), ("", "x"), ("\n", "x"), ("AAAA", "a\"b")])
    func `what systemd has not sealed does not go out`(blob: String, name: String) async throws {
        // Nobody is there: what went out would find it unavailable.
        let error = await #expect(throws: SystemdError.self) {
            try await CredentialEncryption(socketPath: "/tmp/watchbox-no-varlink").decrypt(Array(blob.utf8), name: name)
        }
        if case .invalid = error {} else { Issue.record("\(String(describing: error))") }
    }

    @Test func `32 KiB are sealed, one byte more is not sent`() async throws {
        let secret = [UInt8](repeating: 0xA5, count: 32_768)
        #expect(try await encrypt(#"{"parameters":{"blob":"AAAA"}}"#, secret) == "AAAA")
        await #expect(throws: SystemdError.invalid("secret camera-front_password is longer than 32768 bytes")) {
            try await encrypt(nil, secret + [0])
        }
    }

    @Test(arguments: [
        (
            #"{"error":"org.varlink.service.PermissionDenied","parameters":{}}"#,
            SystemdError.denied("encrypting credential x")
        ),
        (
            #"{"error":"io.systemd.InteractiveAuthenticationRequired","parameters":{}}"#,
            .denied("encrypting credential x")
        ),
        (
            #"{"error":"org.varlink.service.MethodNotFound","parameters":{"method":"x"}}"#,
            .unavailable("encrypting credential x: org.varlink.service.MethodNotFound")
        ),
        (
            #"{"error":"io.systemd.System","parameters":{"errno":5}}"#,
            .system(call: "io.systemd.Credentials.Encrypt", errno: 5)
        ),
        (#"{"error":"io.systemd.Credentials.Odd"}"#, .invalid("encrypting credential x: io.systemd.Credentials.Odd")),
        (#"{"parameters":{}}"#, .invalid("systemd-creds' answer for credential x has no Base64 blob")),
        (
            #"{"parameters":{"blob":"not base64"}}"#,
            .invalid("systemd-creds' answer for credential x has no Base64 blob")
        ),
        (
            #"{"parameters":{"blob":7}}"#,
            .invalid("systemd-creds' answer for credential x is not what its interface says")
        ),
        ("", .invalid("systemd-creds' answer for credential x is not what its interface says")),
        (
            String(repeating: "[", count: 60_000),
            .invalid("systemd-creds' answer for credential x is not what its interface says")
        ),
        (String(repeating: " ", count: 65_537), .invalid("encrypting credential x: answer longer than 65536 bytes")),
    ])
    func `every other answer is an error`(answer: String, error: SystemdError) async {
        await #expect(throws: error) { try await encrypt(answer, name: "x") }
    }

    @Test func `a service that hangs up`() async throws {
        let service = try Service(Array(#"{"parameters":{"blob":"AAAA"}}"#.utf8))
        await #expect(throws: SystemdError.unavailable("encrypting credential x: systemd hung up")) {
            try await CredentialEncryption(socketPath: service.path).encrypt([1], name: "x")
        }
    }

    @Test func `an answer without an end is left at 64 KiB`() async throws {
        let service = try Service([UInt8](repeating: UInt8(ascii: " "), count: 200_000))
        await #expect(throws: SystemdError.invalid("encrypting credential x: answer longer than 65536 bytes")) {
            try await CredentialEncryption(socketPath: service.path).encrypt([1], name: "x")
        }
    }

    @Test func `a service that says nothing is left at the deadline`() async throws {
        let service = try Service(nil)
        await #expect(throws: SystemdError.timedOut("encrypting credential x")) {
            try await CredentialEncryption(socketPath: service.path, deadline: .milliseconds(200)).encrypt(
                [1], name: "x")
        }
    }

    @Test func `without the socket it is not available`() async {
        let encryption = CredentialEncryption(socketPath: "/tmp/watchbox-no-varlink")
        #expect(!encryption.isAvailable)
        #expect(!CredentialEncryption(socketPath: "/tmp").isAvailable)
        await #expect(throws: SystemdError.unavailable("encrypting credential x: No such file or directory")) {
            try await encryption.encrypt([1], name: "x")
        }
    }

    @Test(arguments: ["", "a/b", "a\"b", "ä", "..", "a\n"])
    func `a bad name does not go out`(name: String) async throws {
        let service = try Service(nil)
        await #expect(throws: SystemdError.self) {
            try await CredentialEncryption(socketPath: service.path).encrypt([1], name: name)
        }
        #expect(service.received.text == "")
        _ = try? await CredentialEncryption(socketPath: service.path, deadline: .milliseconds(1)).encrypt(
            [], name: "end")
    }

    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func `RFC 4648 section 10`(plain: String, encoded: String) {
        var text: [UInt8] = []
        Base64.append(Array(plain.utf8), to: &text)
        #expect(String(decoding: text, as: UTF8.self) == encoded)
        #expect(Base64.encodedCount(plain.utf8.count) == encoded.utf8.count)
        #expect(Base64.isValid(encoded) == !encoded.isEmpty)
        #expect(Base64.decode(encoded) == (encoded.isEmpty ? nil : Array(plain.utf8)))
    }

    @Test func `all 64 characters`() {
        var bytes: [UInt8] = []
        for group in 0..<16 {
            let (a, b, c, d) = (group * 4, group * 4 + 1, group * 4 + 2, group * 4 + 3)
            bytes += [UInt8(a << 2 | b >> 4), UInt8((b & 15) << 4 | c >> 2), UInt8((c & 3) << 6 | d)]
        }
        var text: [UInt8] = []
        Base64.append(bytes, to: &text)
        #expect(
            String(decoding: text, as: UTF8.self) == "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        #expect(Base64.decode(String(decoding: text, as: UTF8.self)) == bytes)
    }

    @Test(arguments: ["A", "AAA", "AA=A", "A===", "====", "AA-_", "AAA\n"])
    func `this is not Base64`(text: String) {
        #expect(!Base64.isValid(text))
        #expect(Base64.decode(text) == nil)
    }
}
