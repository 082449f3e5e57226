import Foundation
import Testing

@testable import Hooks

struct HookTextTests {
    @Test(arguments: [
        (200, HookOutcome.delivered), (204, .delivered), (299, .delivered), (301, .refused), (307, .refused),
        (400, .refused), (401, .refused), (404, .refused), (408, .failed), (425, .failed), (429, .failed),
        (500, .failed), (503, .failed), (100, .failed),
    ])
    func `a status says whether another attempt is worth it`(status: Int, outcome: HookOutcome) {
        #expect(HookOutcome(status: status) == outcome)
    }

    @Test(arguments: [
        ("porch-box: front", "porch-box: front"), ("a\r\nX-Evil: 1", "a X-Evil: 1"), ("  a\t\u{0}b\n", "a b"), ("", ""),
        ("a\u{202E}b\u{2067}\u{200F}c", "a b c"),
        ("\n", ""),
    ])
    func `a header's value is one line`(text: String, value: String) {
        #expect(HeaderText.value(text) == value)
    }

    /// As RFC 2047 has it: words of at most 75 characters, each complete in itself.
    @Test(arguments: ["Haustür", "日本の玄関", "=?UTF-8?B?eA==?=", String(repeating: "äöü🎥", count: 30), "ß\r\nX: 1"])
    func `what is not ASCII is encoded, and decodes to what it was`(text: String) throws {
        let value = HeaderText.value(text)
        #expect(value.utf8.allSatisfy { (0x20..<0x7F).contains($0) })
        var decoded = ""
        for word in value.split(separator: " ") {
            #expect(word.utf8.count <= 75 && word.hasPrefix("=?UTF-8?B?") && word.hasSuffix("?="))
            let data = try #require(Data(base64Encoded: String(word.dropFirst(10).dropLast(2))))
            decoded += try #require(String(validating: data, as: UTF8.self))
        }
        #expect(decoded == text.replacing("\r\n", with: " "))
    }

    @Test func `a long text is cut`() {
        #expect(HeaderText.value(String(repeating: "a", count: 1000)).utf8.count == 250)
    }
}
