import Logging
import Testing

@testable import Systemd

struct JournalFieldsTests {
    private func event(
        _ message: String, _ level: Logger.Level = .info, error: (any Error)? = nil
    ) -> LogEvent {
        LogEvent(
            level: level, message: "\(message)", error: error, metadata: nil, source: nil, file: "Camera/Feed.swift",
            function: "run()", line: 7)
    }

    private func text(_ event: LogEvent, _ metadata: Logger.Metadata = [:]) -> String {
        let fields = JournalFields(event, metadata: metadata, identifier: "watchboxd") {
            $0 == "WB-1001" ? "00112233445566778899aabbccddeeff" : nil
        }
        return String(decoding: fields.bytes, as: UTF8.self)
    }

    @Test func `an event as the journal reads it`() {
        #expect(
            text(event("camera is back"), ["camera": "front", "relay": "1"]) == """
                MESSAGE=camera is back
                PRIORITY=6
                SYSLOG_IDENTIFIER=watchboxd
                CODE_FILE=Camera/Feed.swift
                CODE_LINE=7
                CODE_FUNC=run()
                WATCHBOX_CAMERA=front
                WATCHBOX_RELAY=1

                """)
    }

    @Test func `a known code has its message ID`() {
        #expect(text(event("x"), ["code": "WB-1001"]).contains("\nMESSAGE_ID=00112233445566778899aabbccddeeff\n"))
        #expect(text(event("x"), ["code": "WB-1001"]).contains("\nWATCHBOX_CODE=WB-1001\n"))
        #expect(!text(event("x"), ["code": "WB-9999"]).contains("MESSAGE_ID"))
        #expect(!text(event("x")).contains("MESSAGE_ID"))
    }

    @Test func `a line break makes no field`() {
        let text = text(event("a\nPRIORITY=0"), ["host": "x\n_UID=0"])
        #expect(text.hasPrefix("MESSAGE\n\u{c}\0\0\0\0\0\0\0a\nPRIORITY=0\nPRIORITY=6\n"))
        #expect(text.hasSuffix("\nWATCHBOX_HOST\n\u{8}\0\0\0\0\0\0\0x\n_UID=0\n"))
    }

    @Test(arguments: [
        ("camera", "WATCHBOX_CAMERA"), ("relay-host", "WATCHBOX_RELAY_HOST"),
        ("bitsPerSecond", "WATCHBOX_BITSPERSECOND"),
        ("_UID=0\n", "WATCHBOX__UID_0_"), ("ä", "WATCHBOX___"),
        (String(repeating: "k", count: 99), "WATCHBOX_" + String(repeating: "K", count: 55)),
    ])
    func `a key becomes a name that the journal takes`(key: String, name: String) {
        #expect(JournalFields.name(key) == name)
        #expect(name.utf8.count <= 64)
    }

    @Test func `a key without characters has no name`() {
        #expect(JournalFields.name("") == nil)
    }

    @Test(arguments: zip(Logger.Level.allCases, ["7", "7", "6", "5", "4", "3", "2"]))
    func `levels are syslog's`(level: Logger.Level, priority: String) {
        #expect(text(event("x", level)).contains("\nPRIORITY=\(priority)\n"))
    }

    @Test func `an error is a field`() {
        #expect(
            text(event("x", error: SystemdError.noSuchUnit("a.service"))).contains(
                "\nWATCHBOX_ERROR=there is no unit a.service\n"))
    }

    @Test func `long values are cut between characters, and many keys are too many`() {
        var metadata: Logger.Metadata = [:]
        for index in 10..<99 { metadata["k\(index)"] = "\(String(repeating: "ä", count: 4000))" }
        let fields = JournalFields(
            event("a" + String(repeating: "ä", count: 60_000)), metadata: metadata, identifier: "x",
            messageID: { _ in nil })
        #expect(fields.bytes.count < 128 * 1024)
        let text = String(decoding: fields.bytes, as: UTF8.self)
        #expect(text.utf8.count == fields.bytes.count)  // no character was cut in half
        #expect(text.split(separator: "\n").first?.utf8.count == 8 + 16 * 1024 - 1)
        #expect(text.contains("WATCHBOX_K33=") && !text.contains("WATCHBOX_K34="))
    }
}
