import Foundation
import Glibc
import Platform
import RTSP
import Testing

@testable import RTSPIngest

/// A `StreamPull` on a thread of its own, and what it reported.
private final class RunningPull: Sendable {
    struct Seen: Sendable {
        var isPlaying = false
        var units = 0
        var requests = 0
        /// Where its reads went.
        var places: Set<UInt> = []
        var fault: PullFault?
        var isOver = false
    }

    let seen = Watched(Seen())
    private let wakeup = Wakeup()

    init(_ url: String, connected: @escaping @Sendable (Int32) -> Void = { _ in }) throws {
        let options = StreamPull.Options(url: try RTSPURL(url))
        let thread = Thread { [seen, wakeup] in
            var pull: StreamPull?
            let running = StreamPull(options, wakeup: wakeup) { event, _ in
                let place = pull.map { $0.buffer.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }
                seen.change { seen in
                    if let place { seen.places.insert(place) }
                    switch event {
                    case .playing: seen.isPlaying = true
                    case .unit: seen.units += 1
                    case .needsKeyFrame: seen.requests += 1
                    default: break
                    }
                }
                if case .connected = event, let descriptor = pull?.descriptor { connected(descriptor) }
            }
            pull = running
            var fault: PullFault?
            do throws(PullFault) { try running.run() } catch { fault = error }
            pull = nil
            let end = fault
            seen.change {
                $0.fault = end
                $0.isOver = true
            }
        }
        thread.start()
    }

    deinit { wakeup.stop() }

    func stop() async throws -> Seen {
        wakeup.stop()
        return try await seen.wait("its end") { $0.isOver }
    }
}

struct StreamPullTests {
    @Test(.enabled(if: TestCamera.hasMedia, "python3 or ffmpeg with libx264 and libx265 is missing"))
    func `a key frame is asked for again and again until it comes`() async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let pull = try RunningPull(camera.url("nokey=1"))
        try await pull.seen.wait("four requests") { $0.requests >= 4 || $0.isOver }
        #expect(try await pull.stop().requests >= 4)
    }

    @Test(
        .enabled(if: TestCamera.hasMedia, "python3 or ffmpeg with libx264 and libx265 is missing"),
        arguments: ["audio=pcmu&fps=100", "burst=2", "wronglength=1"])
    func `packets are read into the same memory again and again`(query: String) async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let pull = try RunningPull(camera.url(query))
        try await pull.seen.wait("frames") { $0.units >= 200 || $0.isOver }
        let seen = try await pull.stop()
        #expect(seen.units >= 200)
        #expect(seen.places.count == 1)
    }

    /// It reads late; what was not sent until then goes out as soon as it can.
    @Test func `what a camera did not take at first is sent when it does`() async throws {
        let camera = try LateReader()
        let base = "rtsp://127.0.0.1:\(camera.port)/" + String(repeating: "a", count: 1900)
        let pull = try RunningPull(base) { descriptor in
            var least: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &least, socklen_t(MemoryLayout<Int32>.size))
        }
        let seen = try await pull.seen.wait("PLAY") { $0.isPlaying || $0.isOver }
        #expect(seen.isPlaying, "\(String(describing: seen.fault))")
        #expect(camera.heardBefore.value == [false])
        _ = try await pull.stop()
    }
}

/// Answers everything before it has read anything, and with it asks for more than the client's socket holds.
private final class LateReader: Sendable {
    let port: UInt16
    /// Whether PLAY had come before it read.
    let heardBefore = Watched<[Bool]>([])

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var least: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &least, socklen_t(MemoryLayout<Int32>.size))
        let any = try #require(SocketAddress(host: "127.0.0.1", port: 0))
        try #require(any.withPointer { bind(listener, $0, $1) } == 0 && listen(listener, 1) == 0)
        port = try #require(SocketAddress.local(of: listener)).port
        let thread = Thread { [heardBefore] in
            let client = accept(listener, nil, nil)
            defer {
                close(client)
                close(listener)
            }
            let description = "v=0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:track1\r\n"
            var text = String(repeating: "OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n", count: 32)
            text += "RTSP/1.0 200 OK\r\n\r\n"
            text += "RTSP/1.0 200 OK\r\nContent-Length: \(description.utf8.count)\r\n\r\n\(description)"
            text += "RTSP/1.0 200 OK\r\nSession: 1\r\nTransport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n\r\n"
            _ = send(client, text, text.utf8.count, Int32(MSG_NOSIGNAL))
            var buffer = [UInt8](repeating: 0, count: 65_536)
            var heard = ""
            // Until no more comes: then the client's socket is full.
            var count = 0
            repeat {
                count = heard.utf8.count
                var waited = pollfd(fd: client, events: 0, revents: 0)
                _ = poll(&waited, 1, 500)
                let peeked = recv(client, &buffer, buffer.count, Int32(MSG_PEEK))
                guard peeked > 0 else { return }
                heard = String(decoding: buffer[..<peeked], as: UTF8.self)
            } while heard.utf8.count > count
            let isEarly = heard.contains("PLAY ")
            heardBefore.change { $0.append(isEarly) }
            heard = ""
            while !heard.contains("PLAY ") || !heard.hasSuffix("\r\n\r\n") {
                let count = recv(client, &buffer, buffer.count, 0)
                guard count > 0 else { return }
                heard += String(decoding: buffer[..<count], as: UTF8.self)
            }
            let answer = "RTSP/1.0 200 OK\r\nSession: 1\r\n\r\n"
            _ = send(client, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
            // Until the client ends.
            while recv(client, &buffer, buffer.count, 0) > 0 {}
        }
        thread.start()
    }
}
