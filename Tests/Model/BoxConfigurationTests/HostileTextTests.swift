import ErrorCatalog
import Settings
import TOML
import TestSupport
import Testing

@testable import BoxConfiguration

struct HostileTextTests {
    @Test(arguments: [10_000, 100_000])
    func `deep nesting is refused with its place`(depth: Int) {
        let texts = [
            "a = " + String(repeating: "[", count: depth),
            "a = " + String(repeating: "[", count: depth) + String(repeating: "]", count: depth),
            String(repeating: "[", count: depth), "a = " + String(repeating: "{a=", count: depth / 2),
            "a = " + String(repeating: "{a=", count: depth / 2) + "1" + String(repeating: "}", count: depth / 2),
            String(repeating: "a.", count: depth) + "a = 1", "[" + String(repeating: "a.", count: depth) + "a]",
            "a = {" + String(repeating: "a.", count: depth) + "a = 1}",
            "a = " + String(repeating: "[{a=", count: depth / 2),
            String(repeating: "\"\".", count: depth / 2) + "x = 1",
        ]
        for text in texts {
            let (settings, issues) = Samples.read(text)
            #expect(settings == nil)
            #expect(issues.map(\.code) == [.invalidSyntax])
            #expect(issues.first?.line == 1)
        }
    }

    @Test func `a NUL is refused wherever it stands`() {
        for text in [
            "\u{0}", "a = 1\n\u{0}b = 2", "# \u{0}", "a = \"\u{0}\"", "a = '\u{0}'", "a = \"\"\"\u{0}\"\"\"",
            "a\u{0} = 1",
        ] {
            #expect(Samples.read(text).issues.map(\.code) == [.invalidSyntax], "\(Array(text.utf8))")
        }
        let (settings, issues) = Samples.read(#"box.name = "a\u0000b""#)
        #expect(settings == nil && issues.map(\.key) == ["box.name"] && issues.map(\.code) == [.invalidValue])
    }

    @Test func `text is read up to 256 KiB`() {
        let fill = String(repeating: "#", count: ConfigurationFiles.sizeLimit - Samples.small.utf8.count)
        #expect(Samples.read(Samples.small + fill).settings != nil)
        #expect(Samples.read(Samples.small + fill + "#").issues.map(\.code) == [.unreadableFile])
    }

    @Test func `too many keys and too many files are refused`() {
        let keys = (0...TOMLReader.keyLimit).map { "k\($0)=1\n" }.joined()
        #expect(Samples.read(keys).issues.map(\.code) == [.invalidSyntax])
        let lists = "a=[" + String(repeating: "0,", count: TOMLReader.keyLimit + 1) + "]"
        #expect(Samples.read(lists).issues.map(\.code) == [.invalidSyntax])
        let files = (0...ConfigurationFiles.countLimit).map { SourceFile(name: "\($0).toml", text: "") }
        #expect(ConfigurationReader.read(files: files).issues.map(\.code) == [.unreadableFile])
    }

    @Test func `a file's name and a key cannot speak to the terminal`() {
        let (_, issues) = ConfigurationReader.read(files: [
            SourceFile(name: "\u{1B}[31m.toml", text: "\"\\u001b]0;x\\u0007\" = 1\n[camera.\"\\u001b[2J\"]\n")
        ])
        #expect(issues.count == 2)
        for issue in issues { #expect(issue.description.unicodeScalars.allSatisfy { $0.value >= 0x20 }) }
    }

    /// Bytes are taken out, put in, doubled and replaced; every answer is settings or issues with places.
    @Test(arguments: UInt64(0)..<40)
    func `a mutated document never traps`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let corpus = [
            Samples.full, Samples.small, DeviceKeyTests.full, NetworkKeyTests.full,
            "a=[[[1,{b=[{c='x'}]}]]]\n[[t]]\nx=1\n[t.y]\n[[t]]\n'q'.\"r\"=1979-05-27 07:32:00\ns=\"\"\"\n\\\n\"\"\"\"\"\n",
        ]
        let pieces: [[UInt8]] =
            [
                "\"", "'", "\"\"\"", "'''", "[", "]", "{", "}", "[[", "]]", "=", ".", ",", "#", "\n", "\r\n", "\r",
                "\\", "\\u0000", "\u{0}",
                " ", "\t", "é", "\u{2028}", "\u{85}", "\u{A0}", "\u{FEFF}", "1", "-", "nan", "0x", "1e999", "camera",
                "true", "a.b=", ":", "T", "+", "07:32:00", "1979-05-27", "_",
            ].map { Array($0.utf8) } + [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80]]
        for base in corpus {
            for _ in 0..<25 {
                var bytes = Array(base.utf8)
                for _ in 0..<Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
                    let place = Int.random(in: 0..<bytes.count, using: &generator)
                    let end = min(bytes.count, place + Int.random(in: 0...6, using: &generator))
                    switch Int.random(in: 0...3, using: &generator) {
                    case 0: bytes.removeSubrange(place..<end)
                    case 1:
                        bytes.insert(
                            contentsOf: bytes[place..<end], at: Int.random(in: 0...bytes.count, using: &generator))
                    default: bytes.insert(contentsOf: pieces.randomElement(using: &generator)!, at: place)
                    }
                }
                let file = SourceFile(name: "m.toml", text: String(decoding: bytes, as: UTF8.self))
                let (settings, issues) = ConfigurationReader.read(files: [file])
                #expect((settings == nil) == issues.contains { !$0.isWarning })
                #expect(issues.allSatisfy { $0.file == "m.toml" && !$0.reason.isEmpty && !$0.hint.isEmpty })
            }
        }
    }
}
