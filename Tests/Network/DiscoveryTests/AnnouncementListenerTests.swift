import Discovery
import Logging
import Testing

@Suite(.timeLimit(.minutes(15)))
struct AnnouncementListenerTests {
    private let logger = Logger(label: "test")
    /// Others may announce themselves on this machine's loopback as well.
    private let endpoint = "urn:uuid:" + RandomUUID.make()

    private func listening() async throws -> (AnnouncementListener, AsyncStream<Announcement>) {
        let listener = AnnouncementListener(rescanInterval: .milliseconds(200), interfaces: ["lo"], logger: logger)
        let announcements = listener.announcements()
        while listener.status.networks != ["lo"] { try await Task.sleep(for: .milliseconds(10)) }
        return (listener, announcements)
    }

    /// The same message until it is cancelled: other tests and programs send from this address as well, and who hears too
    /// much from one sender leaves some of it unread.
    private func repeating(_ text: String) -> Task<Void, any Error> {
        Task {
            while true {
                try TestSocket.announce(text)
                try await Task.sleep(for: .milliseconds(500))
            }
        }
    }

    @Test func `hello and bye are heard, each message once`() async throws {
        let (listener, announcements) = try await listening()
        #expect(listener.status.problem == nil)
        let hello = TestSocket.envelope(
            "<d:Hello>\(TestSocket.target(endpoint.uppercased(), addresses: "http://0.0.0.0:81/onvif/device_service"))</d:Hello>"
        )
        let bye = TestSocket.envelope(
            "<d:Bye><a:EndpointReference><a:Address>\(endpoint)</a:Address></a:EndpointReference></d:Bye>")
        for _ in 0..<4 { try TestSocket.announce(hello) }
        var saying = repeating(hello)
        defer { saying.cancel() }
        var heard: [Announcement] = []
        for await announcement in announcements where announcement.endpoint == endpoint {
            heard.append(announcement)
            saying.cancel()
            if announcement.kind == .bye { break }
            saying = repeating(bye)
        }
        #expect(heard.map(\.kind) == [.hello, .bye])
        let first = try #require(heard.first)
        #expect(first.network == "lo" && first.name == "Test")
        #expect(first.url == "http://\(first.address):81/onvif/device_service")
        #expect(heard.last?.url == nil)
        #expect(listener.status.heard >= 2)
    }

    @Test func `junk is read and forgotten`() async throws {
        let (_, announcements) = try await listening()
        let bomb =
            "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]><Envelope>&b;</Envelope>"
        let hello = "<d:Hello>\(TestSocket.target(endpoint, addresses: ""))</d:Hello>"
        let texts = [
            "", "\u{0}", "<", bomb, String(repeating: "<a>", count: 15_000), TestSocket.envelope("<d:Hello/>"),
            TestSocket.envelope("<d:Bye/>"), String(hello.prefix(40)),
        ]
        for text in texts { try TestSocket.announce(text) }
        let saying = repeating(TestSocket.envelope(hello))
        defer { saying.cancel() }
        var first: Announcement?
        for await announcement in announcements where announcement.endpoint == endpoint {
            first = announcement
            break
        }
        #expect(first?.kind == .hello)
        #expect(first?.url == nil)
    }

    @Test func `a reader that ends ends the listening, and another may begin`() async throws {
        let listener = AnnouncementListener(rescanInterval: .milliseconds(200), interfaces: ["lo"], logger: logger)
        for _ in 0..<3 {
            let reading = Task {
                for await _ in listener.announcements() {}
                return true
            }
            while listener.status.networks != ["lo"] { try await Task.sleep(for: .milliseconds(10)) }
            reading.cancel()
            #expect(await reading.value)
            while !listener.status.networks.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        }
    }
}

private enum RandomUUID {
    static func make() -> String {
        let digits = (0..<12).map { _ in String(UInt8.random(in: 0...15), radix: 16) }.joined()
        return "2419d68a-2dd2-41b2-a205-" + digits
    }
}
