import RTSP
import Testing

@testable import HTTPVideo

/// Dialogues with a camera, in virtual time.
struct HTTPVideoSessionTests {
    private static let second: UInt64 = 1_000_000_000
    private static let jpeg = Sample.jpeg(1)

    private func session(
        _ url: String = "http://cam:81/stream?x=1", user: String? = nil, allowsBasic: Bool = false
    ) throws -> HTTPVideoSession {
        var configuration = HTTPVideoSession.Configuration(
            url: try RTSPURL(stream: url), credentials: user.map { RTSPCredentials(user: $0, password: "s3cret") },
            userAgent: "WatchBox", digest: { _, bytes in Array(bytes.suffix(4)) }, makeClientNonce: { "c0ffee" })
        configuration.allowsBasic = allowsBasic
        return HTTPVideoSession(configuration)
    }

    private static func head(_ status: String = "200 OK", _ headers: String...) -> [UInt8] {
        Array(("HTTP/1.1 \(status)\r\n" + headers.map { $0 + "\r\n" }.joined() + "\r\n").utf8)
    }

    private static let multipart = "Content-Type: multipart/x-mixed-replace; boundary=frame"

    private static func counted(_ jpeg: [UInt8], _ headers: String = "Server: cam") -> [UInt8] {
        head("200 OK", "Content-Type: image/jpeg", "Content-Length: \(jpeg.count)", headers) + jpeg
    }

    private static func text(_ actions: [HTTPVideoSession.Action]) -> String {
        actions.map { if case .write(let bytes) = $0 { String(decoding: bytes, as: UTF8.self) } else { "\($0)" } }
            .joined(separator: "|")
    }

    private func frames(_ actions: [HTTPVideoSession.Action]) -> Int {
        actions.count { if case .frame = $0 { true } else { false } }
    }

    @Test func `a request names path, host and what is requested`() throws {
        var session = try session()
        let request = Self.text(session.connected(at: 0))
        #expect(request.hasPrefix("GET /stream?x=1 HTTP/1.1\r\nHost: cam:81\r\nUser-Agent: WatchBox\r\n"))
        #expect(request.contains("\r\nConnection: keep-alive\r\n"))
        #expect(!request.contains("Authorization"))
        #expect(session.nextDeadline == 5 * Self.second)
        #expect(session.ticked(at: 5 * Self.second) == [.failed(.session(.timeout(method: "GET")))])
        #expect(session.isOver)
    }

    @Test(arguments: [true, false])
    func `a stream plays, and is asked for again when it ends after frames`(isChunked: Bool) throws {
        var session = try session()
        _ = session.connected(at: 0)
        let parts = StreamSample().bytes([Self.jpeg, Self.jpeg])
        let body =
            isChunked
            ? Array("\(String(parts.count, radix: 16))\r\n".utf8) + parts + Array("\r\n0\r\n\r\n".utf8) : parts
        let headers = isChunked ? [Self.multipart, "Transfer-Encoding: chunked"] : [Self.multipart]
        let answer = Self.head("200 OK", headers[0], headers.last ?? "")
        var actions = session.received(answer[...], at: 1)
        #expect(actions == [.playing(isPolled: false)])
        actions = session.received(body[...], at: 2)
        #expect(actions == [.frame(Self.jpeg), .frame(Self.jpeg)])
        if !isChunked { #expect(session.connectionClosed(at: 3).isEmpty) }
        // At once, but never more often than twice a second.
        #expect(session.nextDeadline == Self.second / 2)
        #expect(session.ticked(at: Self.second / 2) == [.reconnect])
        #expect(Self.text(session.connected(at: Self.second)).hasPrefix("GET "))
        // It plays already; and one that ends without a frame is not a stream.
        #expect(session.received(answer[...], at: Self.second).isEmpty)
        #expect(session.connectionClosed(at: Self.second) == [.failed(.session(.closed(method: nil)))])
    }

    @Test func `every cut of an answer gives the same frames`() throws {
        let parts = StreamSample().bytes([Self.jpeg, Sample.jpeg(2)])
        var body: [UInt8] = []
        for begin in stride(from: 0, to: parts.count, by: 100) {
            let chunk = parts[begin..<min(begin + 100, parts.count)]
            body += Array("\(String(chunk.count, radix: 16)); x=y\r\n".utf8) + chunk + Array("\r\n".utf8)
        }
        let interim = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
        let all = interim + Self.head("200 OK", Self.multipart, "Transfer-Encoding: chunked") + body
        for cut in 0...all.count {
            var session = try session()
            _ = session.connected(at: 0)
            let actions = session.received(all[..<cut], at: 1) + session.received(all[cut...], at: 2)
            #expect(
                actions == [.playing(isPolled: false), .frame(Self.jpeg), .frame(Sample.jpeg(2))], "cut at \(cut)")
        }
    }

    @Test func `single frames are asked for one at a time, over one connection, at the rate`() throws {
        var session = try session()
        _ = session.connected(at: 0)
        #expect(
            session.received(Self.counted(Self.jpeg)[...], at: 10) == [.playing(isPolled: true), .frame(Self.jpeg)])
        #expect(session.nextDeadline == Self.second / 2)
        #expect(session.ticked(at: Self.second / 4).isEmpty)
        #expect(Self.text(session.ticked(at: Self.second / 2)).hasPrefix("GET "))
        // A slow camera is not asked before it has answered, and then at once.
        #expect(session.ticked(at: Self.second).isEmpty)
        let other = Sample.jpeg(2)
        #expect(session.received(Self.counted(other)[...], at: 2 * Self.second) == [.frame(other)])
        #expect(session.nextDeadline == 2 * Self.second)
        #expect(Self.text(session.ticked(at: 2 * Self.second)).hasPrefix("GET "))
        #expect(session.nextDeadline == 12 * Self.second)
        #expect(session.ticked(at: 12 * Self.second) == [.failed(.session(.timeout(method: "GET")))])
    }

    @Test func `an unchanged frame is reported as such, and goes out once a second`() throws {
        var session = try session()
        _ = session.connected(at: 0)
        var seen: [Bool] = []
        for step in 0..<8 as Range<UInt64> {
            let now = step * Self.second / 2
            if step > 0 { _ = session.ticked(at: now) }
            let actions = session.received(Self.counted(Self.jpeg)[...], at: now)
            seen.append(frames(actions) == 1)
            #expect(actions.last == (frames(actions) == 1 ? .frame(Self.jpeg) : .unchanged))
        }
        #expect(seen == [true, false, true, false, true, false, true, false])
        #expect(session.facts.frames == 8)
    }

    @Test func `connections that the camera ends are made again`() throws {
        var session = try session()
        _ = session.connected(at: 0)
        _ = session.received(Self.counted(Self.jpeg, "Connection: close")[...], at: 1)
        #expect(session.connectionClosed(at: 2).isEmpty)
        #expect(session.ticked(at: Self.second) == [.reconnect])
        _ = session.connected(at: Self.second)
        _ = session.received(Self.counted(Sample.jpeg(2))[...], at: Self.second)
        // Closed while the next request is on its way.
        #expect(Self.text(session.ticked(at: 2 * Self.second)).hasPrefix("GET "))
        #expect(session.connectionClosed(at: 2 * Self.second) == [.reconnect])
        _ = session.connected(at: 2 * Self.second)
        // Not for ever: this one had answered nothing.
        #expect(session.connectionClosed(at: 3 * Self.second) == [.failed(.session(.closed(method: "GET")))])
    }

    @Test func `without a length a frame ends with its connection, and one that is cut costs itself`() throws {
        var session = try session()
        let head = Self.head("200 OK", "Content-Type: image/jpeg")
        for step in 0..<4 as Range<UInt64> {
            _ = session.connected(at: step * Self.second)
            #expect(frames(session.received((head + Self.jpeg)[...], at: step * Self.second)) == 0)
            #expect(frames(session.connectionClosed(at: step * Self.second)) == 1)
            #expect(session.ticked(at: (step + 1) * Self.second) == [.reconnect])
        }
        for step in 4..<7 as Range<UInt64> {
            _ = session.connected(at: step * Self.second)
            _ = session.received((head + Self.jpeg.dropLast(40))[...], at: step * Self.second)
            let actions = session.connectionClosed(at: step * Self.second)
            #expect(actions == (step < 6 ? [] : [.failed(.session(.closed(method: "GET")))]))
            _ = session.ticked(at: (step + 1) * Self.second)
        }
        #expect(session.facts.damaged == 3)
    }

    @Test func `what is counted never goes back`() throws {
        var session = try session()
        let head = Self.head("200 OK", Self.multipart)
        for number in 1...3 as ClosedRange<UInt64> {
            let now = number * Self.second
            _ = session.connected(at: now)
            for byte in head { _ = session.received([byte], at: now) }
            #expect(session.facts.damaged == number - 1)
            var stream = StreamSample()
            let length = Self.jpeg.count
            stream.length = { _ in "\(length)" }
            let parts = stream.bytes([Sample.cut(Self.jpeg, to: 200), Self.jpeg])
            #expect(frames(session.received(parts[...], at: now)) == 1)
            #expect(session.facts.damaged == number)
            #expect(session.connectionClosed(at: now).isEmpty)
            #expect(session.ticked(at: now + Self.second) == [.reconnect])
        }
    }

    // MARK: - Refusals

    @Test(arguments: [
        ("403 Forbidden", HTTPVideoFailure.session(.forbidden)), ("404 Not Found", .session(.noSuchStream)),
        ("410 Gone", .session(.noSuchStream)), ("503 Busy", .session(.busy(status: 503, retryAfterSeconds: 9))),
        ("429 Slowly", .session(.busy(status: 429, retryAfterSeconds: 9))),
        ("500 Internal", .session(.refused(method: "GET", status: 500, reason: "Internal"))),
        ("401 No", .session(.loginNeeded(offered: []))),
    ])
    func `statuses are told apart`(status: String, failure: HTTPVideoFailure) throws {
        var session = try session()
        _ = session.connected(at: 0)
        #expect(session.received(Self.head(status, "Retry-After: 9")[...], at: 1) == [.failed(failure)])
    }

    @Test(arguments: [
        ("text/html; charset=utf-8", "", HTTPVideoFailure.noFrames(type: "text/html", isPage: true)),
        ("application/xml", "", .noFrames(type: "application/xml", isPage: true)),
        ("video/mp4", "", .noFrames(type: "video/mp4", isPage: false)),
        ("", "<!DOCTYPE html>", .noFrames(type: "", isPage: true)),
        ("application/octet-stream", "ftypmp42....", .noFrames(type: "", isPage: false)),
        ("image/jpeg", "<html></html>", .noFrames(type: "", isPage: true)),
        ("image/jpeg", "", .noFrames(type: "an empty answer", isPage: false)),
    ])
    func `what is not a frame is reported as what it is`(type: String, body: String, failure: HTTPVideoFailure) throws {
        var session = try session()
        _ = session.connected(at: 0)
        let head = Self.head(
            "200 OK", "Content-Length: \(body.utf8.count)", type.isEmpty ? "X: y" : "Content-Type: \(type)")
        #expect(session.received((head + Array(body.utf8))[...], at: 1).last == .failed(failure))
    }

    @Test(arguments: ["X: y", "Content-Type: application/octet-stream", "Content-Type: video/x-motion-jpeg"])
    func `without a type the first bytes decide`(header: String) throws {
        var session = try session()
        _ = session.connected(at: 0)
        let one = Self.head("200 OK", header, "Content-Length: \(Self.jpeg.count)") + Self.jpeg
        #expect(session.received(one[...], at: 1) == [.playing(isPolled: true), .frame(Self.jpeg)])
        session = try self.session()
        _ = session.connected(at: 0)
        let many = Self.head("200 OK", header) + Array("\r\n".utf8) + StreamSample().bytes([Self.jpeg])
        #expect(session.received(many[...], at: 1) == [.playing(isPolled: false), .frame(Self.jpeg)])
    }

    @Test func `what is not HTTP, and heads that are too long, are refused`() throws {
        var session = try session()
        _ = session.connected(at: 0)
        #expect(session.received(Array("HT".utf8)[...], at: 1).isEmpty)
        #expect(session.received(Array("ML".utf8)[...], at: 1) == [.failed(.notHTTP)])
        session = try self.session()
        _ = session.connected(at: 0)
        let long = "HTTP/1.1 200 OK\r\n" + String(repeating: "A: b\r\n", count: 3000)
        #expect(
            session.received(Array(long.utf8)[...], at: 1)
                == [.failed(.session(.tooLong(what: "bytes of headers", limit: 16 << 10)))])
        session = try self.session()
        _ = session.connected(at: 0)
        let chunk = Self.head("200 OK", Self.multipart, "Transfer-Encoding: chunked") + Array("zz\r\n".utf8)
        let failed = session.received(chunk[...], at: 1)
        #expect(Self.text(failed).contains("a chunk whose size is not a number"))
    }

    // MARK: - Logins

    @Test func `a login is answered over a new connection, with the strongest scheme, and kept`() throws {
        var session = try session("http://cam/capture", user: "admin")
        _ = session.connected(at: 0)
        let challenge = Self.head(
            "401 Unauthorized", "WWW-Authenticate: Basic realm=\"r\"",
            "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"",
            "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256")
        #expect(session.received(challenge[...], at: 1) == [.reconnect])
        let request = Self.text(session.connected(at: 1))
        #expect(
            request.contains("\r\nAuthorization: Digest username=\"admin\", realm=\"r\", nonce=\"n\", uri=\"/capture\"")
        )
        #expect(request.contains("algorithm=SHA-256"))
        #expect(request.contains("nc=00000001"))
        _ = session.received(Self.counted(Self.jpeg)[...], at: 2)
        #expect(session.facts.authentication == "Digest SHA-256")
        #expect(Self.text(session.ticked(at: Self.second)).contains("nc=00000002"))
        // A new nonce for a login that was taken is answered.
        let renewed = Self.head(
            "401 Unauthorized", "WWW-Authenticate: Digest realm=\"r\", nonce=\"m\", algorithm=SHA-256")
        #expect(session.received(renewed[...], at: Self.second) == [.reconnect])
        #expect(Self.text(session.connected(at: Self.second)).contains("nonce=\"m\""))
    }

    @Test func `a login that is refused is not repeated`() throws {
        var session = try session(user: "admin")
        _ = session.connected(at: 0)
        let challenge = Self.head("401 Unauthorized", "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\"")
        #expect(session.received(challenge[...], at: 1) == [.reconnect])
        _ = session.connected(at: 1)
        #expect(
            session.received(challenge[...], at: 2)
                == [.failed(.session(.loginRefused(scheme: "Digest MD5", realm: "r")))])
        session = try self.session(user: "admin")
        _ = session.connected(at: 0)
        _ = session.received(challenge[...], at: 1)
        _ = session.connected(at: 1)
        #expect(
            session.connectionClosed(at: 2)
                == [.failed(.session(.closedAtLogin(method: "GET", scheme: "Digest MD5")))])
    }

    @Test(arguments: [("http://cam/", false, false), ("http://cam/", true, true), ("https://cam/", false, true)])
    func `Basic is sent only where it cannot be read in transit, or where that is allowed`(
        url: String, isAllowed: Bool, isSent: Bool
    ) throws {
        var session = try session(url, user: "admin", allowsBasic: isAllowed)
        _ = session.connected(at: 0)
        let actions = session.received(Self.head("401 No", "WWW-Authenticate: Basic realm=\"r\"")[...], at: 1)
        #expect(actions == (isSent ? [.reconnect] : [.failed(.session(.basicNotAllowed(realm: "r")))]))
        if isSent { #expect(Self.text(session.connected(at: 1)).contains("Authorization: Basic YWRtaW46czNjcmV0")) }
    }

    // MARK: - Redirects

    @Test(arguments: [
        ("/video.mjpg?a=b", "http://cam:81/video.mjpg?a=b"), ("http://cam:8080/x", "http://cam:8080/x"),
        ("https://cam/x", "https://cam/x"), ("http://elsewhere/x", nil), ("ftp://cam/x", nil), ("", nil),
        ("//elsewhere/x", nil),
    ])
    func `a redirect is followed at the same host only`(location: String, there: String?) throws {
        var session = try session(user: "admin")
        _ = session.connected(at: 0)
        let actions = session.received(Self.head("302 Found", "Location: \(location)")[...], at: 1)
        guard let there else {
            #expect(Self.text(actions).contains("failed"))
            return
        }
        #expect(actions == [.reconnect])
        #expect(session.place == (try RTSPURL(stream: there)))
        #expect(Self.text(session.connected(at: 1)).hasPrefix("GET \(session.place.path) "))
    }

    @Test(arguments: [false, true])
    func `a redirect to TLS makes no readable login of an address without`(isAllowed: Bool) throws {
        var session = try session("http://cam/x", user: "admin", allowsBasic: isAllowed)
        _ = session.connected(at: 0)
        #expect(session.received(Self.head("302 Found", "Location: https://cam:8443/")[...], at: 1) == [.reconnect])
        _ = session.connected(at: 1)
        let actions = session.received(Self.head("401 No", "WWW-Authenticate: Basic realm=\"r\"")[...], at: 2)
        #expect(actions == (isAllowed ? [.reconnect] : [.failed(.session(.basicNotAllowed(realm: "r")))]))
    }

    @Test(arguments: [("302 Found", "/capture"), ("301 Moved", "/now.jpg"), ("308 Moved", "/now.jpg")])
    func `each frame is asked for where it is configured, unless that moved for good`(
        status: String, asked: String
    ) throws {
        var session = try session("http://cam/capture")
        _ = session.connected(at: 0)
        for step in 0..<6 as Range<UInt64> {
            let now = step * Self.second
            if step == 0 || asked == "/capture" {
                #expect(session.received(Self.head(status, "Location: /now.jpg")[...], at: now) == [.reconnect])
                #expect(Self.text(session.connected(at: now)).hasPrefix("GET /now.jpg "))
            }
            #expect(frames(session.received(Self.counted(Sample.jpeg(step))[...], at: now)) == 1)
            #expect(Self.text(session.ticked(at: now + Self.second)).hasPrefix("GET \(asked) "))
        }
    }

    @Test func `redirects without a frame come to an end`() throws {
        var session = try session("http://cam/capture")
        let redirect = Self.head("302 Found", "Location: /capture")
        for _ in 0..<HTTPVideoSession.maxRedirects {
            _ = session.connected(at: 0)
            #expect(session.received(redirect[...], at: 1) == [.reconnect])
        }
        _ = session.connected(at: 1)
        #expect(session.received(redirect[...], at: 2) == [.failed(.tooManyRedirects(limit: 3))])
    }

    // MARK: - Cameras that change their ways

    @Test func `a camera that goes over from frames to a stream, and back, is reported as that`() throws {
        var session = try session("http://cam/x")
        _ = session.connected(at: 0)
        #expect(session.received(Self.counted(Self.jpeg)[...], at: 0).first == .playing(isPolled: true))
        _ = session.ticked(at: Self.second)
        let stream = Self.head("200 OK", Self.multipart) + StreamSample().bytes([Self.jpeg])
        #expect(session.received(stream[...], at: Self.second) == [.playing(isPolled: false), .frame(Self.jpeg)])
        _ = session.connectionClosed(at: Self.second)
        #expect(session.ticked(at: 2 * Self.second) == [.reconnect])
        _ = session.connected(at: 2 * Self.second)
        #expect(
            session.received(Self.counted(Sample.jpeg(2))[...], at: 2 * Self.second).first == .playing(isPolled: true))
    }

    @Test(arguments: [("100 ms", 100_000_000), ("10 s", 10_000_000_000)] as [(String, UInt64)])
    func `a stream that ends is asked for again as soon, whatever is set for frames`(
        name: String, interval: UInt64
    ) throws {
        var configuration = try session().configuration
        configuration.interval = interval
        var session = HTTPVideoSession(configuration)
        _ = session.connected(at: 0)
        let stream = Self.head("200 OK", Self.multipart) + StreamSample().bytes([Self.jpeg])
        _ = session.received(stream[...], at: 0)
        _ = session.connectionClosed(at: 1)
        #expect(session.nextDeadline == Self.second / 2)
    }

    @Test(arguments: ["", "X: y", "Content-Type: application/octet-stream", "Content-Type: multipart/x-mixed-replace"])
    func `an answer without a body is not an answer to wait for`(header: String) throws {
        var session = try session()
        _ = session.connected(at: 0)
        let head = Self.head("200 OK", "Content-Length: 0", header.isEmpty ? "Content-Type: image/jpeg" : header)
        let actions = session.received(head[...], at: 1)
        // How long a stream says that it is means nothing.
        if header.contains("multipart") {
            #expect(actions == [.playing(isPolled: false)])
        } else {
            #expect(actions.last == .failed(.noFrames(type: "an empty answer", isPage: false)))
        }
    }

    @Test(arguments: ["", "<html></html>", "\u{FF}\u{D8}"], ["Content-Type: image/jpeg", "X: y"])
    func `one answer that is not a frame costs itself, three the session`(body: String, type: String) throws {
        var session = try session("http://cam/capture")
        _ = session.connected(at: 0)
        _ = session.received(Self.counted(Self.jpeg)[...], at: 0)
        let answer = Self.head("200 OK", type, "Content-Length: \(body.utf8.count)") + Array(body.utf8)
        func ask(_ step: UInt64) {
            if session.ticked(at: step * Self.second) == [.reconnect] { _ = session.connected(at: step * Self.second) }
        }
        ask(1)
        #expect(session.received(answer[...], at: Self.second).isEmpty)
        ask(2)
        #expect(frames(session.received(Self.counted(Sample.jpeg(2))[...], at: 2 * Self.second)) == 1)
        for step in 3...5 as ClosedRange<UInt64> {
            ask(step)
            let actions = session.received(answer[...], at: step * Self.second)
            #expect(actions.contains { if case .failed = $0 { true } else { false } } == (step == 5))
        }
        #expect(session.facts.damaged == 4)
    }

    @Test func `a single frame that is only its two marks is ignored`() throws {
        var session = try session("http://cam/capture")
        _ = session.connected(at: 0)
        let actions = session.received(Self.counted([0xFF, 0xD8, 0xFF, 0xD9])[...], at: 0)
        #expect(actions == [.playing(isPolled: true)])
        #expect(session.facts.frames == 0)
        #expect(session.facts.damaged == 1)
    }

    @Test func `what comes without being asked for is not read`() throws {
        var session = try session("http://cam/capture")
        _ = session.connected(at: 0)
        #expect(frames(session.received(Self.counted(Self.jpeg)[...], at: 0)) == 1)
        #expect(session.received([1, 2, 3], at: 1) == [.close])
        #expect(session.ticked(at: Self.second) == [.reconnect])
    }

    @Test func `a redirect never leads out of TLS`() throws {
        var session = try session("https://cam/x", user: "admin")
        _ = session.connected(at: 0)
        let actions = session.received(Self.head("302 Found", "Location: http://cam/x")[...], at: 1)
        #expect(Self.text(actions).contains("a redirect to an address without TLS"))
    }
}
