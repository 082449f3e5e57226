import TestSupport
import Testing

@testable import Archive

struct RecordingNameTests {
    @Test func `a name says what it was made of`() {
        let name = RecordingName(sequence: 123, begin: 1_795_893_721_040, duration: 60_040)
        #expect(name.fileName == "00000123-20261128T192201040Z-60040.tdf")
        #expect(RecordingName(name.fileName) == name)
        #expect(name.end == 1_795_893_781_080)
        var pinned = name
        pinned.isPinned = true
        #expect(pinned.fileName == "00000123-20261128T192201040Z-60040-pinned.tdf")
        #expect(RecordingName(pinned.fileName) == pinned)
        #expect(RecordingName.stem(123) == "00000123" && RecordingName.stem(1_234_567_890) == "1234567890")
    }

    @Test(arguments: UInt64(0)..<8)
    func `any name comes back, and names sort as their times do`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var names: [RecordingName] = []
        for _ in 0..<500 {
            let name = RecordingName(
                sequence: UInt64.random(in: 0..<1_000_000_000_000, using: &random)
                    >> Int.random(in: 0..<40, using: &random),
                begin: .random(in: 0...253_402_300_799_999, using: &random),
                duration: .random(in: 0...(.max), using: &random), isPinned: .random(using: &random))
            #expect(RecordingName(name.fileName) == name)
            names.append(RecordingName(sequence: 1, begin: name.begin, duration: 1))
        }
        #expect(names.sorted { $0.begin < $1.begin }.map(\.fileName) == names.map(\.fileName).sorted())
    }

    @Test(
        arguments: [
            (0, "19700101T000000000Z"), (951_782_399_999, "20000228T235959999Z"),
            (951_782_400_000, "20000229T000000000Z"),
            (4_107_542_400_000, "21000301T000000000Z"), (253_402_300_799_999, "99991231T235959999Z"),
            (-1, "19700101T000000000Z"),
            (Int64.min, "19700101T000000000Z"), (253_402_300_800_000, "99991231T235959999Z"),
            (Int64.max, "99991231T235959999Z"),
        ] as [(Int64, String)])
    func `years have four digits`(begin: Int64, text: String) {
        let name = RecordingName(sequence: 999_999_999_999, begin: begin, duration: .max)
        #expect(name.fileName == "999999999999-\(text)-4294967295.tdf")
        #expect(RecordingName(name.fileName) == name)
        #expect(name.end == name.begin + 4_294_967_295)
    }

    @Test(arguments: [
        "", ".tdf", "film.tdf", "00000007.part", "00000123-20261128T192201040Z-60040",
        "123-20261128T192201040Z-60040.tdf",
        "000000123-20261128T192201040Z-60040.tdf", "00000123-20261128T192201040Z-060040.tdf",
        "00000123-20261128T192201040Z-60040.tdf.tdf", "00000123-20261128T192201040Z-60040-pinned",
        "00000123-20261128T192201040Z-60040-.tdf", "00000123-20261128T192201040Z-60040-other.tdf",
        "00000123-20261128T192201040Z-60040-pinned-pinned.tdf", "00000123-20261128T192201040Z-4294967296.tdf",
        "00000123-20261128T192201040Z--1.tdf", "-0000123-20261128T192201040Z-60040.tdf",
        "00000123-20261328T192201040Z-60040.tdf", "00000123-20260229T192201040Z-60040.tdf",
        "00000123-20261128T242201040Z-60040.tdf", "00000123-20261128T196001040Z-60040.tdf",
        "00000123-20261128T192261040Z-60040.tdf", "00000123-20261128T19220104Z-60040.tdf",
        "00000123-20261128T192201040z-60040.tdf", "00000123-20261128t192201040Z-60040.tdf",
        "00000123-20261128 192201040Z-60040.tdf", "00000123-19691231T235959999Z-60040.tdf",
        "18446744073709551615-20261128T192201040Z-60040.tdf", "0000012٣-20261128T192201040Z-60040.tdf",
        "1000000000000-20261128T192201040Z-60040.tdf",
        " 00000123-20261128T192201040Z-60040.tdf", "../00000123-20261128T192201040Z-60040.tdf",
        "00000123-20261128T192201040Z-60040.TDF", ".00000123-20261128T192201040Z-60040.tdf.X7a2Bc",
    ])
    func `other names are no recording's`(name: String) {
        #expect(RecordingName(name) == nil)
    }

    @Test func `a name that is damaged is none, or is the one that it says`() {
        var random = SeededGenerator(seed: 1)
        let name = Array("00000123-20261128T192201040Z-60040-pinned.tdf".utf8)
        for _ in 0..<20_000 {
            var bytes = name
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0x20...0x7E, using: &random)
            }
            let text = String(decoding: bytes, as: UTF8.self)
            if let found = RecordingName(text) { #expect(found.fileName == text) }
        }
    }
}
