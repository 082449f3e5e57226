import Foundation
import Settings
import Testing

struct SettingValueTests {
    @Test func `settings are bare values in JSON`() throws {
        let settings: [String: SettingValue] = [
            "a": .string("x"), "b": .integer(5), "c": .real(2.5), "d": .boolean(true), "e": .strings(["x"]),
        ]
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let json = try encoder.encode(settings)
        #expect(String(decoding: json, as: UTF8.self) == #"{"a":"x","b":5,"c":2.5,"d":true,"e":["x"]}"#)
        #expect(try JSONDecoder().decode([String: SettingValue].self, from: json) == settings)
        #expect(SettingValue.integer(25) == .real(25) && SettingValue.real(25.5) != .integer(25))
        #expect(SettingValue.integer(1) != .boolean(true) && SettingValue.string("1") != .integer(1))
        for wrong in [#"{"a":null}"#, #"{"a":[1]}"#, #"{"a":{"b":1}}"#] {
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode([String: SettingValue].self, from: Data(wrong.utf8))
            }
        }
    }
}
