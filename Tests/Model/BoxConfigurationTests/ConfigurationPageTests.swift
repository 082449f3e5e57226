import BoxConfiguration
import FoundationEssentials
import Testing

@Suite struct ConfigurationPageTests {
    @Test func `the written page is that of the code`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = String(
            decoding: try Data(contentsOf: root.appending(path: "docs/ref/configuration.md")), as: UTF8.self)
        #expect(
            text == ConfigurationReference.page,
            "write it again: watchboxctl config schema --markdown > docs/ref/configuration.md")
    }
}
