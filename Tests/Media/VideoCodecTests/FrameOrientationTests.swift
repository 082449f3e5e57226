import Testing

@testable import VideoCodec

@Suite struct FrameOrientationTests {
    static let all = FrameOrientation.Rotation.allCases.flatMap { rotation in
        [(false, false), (true, false), (false, true), (true, true)].map {
            FrameOrientation(rotation: rotation, isFlippedHorizontally: $0.0, isFlippedVertically: $0.1)
        }
    }

    /// As a person would do it: a quarter at a time, then the mirrors.
    private func turned<T>(_ rows: [[T]], _ orientation: FrameOrientation) -> [[T]] {
        var rows = rows
        for _ in 0..<(orientation.rotation.rawValue / 90) {
            rows = (0..<rows[0].count).map { column in rows.reversed().map { $0[column] } }
        }
        if orientation.isFlippedHorizontally { rows = rows.map { $0.reversed() } }
        if orientation.isFlippedVertically { rows = rows.reversed() }
        return rows
    }

    private func pairs(_ rows: [[UInt8]]) -> [[[UInt8]]] {
        rows.map { row in stride(from: 0, to: row.count, by: 2).map { [row[$0], row[$0 + 1]] } }
    }

    @Test(arguments: all)
    func `every sample goes where it belongs`(orientation: FrameOrientation) throws {
        for (width, height) in [(64, 32), (66, 34), (34, 18), (35, 17), (16, 16), (2, 2), (1, 1), (46, 38)] {
            let planar = try Samples.noise(width, height, .yuv420p)
            let result = try orientation.apply(planar, lineAlignment: 64)
            for plane in 0..<3 {
                #expect(Samples.rows(result, plane) == turned(Samples.rows(planar, plane), orientation))
            }
            let interleaved = try Samples.noise(width, height, .nv12)
            let other = try orientation.apply(interleaved)
            #expect(Samples.rows(other, 0) == turned(Samples.rows(interleaved, 0), orientation))
            #expect(pairs(Samples.rows(other, 1)) == turned(pairs(Samples.rows(interleaved, 1)), orientation))
        }
    }

    @Test func `a frame that stays as it is is not copied`() throws {
        let frame = try Samples.noise(64, 32, .yuv420p)
        let before = frame.memory(ofPlane: 0)?.bytes.baseAddress
        for orientation in Self.all where orientation.isIdentity {
            let same = try orientation.apply(frame)
            let after = same.memory(ofPlane: 0)?.bytes.baseAddress
            #expect(after == before)
        }
        #expect(Self.all.filter(\.isIdentity).count == 2)
    }

    @Test func `what is turned keeps its range and its matrix`() throws {
        let frame = try Samples.noise(64, 32, .nv12)
        frame.isFullRange = true
        frame.matrix = .bt709
        let result = try FrameOrientation(rotation: .quarter).apply(frame)
        let reported = (result.isFullRange, result.matrix)
        #expect(reported == (true, .bt709))
    }

    @Test func `other pixel formats are refused`() throws {
        let frame = try Samples.noise(64, 32, .yuyv422)
        #expect(throws: VideoCodecError.unsupportedFrame(what: "turning", frame: "64x32 yuyv422")) {
            let result = try FrameOrientation(rotation: .half).apply(frame)
            Issue.record("\(result.description)")
        }
    }
}
