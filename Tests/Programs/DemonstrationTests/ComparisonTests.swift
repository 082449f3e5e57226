import Demonstration
import Foundation
import Testing

struct ComparisonTests {
    private func records(_ text: String) throws -> [FrameRecord] {
        let file = FileManager.default.temporaryDirectory.appending(path: "watchbox-\(UUID().uuidString).jsonl")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(text.utf8).write(to: file)
        return try FrameRecord.read(file)
    }

    private func line(iv: Int, dts: Int = 0, sha256: String = "aa", collection: String = "c1", instant: Int = 9)
        -> String
    {
        """
        {"track":"video","dts":\(dts),"key":true,"bytes":3,"sha256":"\(sha256)","instant":\(instant),\
        "captured":4,"iv":\(iv),"collection":"\(collection)"}

        """
    }

    @Test func `equal logs are exact, whatever else the lines say`() throws {
        let camera = try records(line(iv: 1) + line(iv: 2, dts: 40))
        let viewer = try records(line(iv: 1, instant: 2_000_004) + line(iv: 2, dts: 40, instant: 4_000_004))
        let comparison = Comparison(camera: camera, viewer: viewer)
        #expect(comparison.isExact)
        #expect(comparison.latency(percentile: 50) == 2)
        #expect(comparison.latency(percentile: 99) == 4)
        #expect(comparison.rotations == 0)
    }

    @Test func `nothing at all is not exact`() {
        #expect(!Comparison(camera: [], viewer: []).isExact)
    }

    @Test func `a lost frame, a changed frame and a repeated frame are each seen`() throws {
        let camera = try records(line(iv: 1) + line(iv: 2, dts: 40))
        #expect(Comparison(camera: camera, viewer: try records(line(iv: 1))).missing == 1)
        let changed = Comparison(camera: camera, viewer: try records(line(iv: 1) + line(iv: 2, dts: 40, sha256: "bb")))
        #expect(changed.wrong == 1)
        let repeated = Comparison(camera: camera, viewer: try records(line(iv: 1) + line(iv: 1) + line(iv: 2, dts: 40)))
        #expect(repeated.wrong == 1)
        #expect(![changed, repeated].contains { $0.isExact })
    }

    @Test func `frames out of order are wrong`() throws {
        let camera = try records(line(iv: 1) + line(iv: 2, dts: 40))
        let viewer = try records(line(iv: 2, dts: 40) + line(iv: 1))
        #expect(Comparison(camera: camera, viewer: viewer).wrong == 1)
    }

    @Test func `an IV used twice under one key is reported`() throws {
        let camera = try records(line(iv: 1) + line(iv: 1, dts: 40))
        #expect(Comparison(camera: camera, viewer: []).reusedPairs == 1)
    }

    @Test func `a new collection is a rotation and may count from 1 again`() throws {
        let camera = try records(line(iv: 1) + line(iv: 1, dts: 40, collection: "c2"))
        let comparison = Comparison(camera: camera, viewer: camera)
        #expect(comparison.rotations == 1)
        #expect(comparison.isExact)
    }

    @Test func `the half-written last line of a writer that was killed is left out`() throws {
        let whole = line(iv: 1)
        #expect(try records(whole + whole.dropLast(7)).count == 1)
    }
}
