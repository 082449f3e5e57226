import ErrorCatalog
import Settings
import Testing

@testable import BoxConfiguration

struct HookTests {
    private func keys(_ text: String) -> [String] { Samples.read(text).issues.map(\.key) }

    @Test func `a hook is read with its defaults`() throws {
        let hook = try #require(Samples.read("hook.home.url = 'https://home.example.net/x'").settings?.hooks["home"])
        #expect(hook == HookSettings(url: "https://home.example.net/x"))
        #expect(hook.kind == .webhook && hook.enabled && hook.cameras.isEmpty)
        #expect(hook.events == [.camera, .health, .relay, .kas, .system])
        let other = try #require(
            Samples.read(
                """
                camera.front = { source = "test:", active = false }
                [hook.phone]
                kind = "ntfy"
                secret = "hook-phone"
                token_secret = "bearer-phone"
                events = ["camera", "motion"]
                cameras = ["front"]
                enabled = false
                """
            ).settings?.hooks["phone"])
        #expect(
            other
                == HookSettings(
                    kind: .ntfy, events: [.camera, .motion], cameras: ["front"], enabled: false, secret: "hook-phone",
                    tokenSecret: "bearer-phone"))
    }

    @Test func `a hook needs a URL or the name of a secret`() {
        #expect(keys("[hook.a]\nkind = 'ntfy'") == ["hook.a"])
        #expect(keys("[hook.a]\nsecret = 'hook-a'").isEmpty)
        #expect(keys("[hook.a]\nurl = 'http://192.0.2.7:8123/api'").isEmpty)
    }

    @Test(arguments: [
        "ftp://h/x", "https://u:p@h/x", "https://h/x?token=1", "https://h/x#y", "https://", "https://h:0/x", "h/x",
        "https://h/a b",
    ])
    func `a URL that holds a secret, or is invalid, is refused`(url: String) {
        #expect(keys("hook.a.url = '\(url)'") == ["hook.a.url"])
    }

    @Test func `no other secret of the box can be sent to a receiver`() {
        let url = "url = 'https://h/x'"
        #expect(keys("[hook.a]\n\(url)\ntoken_secret = 'kas-token'") == ["hook.a.token_secret"])
        #expect(keys("[hook.a]\nsecret = 'relay-main'") == ["hook.a.secret"])
        #expect(keys("[hook.a]\nsecret = 'device-key'") == ["hook.a.secret"])
        #expect(keys("[hook.a]\n\(url)\ntoken_secret = 'bearer-a'").isEmpty)
    }

    @Test func `a camera that there is not is a warning, an unknown topic an error`() throws {
        let (settings, issues) = Samples.read("hook.a = { url = 'https://h/x', cameras = ['frnt'] }")
        #expect(settings != nil && issues.map(\.key) == ["hook.a.cameras"] && issues.allSatisfy(\.isWarning))
        #expect(keys("hook.a = { url = 'https://h/x', events = ['camra'] }") == ["hook.a.events"])
        #expect(keys("hook.a = { url = 'https://h/x', kind = 'mqtt' }") == ["hook.a.kind"])
    }

    @Test func `a pin wants TLS`() {
        let pin = "sha256//" + String(repeating: "A", count: 43) + "="
        #expect(keys("hook.a = { url = 'http://h/x', public_key_pin = '\(pin)' }") == ["hook.a.public_key_pin"])
        #expect(keys("hook.a = { url = 'https://h/x', public_key_pin = '\(pin)' }").isEmpty)
    }

    @Test func `a box has eight at most`() {
        let hooks = (1...9).map { "hook.h\($0).url = 'https://h/\($0)'\n" }
        #expect(keys(hooks.prefix(8).joined()).isEmpty)
        #expect(keys(hooks.joined()) == ["hook"])
    }

    @Test func `a change restarts the hooks, and no camera`() throws {
        let base = Samples.settings("hook.a = { url = 'https://h/KEY-KEY' }\n")
        let changed = base.changes(to: Samples.settings("hook.a = { url = 'https://h/other' }\n"))
        #expect(
            changed == [
                ConfigurationChange(
                    object: "hook.a", kind: .changed, details: ["url: changed"], action: .restartService,
                    affects: ["hooks"])
            ])
        #expect(base.changes(to: Samples.settings("")).map(\.kind) == [.removed])
        let named = base.changes(to: Samples.settings("box.name = 'b'\nhook.a = { url = 'https://h/KEY-KEY' }\n"))
        #expect(named.map(\.affects) == [["hooks"]])
    }

    @Test func `one setting has a path`() throws {
        let settings = Samples.settings("hook.phone = { url = 'https://h/x' }\n")
        #expect(try settings.value(of: SettingPath("hook.phone.kind")) == .string("webhook"))
        #expect(try settings.toml(setting: SettingPath("hook.phone.enabled"), to: "false").contains("enabled = false"))
        #expect(throws: CodedError.self) { try SettingPath("hook.phone.urk") }
    }
}
