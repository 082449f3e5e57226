import ErrorCatalog
import FoundationEssentials
import Settings
import Testing

@testable import BoxConfiguration

struct AdoptionFileTests {
    static let secrets = [
        "rtmps://u:s3cret-relay@live.example.net/live?key=s3cret-key", "s3cret-token", "s3cret-password",
        "s3cret-wifi!",
        "https://ntfy.sh/s3cret-topic", "s3cret-bearer",
    ]

    static let full = """
        name = "Porch"
        admin_keys = ["\(SSHPublicKeyTests.ed25519) me@laptop"]

        network.ethernet = { address = "192.168.1.20/24", gateway = "192.168.1.1", dns = ["192.168.1.1", "2001:db8::53"] }
        network.wifi = { ssid = "Home", password = "\(secrets[3])", country = "DE", hidden = true }

        relay.main = { secret_url = "\(secrets[0])", profile = "drops-metadata" }
        relay.plain = { url = "rtmps://live.example.net/plain" }
        kas = { url = "https://kas.example.net/kas", token = "\(secrets[1])" }
        hook.phone = { kind = "ntfy", secret_url = "\(secrets[4])", token = "\(secrets[5])" }

        [camera.front]
        source = "rtsp://192.168.1.61/main"
        user = "viewer"
        password = "\(secrets[2])"

        """

    private static func read(_ text: String) -> (file: AdoptionFile?, issues: [ConfigurationIssue]) {
        AdoptionFile.read(Array(text.utf8))
    }

    @Test func `a whole file`() throws {
        let (read, issues) = Self.read(Self.full)
        #expect(issues == [])
        let file = try #require(read)
        #expect(file.name == "Porch")
        #expect(
            file.ethernet
                == EthernetSettings(
                    address: "192.168.1.20/24", gateway: "192.168.1.1", nameServers: ["192.168.1.1", "2001:db8::53"]))
        #expect(
            file.wireless == WirelessSettings(ssid: "Home", password: Self.secrets[3], country: "DE", isHidden: true))
        #expect(file.administratorKeys?.map(\.comment) == ["me@laptop"])
        #expect(
            file.secrets == [
                ObjectSecret(.camera("front"), Self.secrets[2]), ObjectSecret(.hook("phone"), Self.secrets[4]),
                ObjectSecret(.hookToken("phone"), Self.secrets[5]), ObjectSecret(.keyAccessToken, Self.secrets[1]),
                ObjectSecret(.relay("main"), Self.secrets[0]),
            ])
        // What control is given: the same objects, which name their secrets.
        #expect(
            file.objects.toml() == """
                version = 1

                [box]
                name = "Porch"

                [relay.main]
                profile = "drops-metadata"
                secret = "relay-main"

                [relay.plain]
                url = "rtmps://live.example.net/plain"

                [kas]
                url = "https://kas.example.net/kas"
                secret = "kas-token"

                [camera.front]
                source = "rtsp://192.168.1.61/main"
                user = "viewer"

                [hook.phone]
                kind = "ntfy"
                secret = "hook-phone"
                token_secret = "bearer-phone"

                """)
    }

    @Test func `a file of Windows' editor is the same file`() throws {
        let windows = "\u{FEFF}" + Self.full.replacing("\n", with: "\r\n")
        #expect(Self.read(windows).file == Self.read(Self.full).file)
    }

    @Test func `what config export writes is taken as it is`() throws {
        let exported = try #require(Samples.read(Samples.full).settings).toml()
        let (file, _) = Self.read(exported)
        #expect(file?.objects.toml() == exported)
        #expect(file?.secrets == [])
    }

    /// Base64 of what begins as a certificate does.
    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBfTCCASOgAwIBAgIUWnqXW3sQ0rGq2hX0m4o5pQm2yB8wCgYIKoZIzj0EAwIw
        -----END CERTIFICATE-----
        """

    @Test(arguments: ["\n", "\r\n"])
    func `the authority of a server becomes a file that its object names`(newline: String) throws {
        let whole = """
            [kas]
            url = "https://kas.lan/kas"
            ca = '''
            subject=CN = kas
              \(Self.certificate.replacing("\n", with: "\n  "))

            \(Self.certificate)
            '''
            [relay.main]
            url = "rtmps://relay.lan/live"
            ca = '''\(Self.certificate)'''
            """
        let (read, issues) = Self.read(whole.replacing("\n", with: newline))
        #expect(issues == [])
        let file = try #require(read)
        #expect(file.authorities.map(\.key) == ["kas.ca", "relay.main.ca"])
        #expect(file.authorities.map(\.path) == ["/etc/watchbox/ca-kas.pem", "/etc/watchbox/ca-relay-main.pem"])
        #expect(file.authorities.first?.text == "\(Self.certificate)\n\(Self.certificate)\n")
        #expect(file.objects.kas?.caFile == "/etc/watchbox/ca-kas.pem")
        #expect(file.objects.relays["main"]?.caFile == "/etc/watchbox/ca-relay-main.pem")
    }

    private static let noAuthority: [(value: String, reason: String)] = [
        ("7", "is an integer, but must be a string"),
        ("''", "holds no certificate"),
        ("'''\n\(certificate)\n-----BEGIN CERTIFICATE-----\nMIIB'''", "has a certificate that does not end"),
        ("'''\n\(certificate.replacing("MIIB", with: "MI-B!"))'''", "has a certificate that is damaged"),
        ("'''\n\(certificate.replacing("MIIB", with: "TIIB"))'''", "has a certificate that is damaged"),
        ("'''\n\(certificate)\n-----BEGIN EC PRIVATE KEY-----'''", "holds a private key"),
        ("'''\n\(String(repeating: certificate + "\n", count: 17))'''", "holds more than 16 certificates"),
        ("'''\(String(repeating: "x", count: (16 << 10) + 1))'''", "is longer than 16 KiB"),
        ("'''\n\(certificate)'''\nca_file = '/etc/kas.pem'", "is there beside `ca_file`"),
    ]

    @Test(arguments: noAuthority)
    func `what is no authority is refused, and not shown`(value: String, reason: String) {
        let (file, issues) = Self.read("[kas]\nurl = \"https://kas.lan/kas\"\nca = \(value)\n")
        #expect(file == nil)
        #expect(issues.map(\.key) == ["kas.ca"])
        #expect(issues.map(\.reason) == [reason])
        #expect(!issues.contains { $0.hint.contains("MIIB") })
    }

    @Test func `a camera has none`() {
        let (_, issues) = Self.read("[camera.front]\nsource = \"rtsp://h/a\"\nca = ''")
        #expect(issues.filter { !$0.isWarning }.map(\.key) == ["camera.front.ca"])
    }

    @Test func `what the file says nothing of is nil, and what it says is empty is empty`() throws {
        let small = try #require(Self.read("name = \"Porch\"").file)
        #expect(small.ethernet == nil && small.wireless == nil && small.administratorKeys == nil)
        let empty = try #require(Self.read("admin_keys = []\nnetwork.ethernet = {}").file)
        #expect(empty.administratorKeys == [] && empty.ethernet == EthernetSettings())
        #expect(!empty.hasObjects && small.hasObjects)
    }

    @Test func `the name joins other settings of the box`() throws {
        let file = try #require(Self.read("name = \"Porch\"\n[box]\npulls = 3").file)
        #expect(file.objects.toml() == "version = 1\n\n[box]\nname = \"Porch\"\npulls = 3\n")
    }

    struct Wrong: Sendable, CustomTestStringConvertible {
        var text: String
        var line: Int
        var key: String
        var reason: String
        var hint: String?
        var testDescription: String { "\(key) \(reason)" }

        init(_ text: String, _ line: Int, _ key: String, _ reason: String, _ hint: String? = nil) {
            (self.text, self.line, self.key, self.reason, self.hint) = (text, line, key, reason, hint)
        }
    }

    private static let wifi = "network.wifi = { ssid = \"Home\", password = \"12345678\", country = \"DE\" }"

    private static let tooManyKeys: String = String(repeating: "\"\(SSHPublicKeyTests.ed25519)\",", count: 17)

    private static let wrong: [Wrong] = [
        // Keys.
        Wrong("nam = \"Porch\"", 1, "nam", "is not known, did you mean `name`?", "Write `name`"),
        Wrong("\nadmin_key = []", 2, "admin_key", "is not known, did you mean `admin_keys`?", "Write `admin_keys`"),
        Wrong("zzzzzzzz = 1", 1, "zzzzzzzz", "is not known"),
        Wrong("ssid = \"x\"", 1, "ssid", "is not known here"),
        Wrong("password = \"x\"", 1, "password", "is not known", "It belongs in a table, such as [camera.ID]"),
        Wrong(
            "[relay.main]\nurl = \"rtmp://h/a\"\nadmin_keys = []", 3, "relay.main.admin_keys", "is not known here",
            "Write it at the top of the file, before the first line in brackets"),
        Wrong("[network]\nname = \"x\"", 2, "network.name", "is not known here"),
        Wrong(
            "[network.ethernet]\nadress = \"x\"", 2, "network.ethernet.adress", "is not known, did you mean `address`?"),
        Wrong("network.wlan = {}", 1, "network.wlan", "is not known"),
        Wrong(
            "[camera.a]\nsource = \"test:\"\npasswort = \"x\"", 3, "camera.a.passwort",
            "is not known, did you mean `password`?", "Write `password`"),
        Wrong("kas = { url = \"https://h/k\", tokn = \"x\" }", 1, "kas.tokn", "is not known, did you mean `token`?"),
        // The box.
        Wrong("name = 3", 1, "name", "is an integer, but must be a string"),
        Wrong("name = \"\"", 1, "name", "is empty or has more than 64 characters"),
        Wrong("name = \"a\\tb\"", 1, "name", "has control characters"),
        Wrong("name = \"a\"\nbox.name = \"b\"", 2, "box.name", "is there twice: `name` at the top says it as well"),
        Wrong("", 0, "", "says nothing"),
        Wrong("version = 1", 0, "", "says nothing"),
        Wrong("version = 9", 1, "version", "is a version that this WatchBox does not know"),
        // Syntax.
        Wrong("name = Porch", 1, "", "is not TOML: this is not a value; a string must be in quotes"),
        Wrong("name = \"a\"\nname = \"b\"", 2, "", "is not TOML: `name` is defined twice"),
        Wrong(
            "name = \"a\u{0}\"", 1, "",
            "is not TOML: there is a control character; in a string in double quotes, write it as \\u00…"),
        // Keys of people.
        Wrong("admin_keys = \"ssh-ed25519 AAAA\"", 1, "admin_keys", "is a string, but must be a list of strings"),
        Wrong("admin_keys = [3]", 1, "admin_keys[1]", "is an integer, but must be a string"),
        Wrong(
            "\n\nadmin_keys = [\"\(SSHPublicKeyTests.ed25519)\", \"ssh-rsa AAAA\"]", 3, "admin_keys[2]",
            "is cut off, or was changed while it was copied"),
        Wrong(
            "admin_keys = [\(tooManyKeys)]",
            1,
            "admin_keys", "has more than 16 keys"),
        // Ethernet.
        Wrong("network = 1", 1, "network", "is an integer, but must be a table"),
        Wrong("network.ethernet = \"x\"", 1, "network.ethernet", "is a string, but must be a table"),
        Wrong("[network.ethernet]\naddress = 3", 2, "network.ethernet.address", "is an integer, but must be a string"),
        Wrong("[network.ethernet]\naddress = \"x\"", 2, "network.ethernet.address", "is not an IP address"),
        Wrong(
            "network.ethernet.address = \"192.168.1.20\"", 1, "network.ethernet.address",
            "has no prefix from 8 to 30 behind it"),
        Wrong(
            "network.ethernet.address = \"192.168.1.20/33\"", 1, "network.ethernet.address",
            "has no prefix from 8 to 30 behind it"),
        Wrong(
            "network.ethernet.address = \"192.168.1.20/24/24\"", 1, "network.ethernet.address",
            "has no prefix from 8 to 30 behind it"),
        Wrong(
            "network.ethernet.address = \"192.168.1.0/24\"", 1, "network.ethernet.address",
            "is the network's own address, or its broadcast"),
        Wrong(
            "network.ethernet.address = \"192.168.1.255/24\"", 1, "network.ethernet.address",
            "is the network's own address, or its broadcast"),
        Wrong(
            "network.ethernet.address = \"127.0.0.2/8\"", 1, "network.ethernet.address",
            "cannot be the address of a machine"),
        Wrong(
            "network.ethernet.address = \"fd00::2/64\"", 1, "network.ethernet.address",
            "is an IPv6 address, and those come from the router by themselves"),
        Wrong(
            "network.ethernet.gateway = \"192.168.1.1\"", 1, "network.ethernet.gateway", "has no `address` beside it"),
        Wrong(
            "[network.ethernet]\naddress = \"192.168.1.20/24\"\ngateway = \"192.168.2.1\"", 3,
            "network.ethernet.gateway",
            "is not in the network of `address`"),
        Wrong(
            "[network.ethernet]\naddress = \"192.168.1.20/24\"\ngateway = \"192.168.1.20\"", 3,
            "network.ethernet.gateway",
            "is the box's own address"),
        Wrong(
            "[network.ethernet]\naddress = \"192.168.1.20/24\"\ngateway = \"192.168.1.1\\nDNS=6.6.6.6\"", 3,
            "network.ethernet.gateway", "is not the IPv4 address of a machine"),
        Wrong(
            "network.ethernet.dns = \"192.168.1.1\"", 1, "network.ethernet.dns",
            "is a string, but must be a list of strings"),
        Wrong("network.ethernet.dns = [\"x\"]", 1, "network.ethernet.dns", "is not a list of at most 4 IP addresses"),
        Wrong(
            "network.ethernet.dns = [\"1.1.1.1\",\"1.1.1.1\",\"1.1.1.1\",\"1.1.1.1\",\"1.1.1.1\"]", 1,
            "network.ethernet.dns", "is not a list of at most 4 IP addresses"),
        // Wi-Fi.
        Wrong("network.wifi = { password = \"12345678\", country = \"DE\" }", 1, "network.wifi.ssid", "is missing"),
        Wrong("network.wifi = { ssid = \"x\", country = \"DE\" }", 1, "network.wifi.password", "is missing"),
        Wrong("network.wifi = { ssid = \"x\", password = \"12345678\" }", 1, "network.wifi.country", "is missing"),
        Wrong(wifi.replacing("Home", with: ""), 1, "network.wifi.ssid", "is empty or longer than 32 bytes"),
        Wrong(
            wifi.replacing("Home", with: "0123456789012345678901234567890€"), 1, "network.wifi.ssid",
            "is empty or longer than 32 bytes"),
        Wrong(wifi.replacing("Home", with: "a\\nb"), 1, "network.wifi.ssid", "has control characters"),
        Wrong(wifi.replacing("12345678", with: "1234567"), 1, "network.wifi.password", "has not 8 to 63 characters"),
        Wrong(
            wifi.replacing("12345678", with: String(repeating: "g", count: 64)), 1, "network.wifi.password",
            "has not 8 to 63 characters"),
        Wrong(wifi.replacing("12345678", with: "1234567\\n8"), 1, "network.wifi.password", "has control characters"),
        Wrong(wifi.replacing("\"DE\"", with: "\"de\""), 1, "network.wifi.country", "is not a country's code"),
        Wrong(wifi.replacing("\"DE\"", with: "49"), 1, "network.wifi.country", "is an integer, but must be a string"),
        Wrong(
            wifi.replacing(" }", with: ", hidden = 1 }"), 1, "network.wifi.hidden",
            "is an integer, but must be true or false"),
        // Secrets in clear, and in wrong places.
        Wrong("relay.main.secret_url = 3", 1, "relay.main.secret_url", "is an integer, but must be a string"),
        Wrong("relay.main.secret_url = \"http://h/a\"", 1, "relay.main.secret_url", "is not a relay's URL"),
        Wrong("relay.main.secret_url = \"rtmp://h/a b\"", 1, "relay.main.secret_url", "has white space"),
        Wrong("relay.main.secret_url = \"\"", 1, "relay.main.secret_url", "is empty or longer than 4096 bytes"),
        Wrong(
            "relay.main.url = \"rtmp://u:pw@h/a\"", 1, "relay.main.url", "carries a user or a password",
            "Write it as `secret_url` instead of `url`: then it is encrypted on the box"),
        Wrong(
            "relay.main.url = \"rtmp://h/a?key=pw\"", 1, "relay.main.url",
            "carries a query or a fragment, which can hold a secret",
            "Write it as `secret_url` instead of `url`: then it is encrypted on the box"),
        Wrong("hook.a.secret_url = \"ftp://h/a\"", 1, "hook.a.secret_url", "is not an https:// URL"),
        Wrong("hook.a = { url = \"https://h/a\", token = \"a b\" }", 1, "hook.a.token", "has white space"),
        Wrong("kas.token = \"x\"", 1, "kas.url", "is missing"),
        Wrong(
            "kas.url = \"https://h/k?token=pw\"", 1, "kas.url", "carries a user, a password, a query or a fragment",
            "Take it out, and write the token as `token` beside it"),
        Wrong(
            "[camera.a]\nsource = \"rtsp://h/s\"\npassword = \"pw\"", 3, "camera.a.password", "has no `user` beside it"),
        Wrong(
            "camera.a.source = \"rtsp://u:pw@h/s\"", 1, "camera.a.source", "carries a user or a password",
            "Take it out, and write the login as `user` and `password` beside it"),
        // The configuration's own.
        Wrong("[camera.a]\nsource = \"test:\"\nrate = 0", 3, "camera.a.rate", "is out of range"),
        Wrong("[relay.Main]\nurl = \"rtmp://h/a\"", 1, "relay.Main", "is not a relay's name"),
    ]

    @Test(arguments: wrong)
    func `each error says its line, its key, and what is right`(wrong: Wrong) throws {
        let (file, issues) = Self.read(wrong.text)
        #expect(file == nil)
        let errors = issues.filter { !$0.isWarning }
        try #require(errors.count == 1, "\(errors)")
        #expect(errors[0].line ?? 0 == wrong.line)
        #expect(errors[0].key == wrong.key)
        #expect(errors[0].reason == wrong.reason)
        if let hint = wrong.hint { #expect(errors[0].hint == hint) }
        #expect(!errors[0].hint.isEmpty)
        #expect(!errors[0].hint.contains("watchboxctl"), "whoever writes the file has no command line")
    }

    @Test func `all errors are told at once, by line`() {
        let (_, issues) = Self.read("nam = 1\nnetwork.wifi = 2\nrelay.main = 3\nadmin_keys = 4\n")
        #expect(issues.map(\.line) == [1, 2, 3, 4])
    }

    @Test func `what is not text is refused with what it is`() {
        func reasons(_ bytes: [UInt8]) -> [String] { AdoptionFile.read(bytes).issues.map(\.reason) }
        #expect(reasons([0xFF, 0xFE, 0x6E, 0]) == ["is saved as UTF-16"])
        #expect(reasons([UInt8](repeating: 0x20, count: 10 << 20)) == ["is longer than 64 KiB"])
        #expect(reasons([UInt8](repeating: 0x20, count: 64 << 10)) == ["says nothing"])
        let latin = AdoptionFile.read(Array("name = \"a\"\nname = \"K".utf8) + [0xFC] + Array("che\"\n".utf8)).issues
        #expect(latin.map(\.reason) == ["is not UTF-8 in this line"])
        #expect(latin.map(\.line) == [2])
    }

    @Test func `a shell's characters are text`() throws {
        let evil = "$(reboot); `id` | tee /etc/passwd & 'x' \\\\"
        let file = try #require(
            Self.read(
                "name = \"\(evil)\"\nnetwork.wifi = { ssid = \"$(reboot)\", password = \"\(evil)\", country = \"DE\" }"
            ).file)
        #expect(file.wireless?.ssid == "$(reboot)")
        #expect(file.objects.name == evil.replacing("\\\\", with: "\\"))
    }

    @Test func `no secret of a file is in what is shown of it`() throws {
        // Of the right ones, and of those that are refused where they stand.
        let (file, _) = Self.read(Self.full)
        var shown = String(reflecting: file) + "\(file?.objects.toml() ?? "")"
        dump(file, to: &shown)
        for swap in ["secret_url", "token", "password", "url", "ssid"] {
            let (_, issues) = Self.read(Self.full.replacing("\(swap) = ", with: "\(swap)x = "))
            shown += "\(issues)" + String(decoding: try JSONEncoder().encode(issues), as: UTF8.self)
            let (_, others) = Self.read(
                Self.full.replacing("secret_url = ", with: "url = ").replacing("\(swap) = \"", with: "\(swap) = \" "))
            shown += "\(others)"
        }
        for secret in Self.secrets { #expect(!shown.contains(secret)) }
        #expect(!shown.contains("s3cret"))
    }

    @Test func `no prefix of a file is a trap`() {
        let bytes = Array(Self.full.utf8)
        for count in stride(from: 0, to: bytes.count, by: 7) { _ = AdoptionFile.read(Array(bytes[..<count])) }
    }
}
