import Foundation

@testable import HTTPClient

/// A server that `python3` runs: sockets, TLS and Digest of other authors than libcurl's.
final class PythonPeer {
    static let program = "/usr/bin/python3"
    static let isInstalled = FileManager.default.isExecutableFile(atPath: program)

    let port: UInt16
    private let process = Process()
    private let output = Pipe()
    private var text = ""

    /// The script listens, prints "READY PORT", and may print lines after that.
    init(_ script: String, _ arguments: [String]) throws {
        process.executableURL = URL(filePath: Self.program)
        process.arguments = ["-c", script] + arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let ready = try Self.line(from: output, &text)
        guard ready.hasPrefix("READY "), let port = UInt16(ready.dropFirst(6)) else {
            throw CocoaError(.fileReadUnknown)
        }
        self.port = port
    }

    deinit {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// The next line that it prints.
    func line() throws -> String { try Self.line(from: output, &text) }

    private static func line(from output: Pipe, _ text: inout String) throws -> String {
        while true {
            if let end = text.firstIndex(of: "\n") {
                defer { text = String(text[text.index(after: end)...]) }
                return String(text[..<end])
            }
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { throw CocoaError(.fileReadUnknown) }
            text += String(decoding: data, as: UTF8.self)
        }
    }
}

/// A key and a certificate that `openssl` makes, for the name `camera.example`, with the pin that `openssl` computes.
final class CertificateFiles {
    static let isInstalled = PythonPeer.isInstalled && FileManager.default.isExecutableFile(atPath: TLSServer.program)

    let certificate: String
    let key: String
    let pin: String
    private let directory: URL

    init(_ kind: [String] = ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]) throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "pin-\(UInt64.random(in: 0 ..< .max))")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        certificate = directory.appending(path: "certificate.pem").path
        key = directory.appending(path: "key.pem").path
        let run = """
            "$0" req -x509 -newkey "$@" -nodes -days 2 -subj /CN=camera.example \
                -addext subjectAltName=DNS:camera.example -keyout '\(key)' -out '\(certificate)' 2>/dev/null &&
            "$0" x509 -in '\(certificate)' -noout -pubkey | "$0" pkey -pubin -outform der |
                "$0" dgst -sha256 -binary | "$0" base64
            """
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", run, TLSServer.program] + kind
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        pin = "sha256//" + text.prefix { !$0.isNewline }
    }

    deinit { try? FileManager.default.removeItem(at: directory) }
}

extension PythonPeer {
    /// An HTTP server with a login, checked by RFC 7616 and RFC 7617. Each answer's body says what requests
    /// were like so far: "length scheme", joined by semicolons.
    ///
    /// - Parameter challenges: of "MD5", "MD5-qop", "SHA-256", "SHA-256-qop", "Basic", in this order.
    static func login(
        user: String, password: String, challenges: [String], tls: CertificateFiles? = nil
    ) throws -> PythonPeer {
        let files = tls.map { [$0.certificate, $0.key] } ?? ["", ""]
        return try PythonPeer(loginScript, [user, password, challenges.joined(separator: " ")] + files)
    }

    private static let loginScript = #"""
        import base64, hashlib, http.server, re, ssl, sys
        user, password, challenges, certificate, key = sys.argv[1:6]
        seen = []
        hashes = {"MD5": hashlib.md5, "SHA-256": hashlib.sha256}
        def is_right(header, method, path):
            if header.startswith("Basic "):
                return "Basic" in challenges and base64.b64decode(header[6:]) == f"{user}:{password}".encode()
            fields = {a: (b or c).replace('\\"', '"') for a, b, c in
                      re.findall(r'(\w+)=(?:"((?:[^"\\]|\\.)*)"|([^",\s]+))', header)}
            algorithm = fields.get("algorithm", "MD5")
            if algorithm not in hashes or algorithm not in challenges or fields.get("uri") != path:
                return False
            h = lambda *parts: hashes[algorithm](":".join(parts).encode()).hexdigest()
            if fields.get("username") != user or fields.get("nonce") != "n0nce":
                return False
            inner = [fields["nc"], fields["cnonce"], fields["qop"]] if "qop" in fields else []
            ha1, ha2 = h(user, "re alm", password), h(method, path)
            return fields["response"] == h(ha1, "n0nce", *inner, ha2)
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def answer(self):
                length = int(self.headers.get("Content-Length", 0))
                body = self.rfile.read(length)
                header = self.headers.get("Authorization", "")
                seen.append(f"{len(body)} {header.split(' ')[0] or 'none'}")
                accepted = is_right(header, self.command, self.path)
                text = ";".join(seen).encode()
                self.send_response(200 if accepted else 401)
                if not accepted:
                    for challenge in challenges.split():
                        name, _, qop = challenge.partition("-qop")
                        if challenge == "Basic":
                            value = 'Basic realm="re alm"'
                        else:
                            algorithm = challenge.removesuffix("-qop")
                            value = f'Digest realm="re alm", nonce="n0nce", algorithm={algorithm}'
                            if challenge.endswith("-qop"): value += ', qop="auth"'
                        self.send_header("WWW-Authenticate", value)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)
            do_GET = do_POST = answer
            def log_message(self, *arguments): pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        print("READY", server.server_address[1], flush=True)
        server.serve_forever()
        """#

    /// What a `raw` peer does with a connection.
    enum Behaviour: String {
        /// Sends back what comes.
        case echo
        /// Waits for a byte, then sends 100 000 bytes at once and nothing more, and keeps the connection.
        case burst
        /// Sends "bye", and ends.
        case end
        /// Resets the connection when the first byte has come.
        case reset
        /// Reads nothing until a second connection comes; then 8 MiB that count from 0 to
        /// 250 again and again, and prints its result.
        case gate
        /// Prints "ENDED" when the client has ended.
        case watch
        /// Answers the first bytes with a line of text, without TLS.
        case text
    }

    static func raw(
        _ behaviour: Behaviour, tls: CertificateFiles? = nil, address: String = "127.0.0.1"
    ) throws -> PythonPeer {
        let files = tls.map { [$0.certificate, $0.key] } ?? ["", ""]
        return try PythonPeer(rawScript, [behaviour.rawValue, address] + files)
    }

    private static let rawScript = #"""
        import socket, ssl, struct, sys
        behaviour, address, certificate, key = sys.argv[1:5]
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        listener = socket.create_server((address, 0), family=family)
        context = None
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
        print("READY", listener.getsockname()[1], flush=True)
        def serve(connection):
            if behaviour == "echo":
                while data := connection.recv(65536): connection.sendall(data)
            elif behaviour == "burst":
                connection.recv(1)
                connection.sendall(bytes(i % 251 for i in range(100_000)))
                connection.recv(1)
            elif behaviour == "end":
                connection.sendall(b"bye")
                if certificate: connection = connection.unwrap()
                connection.close()
            elif behaviour == "reset":
                connection.recv(1)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.close()
            elif behaviour == "gate":
                second = listener.accept()
                total, verdict = 0, "as expected"
                pattern = bytes(i % 251 for i in range(251 * 1000))
                while total < 8 << 20:
                    data = connection.recv(65536)
                    if not data: break
                    begin = total % 251
                    if data != pattern[begin:begin + len(data)]: verdict = "otherwise"
                    total += len(data)
                print(total, verdict, flush=True)
            elif behaviour == "watch":
                while connection.recv(65536): pass
                print("ENDED", flush=True)
            elif behaviour == "text":
                connection.recv(65536)
                connection.sendall(b"RTSP/1.0 400 Bad Request\r\n\r\n")
                connection.recv(65536)
        while True:
            connection, _ = listener.accept()
            try:
                serve(context.wrap_socket(connection, server_side=True) if context else connection)
            except OSError:
                pass
        """#
}
