import ArgumentParser
import Settings
import Testing

@testable import BoxCommands

struct CameraSettingOptionsTests {
    private func settings(_ words: [String]) throws -> [String: SettingValue] {
        try CameraSettingOptions.parse(words).settings
    }

    @Test func `whether a bitrate follows its uplink, and how far, is a setting`() throws {
        #expect(try settings(["--adapt"]) == ["adapt": .boolean(true)])
        #expect(
            try settings(["--no-adapt", "--min-bitrate", "300000"])
                == ["adapt": .boolean(false), "min_bitrate": .integer(300_000)])
        // The box understands nothing between the quotes as the default.
        #expect(try settings(["--min-bitrate", "none"]) == ["min_bitrate": .string("")])
        #expect(try settings([]).isEmpty)
    }

    @Test(arguments: ["0", "-5", "1.5", "much", "99999999999999999999"])
    func `what is no bitrate is refused`(value: String) {
        #expect(throws: (any Error).self) { try settings(["--min-bitrate=\(value)"]) }
    }
}
