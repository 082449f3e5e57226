import ErrorCatalog
import Settings
import Testing

@testable import BoxConfiguration

/// What is checked across several keys or objects together.
struct ConnectionTests {
    private func keys(_ text: String) -> [String] { Samples.read(text).issues.map(\.key) }

    @Test func `a relay that is misspelt is reported with the one that is meant`() throws {
        let (settings, issues) = Samples.read(
            "relay.spare.url = 'rtmp://r/a'\nkas.url = 'https://k'\n[camera.front]\nsource = 'test:'\nrelay = 'spre'\n")
        #expect(settings == nil)
        let issue = try #require(issues.first)
        #expect(issues.count == 1 && issue.line == 5)
        #expect(issue.reason == "is not the name of a relay, did you mean \"spare\"?")
    }

    @Test func `a box pulls as many network cameras as it may, and the refusal names the number`() throws {
        func box(_ count: Int, _ lines: String = "") -> [ConfigurationIssue] {
            let cameras = (0..<count).map { "camera.c\($0).source = 'rtsp://192.0.2.7/\($0)'\n" }.joined()
            return Samples.read(Samples.small + cameras + lines).issues
        }
        #expect(box(16).isEmpty)
        let issue = try #require(box(17).first)
        #expect(issue.key == "box.pulls" && issue.code == .invalidValue && !issue.isWarning)
        #expect(issue.reason == "allows 16 active network cameras, but there are 17")
        // One that is switched off pulls nothing.
        #expect(box(17, "camera.c3.active = false").isEmpty)
        #expect(box(17, "box.pulls = 17").isEmpty)
        let few = box(3, "[box]\npulls = 2\n")
        #expect(few.map(\.key) == ["box.pulls"] && few.first?.line == 8)
    }

    @Test func `a camera waits for its relay and for the KAS`() throws {
        let camera = "camera.front.source = 'test:'\n"
        let (read, issues) = Samples.read(camera)
        let settings = try #require(read)
        #expect(issues.map(\.code) == [.incompleteCamera])
        #expect(settings.runningCameras.isEmpty)
        let (other, others) = Samples.read(camera + "relay.main.url = 'rtmp://r/a'\n")
        #expect(others.map(\.code) == [.incompleteCamera])
        #expect(try #require(other).runningCameras.isEmpty)
        #expect(Samples.read(camera + "relay.main.url = 'rtmp://r/a'\nkas.url = 'https://k'").issues.isEmpty)
        // Nothing waits for a camera that is switched off.
        #expect(Samples.read(camera + "camera.front.active = false").issues.isEmpty)
    }

    @Test func `a relay needs a URL or the name of a secret`() {
        #expect(keys("[relay.main]\nprofile = 'drops-metadata'") == ["relay.main"])
        #expect(keys("[relay.main]\nurl = 1") == ["relay.main.url"])
        #expect(keys("[relay.main]\nsecret = 'relay-main'").isEmpty)
    }

    @Test func `certificate and key go together`() {
        for server in ["relay_server", "kas_server"] {
            #expect(keys("[\(server)]\ntls_key = '/k'") == ["\(server).tls_key"])
            #expect(keys("[\(server)]\ntls_certificate = '/c'") == ["\(server).tls_certificate"])
            #expect(keys("[\(server)]\ntls_certificate = '/c'\ntls_key = '/k'").isEmpty)
            #expect(keys("[\(server)]\ntls_certificate = '/c'\ntls_key = 1") == ["\(server).tls_key"])
        }
    }

    @Test func `a key access server beyond this machine needs TLS`() {
        #expect(keys("[kas_server]\nenabled = true\nlisten = '0.0.0.0:9443'") == ["kas_server.listen"])
        #expect(keys("[kas_server]\nlisten = '0.0.0.0:9443'").isEmpty)
        #expect(keys("[kas_server]\nenabled = true\nlisten = '[::1]:9443'").isEmpty)
        #expect(
            keys("[kas_server]\nenabled = true\nlisten = '0.0.0.0:9443'\ntls_key = '/k'\ntls_certificate = '/c'")
                .isEmpty)
    }

    @Test func `a relay's API beyond this machine needs a token`() {
        let beyond = "[relay_server]\napi_listen = '0.0.0.0:1985'\n"
        #expect(keys(beyond + "enabled = true") == ["relay_server.api_listen"])
        #expect(keys(beyond + "enabled = true\napi_token = '/t'").isEmpty)
        #expect(keys(beyond).isEmpty)
        #expect(keys("[relay_server]\nenabled = true\napi_listen = '127.0.0.1:1985'").isEmpty)
    }

    @Test func `relays to forward to stand in a file when they hold a secret`() {
        #expect(keys("[relay_server]\nforward = ['rtmps://a.example/live', 'rtmp://b.example:1936/x/y']").isEmpty)
        for wrong in ["rtmp://u:p@a/live", "rtmp://a/live?key=k", "rtmp://a", "http://a/live", ""] {
            #expect(keys("[relay_server]\nforward = ['\(wrong)']") == ["relay_server.forward"], "\(wrong)")
        }
    }

    @Test func `networks of a relay are checked one by one`() {
        #expect(keys("[relay_server]\nallow = ['10.0.0.0/8', '2001:db8::/32', '192.0.2.7']").isEmpty)
        for wrong in ["'10.0.0.0/33'", "'all'", "''", "8", "'10.0.0.0/8', '10.0.0.0/8'"] {
            #expect(keys("[relay_server]\ndeny = [\(wrong)]") == ["relay_server.deny"], "\(wrong)")
        }
    }

    @Test func `two active cameras cannot have one stream`() {
        let text = Samples.small + "[camera.back]\nsource = 'test:'\nstream = 'front'\n"
        #expect(keys(text) == ["camera.front.stream"])
        #expect(keys(text + "active = false\n").isEmpty)
    }

    @Test func `what only the camera's process refuses is reported with the key it comes from`() throws {
        let viewers = (0..<20).map { "'\($0)\(String(repeating: "x", count: 900))'" }.joined(separator: ", ")
        let (settings, issues) = Samples.read(Samples.small + "camera.front.viewers = [\(viewers)]\n")
        #expect(settings == nil)
        #expect(issues.count == 1)
        #expect(issues.first?.reason.contains("attributes and viewers are longer") == true)
        #expect(issues.first?.key == "camera.front.attributes")
    }

    @Test func `there are at most 64 cameras`() {
        let lines = (0..<65).map { "camera.c\($0) = { source = 'test:', active = false }" }
        #expect(keys(lines.joined(separator: "\n")) == ["camera"])
        #expect(keys(lines.dropLast().joined(separator: "\n")).isEmpty)
    }
}
