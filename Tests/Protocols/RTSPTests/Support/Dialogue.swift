import RTSP
import Testing

let second: UInt64 = 1_000_000_000

/// A session and the camera's lines: requests are read back, everything else is kept as it came.
struct Dialogue {
    var session: RTSPSession
    /// What the session wrote, request by request.
    private(set) var said: [Said] = []
    /// What it did beside writing, in order.
    private(set) var done: [RTSPSession.Action] = []
    /// How many of the requests and actions the test has taken.
    private var heard = 0
    private var seen = 0

    struct Said {
        var text: String
        var lines: [String] { text.split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init) }
        /// Method and address, or the status line of an answer.
        var start: String { lines[0] }
        var method: String { String(start.prefix { $0 != " " }) }
        var url: String { start.split(separator: " ").dropFirst().first.map(String.init) ?? "" }

        func header(_ name: String) -> String? {
            lines.first { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
        }
    }

    init(
        _ url: String = "rtsp://camera.test/cam", user: String? = nil, password: String = "secret",
        configure: (inout RTSPSession.Configuration) -> Void = { _ in }
    ) throws {
        var configuration = RTSPSession.Configuration(
            url: try RTSPURL(url), credentials: user.map { RTSPCredentials(user: $0, password: password) },
            userAgent: "WatchBox/test", digest: Hashes.digest, makeClientNonce: { "0a4f113b" },
            select: { description in
                let requested = description.media.indices.filter {
                    ["video", "audio"].contains(description.media[$0].kind)
                }
                return requested.contains { description.media[$0].kind == "video" } ? requested : nil
            })
        configure(&configuration)
        session = RTSPSession(configuration)
    }

    mutating func note(_ actions: [RTSPSession.Action]) {
        for action in actions {
            if case .write(let bytes) = action {
                said.append(Said(text: String(decoding: bytes, as: UTF8.self)))
            } else {
                done.append(action)
            }
        }
    }

    mutating func connect(at now: UInt64 = 0) { note(session.connected(at: now)) }

    mutating func hear(_ text: String, at now: UInt64 = 0) { hear(Array(text.utf8), at: now) }

    mutating func hear(_ bytes: [UInt8], at now: UInt64 = 0) { note(session.received(bytes[...], at: now)) }

    /// An answer to the newest request.
    mutating func answer(
        _ status: String = "200 OK", _ headers: [String] = [], body: String = "", at now: UInt64 = 0
    ) {
        hear(reply(status, headers, body: body), at: now)
    }

    /// The same as text.
    func reply(_ status: String = "200 OK", _ headers: [String] = [], body: String = "") -> String {
        var lines = ["RTSP/1.0 \(status)", "CSeq: \(said.last?.header("CSeq") ?? "0")"] + headers
        if !body.isEmpty { lines.append("Content-Length: \(body.utf8.count)") }
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
    }

    /// Requests that the test has not taken yet.
    mutating func requests() -> [Said] {
        defer { heard = said.count }
        return Array(said[heard...])
    }

    /// Actions that the test has not taken yet.
    mutating func actions() -> [RTSPSession.Action] {
        defer { seen = done.count }
        return Array(done[seen...])
    }

    /// The newest request.
    var last: Said { said.last ?? Said(text: "") }

    var failure: RTSPFailure? {
        if case .failed(let failure)? = done.last { failure } else { nil }
    }

    /// To PLAY's answer, video alone, over TCP on channels 0 and 1.
    mutating func play(
        _ description: String = Descriptions.video, methods: String = "OPTIONS, DESCRIBE, SETUP, PLAY, GET_PARAMETER",
        session identifier: String = "12345678", transport: String = "RTP/AVP/TCP;unicast;interleaved=0-1",
        playHeaders: [String] = [], at now: UInt64 = 0
    ) {
        connect(at: now)
        answer("200 OK", ["Public: \(methods)", "Server: Test/1.0"], at: now)
        answer("200 OK", ["Content-Base: rtsp://camera.test/cam/"], body: description, at: now)
        answer("200 OK", ["Session: \(identifier)", "Transport: \(transport)"], at: now)
        answer("200 OK", ["Session: \(identifier)"] + playHeaders, at: now)
    }
}

extension Dialogue {
    /// As `play`, over UDP.
    mutating func playUDP(session identifier: String = "12345678", at now: UInt64 = 0) {
        connect(at: now)
        answer("200 OK", ["Public: OPTIONS, DESCRIBE, SETUP, PLAY, GET_PARAMETER"], at: now)
        answer("200 OK", ["Content-Base: rtsp://camera.test/cam/"], body: Descriptions.video, at: now)
        note(session.portsBound(media: 0, rtp: 6000, rtcp: 6001, at: now))
        let transport = "Transport: RTP/AVP;unicast;client_port=6000-6001;server_port=7000-7001"
        answer("200 OK", ["Session: \(identifier)", transport], at: now)
        answer("200 OK", ["Session: \(identifier)"], at: now)
    }
}

/// An interleaved frame.
func frame(_ channel: UInt8, _ payload: [UInt8]) -> [UInt8] {
    [0x24, channel, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)] + payload
}

/// Something that looks like RTP: version 2, then the number.
func packet(_ number: Int, length: Int = 20) -> [UInt8] {
    [0x80, 96, UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)]
        + (4..<max(length, 12)).map { UInt8(($0 * 7 + number) & 0xFF) }
}
