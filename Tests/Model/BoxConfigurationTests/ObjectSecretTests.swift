import Testing

@testable import BoxConfiguration

struct ObjectSecretTests {
    private static let text = """
        relay.main = { secret = "relay-main" }
        relay.other = { url = "rtmps://live.example.net/live", ca_file = "/etc/watchbox/ca.pem" }
        kas = { url = "https://kas.example.net/kas", secret = "kas-token", ca_file = "/etc/watchbox/ca.pem" }
        hook.phone = { kind = "ntfy", secret = "hook-phone", token_secret = "bearer-phone" }
        hook.home = { url = "https://home.example.net/hook" }
        camera.front = { source = "rtsp://192.168.1.61/main", user = "viewer" }
        camera.side = { source = "rtsp://192.168.1.62/main", user = "viewer", secret = "login", relay = "other" }
        camera.test = { source = "test:" }
        relay_server = { tls_certificate = "/etc/watchbox/relay.pem", tls_key = "/etc/watchbox/relay.key" }
        """

    private func settings() throws -> BoxSettings {
        let read = Samples.read(Self.text)
        return try #require(read.settings, "\(read.issues)")
    }

    @Test func `every secret of a box is named by its object, and stored where control stores it`() throws {
        let named = try settings().namedSecrets
        #expect(
            named.map { "\($0.place.key) \($0.scope)/\($0.name)\($0.isNeeded ? "" : "?")" } == [
                "camera.front.password camera-front/password", "camera.side.password camera-side/login",
                "camera.test.password camera-test/password?", "hook.phone.secret_url box/hook-phone",
                "hook.phone.token box/bearer-phone", "kas.token box/kas-token", "relay.main.secret_url box/relay-main",
            ])
    }

    @Test func `a key reads back to its place`() throws {
        for named in try settings().namedSecrets {
            #expect(ObjectSecret.Place(key: named.place.key) == named.place)
            #expect(named.place.key.hasPrefix(named.place.object + "."))
        }
    }

    @Test(arguments: [
        "", "kas", "relay.main", "relay.main.token", "relay.secret_url", "relay.a.b.secret_url", "kas.x.token",
        "camera.front.password.", "box.name.password",
    ])
    func `this is no key of a secret`(key: String) {
        #expect(ObjectSecret.Place(key: key) == nil)
    }

    @Test func `who starts again with another secret`() throws {
        let settings = try settings()
        #expect(settings.cameras(using: .relay("main")) == ["front", "test"])
        #expect(settings.cameras(using: .relay("other")) == ["side"])
        #expect(settings.cameras(using: .keyAccessToken) == ["front", "side", "test"])
        #expect(settings.cameras(using: .camera("side")) == ["side"])
        // It shows its password to nobody.
        #expect(settings.cameras(using: .camera("test")) == [])
        #expect(settings.cameras(using: .camera("nobody")) == [])
        #expect(settings.cameras(using: .hook("phone")) == [])
    }

    @Test func `files that the configuration names are each said once`() throws {
        #expect(
            try settings().namedFiles == [
                "/etc/watchbox/ca.pem", "/etc/watchbox/relay.pem", "/etc/watchbox/relay.key",
            ])
    }
}
