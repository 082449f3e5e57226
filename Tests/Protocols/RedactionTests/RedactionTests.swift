import Testing

@testable import Redaction

struct RedactionTests {
    @Test(
        arguments: [
            ("rtmp://bob:hunter2@relay.example.net/live", "rtmp://REDACTED@relay.example.net/live"),
            (
                "rtmps://relay.example.net:443/live/KEY-123 failed",
                "rtmps://relay.example.net:443/live/REDACTED failed"
            ),
            ("https://kas.example.net/kas?auth=hunter2#x, next", "https://kas.example.net/kas?REDACTED next"),
            ("https://bob:p/w@d@host/x", "https://REDACTED@host/x"),
            (
                "GET /x HTTP/1.1\nAuthorization: Bearer abc.def\nHost: x",
                "GET /x HTTP/1.1\nAuthorization: REDACTED\nHost: x"
            ),
            ("sent Bearer 0123456789abcdef.", "sent Bearer REDACTED"),
            ("password=hunter2, user=bob", "password=REDACTED, user=bob"),
            ("kas_token: hunter2;x", "kas_token: REDACTED;x"),
            ("relay-stream-key = 'hunter 2' y", "relay-stream-key = 'REDACTED' y"),
            ("secret = \"relay-main\"\nname = \"x\"", "secret = \"REDACTED\"\nname = \"x\""),
            ("token = \"\"\"a\nb\"\"\" rest", "token = \"\"\"REDACTED\"\"\" rest"),
            (
                #"{"password":"hun\"ter2","hasToken":true,"user":"bob"}"#,
                #"{"password":"REDACTED","hasToken":true,"user":"bob"}"#
            ),
            (#"{"password":"ends\\","user":"bob"}"#, #"{"password":"REDACTED","user":"bob"}"#),
            (
                #"{"message":"{\"token\":\"a\\\"b\",\"x\":\"y\"}"}"#,
                #"{"message":"{\"token\":\"REDACTED\",\"x\":\"y\"}"}"#
            ),
            ("x eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJib3gifQ.c2lnbmF0dXJl y", "x REDACTED y"),
            ("id_eyJhbGciOiJFUzI1NiJ9.eyJzdWIi", "id_REDACTED"),
            (
                "a -----BEGIN EC PRIVATE KEY-----\nMHcC\n-----END EC PRIVATE KEY-----\nb",
                "a REDACTED\nb"
            ),
            ("-----BEGIN PRIVATE KEY-----\nMHcC that was cut", "REDACTED"),
            (#"{"x":"a\n-----BEGIN PRIVATE KEY-----\nMHcC\n-----END PRIVATE KEY-----\n"}"#, #"{"x":"a\nREDACTED\n"}"#),
        ] as [(String, String)])
    func `what is secret goes, what is around it stays`(text: String, clean: String) {
        #expect(Redaction.clean(text) == clean)
        #expect(Redaction.clean(clean) == clean, "a second time changes nothing")
    }

    @Test(arguments: [
        "", "the basic settings are fine", "secretProtection is systemd-tpm2", "hasSecret:true", "token=null",
        "camera front: no frames for 41.2 s",
        "rtmp://relay.example.net/live", "12:30 watchbox-control.service info generation 27", "Grüße, 日本 🎥",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "password", "password=", "token:", "://",
        "key=\"",
    ])
    func `what is not a secret stays as it is`(text: String) {
        #expect(Redaction.clean(text) == text)
    }

    /// Whatever stands around it, the value does not come through.
    @Test func `a planted secret does not survive in any surrounding`() {
        let secret = "Zq7-PLANTED_secret.9"
        let shapes: [(String) -> String] = [
            { "password=\($0)" }, { "PASSWORD: \($0)" }, { "\"apiKey\" : \"\($0)\"" }, { "{\"stream_key\":\"\($0)\"}" },
            { "Authorization: Basic \($0)" }, { "authorization=Digest \($0)" }, { "rtmp://u:\($0)@h/a" },
            { "rtmp://h/a/\($0)" },
            { "rtmps://h/a/b/\($0)?x" }, { "https://h/p?\($0)" }, { "https://\($0)@h/" }, { "Cookie: \($0)" },
            { "passphrase='\($0)'" }, { "kas-token=\"\($0)\"" }, { "export KAS_TOKEN=\($0)" },
            { "eyJhbGciOiJIUzI1NiJ9.\($0)" },
        ]
        let around = [
            "", " ", "\n", "{", "}", "[\"", "\"]", ",", "x", "\t", "é", "\\", "\\\\", "'", "\"", "🎥", "=", ":", "a=b;",
            "://",
        ]
        for shape in shapes {
            for before in around where before != "x" && before != "://" {
                for after in around {
                    let text = "\(before) \(shape(secret)) \(after)"
                    #expect(!Redaction.clean(text).contains("PLANTED"), "\(text)")
                }
            }
        }
    }

    @Test func `any bytes give a string, and megabytes of what looks like a secret an end`() {
        var generator = SystemRandomNumberGenerator()
        let alphabet = Array("\\\"'=: \npasswordtoken://@?eyJ-BEGIN".utf8) + [0x00, 0x80, 0xFF]
        for _ in 0..<500 {
            let bytes = (0..<Int.random(in: 0...200, using: &generator)).map { _ in
                alphabet.randomElement(using: &generator) ?? 0
            }
            _ = Redaction.clean(String(decoding: bytes, as: UTF8.self))
        }
        for unit in ["token=\"", "-----BEGIN ", "password=\\\"", "eyJeyJ", "a://", "password:"] {
            let text = String(repeating: unit, count: (256 << 10) / unit.utf8.count)
            #expect(Redaction.clean(text).utf8.count <= 4 * text.utf8.count)
        }
    }
}
