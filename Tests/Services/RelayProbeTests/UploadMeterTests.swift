import Testing

@testable import RelayProbe

@Suite struct UploadMeterTests {
    private static let second: UInt64 = 1_000_000_000
    private static let limits = UploadMeter.Limits(bytes: 8_000_000, time: 3 * second)

    @Test func `what was not acknowledged is not a speed`() {
        var meter = UploadMeter(Self.limits, acknowledged: 3000, at: 5)
        #expect(meter.upload == nil)
        meter.sampled(acknowledged: 3000, at: Self.second)
        #expect(meter.upload == nil)
    }

    @Test func `the first second does not count`() throws {
        var meter = UploadMeter(Self.limits, acknowledged: 1000, at: 0)
        meter.sampled(acknowledged: 101_000, at: Self.second / 2)
        meter.sampled(acknowledged: 201_000, at: Self.second)
        meter.sampled(acknowledged: 1_201_000, at: 3 * Self.second)
        let upload = try #require(meter.upload)
        #expect(upload.bitsPerSecond == 4_000_000)
        #expect(upload.bytes == 1_200_000)
        #expect(upload.milliseconds == 3000)
        #expect(!upload.isAtLeast)
    }

    @Test func `a line that is fast is at least so fast`() throws {
        var meter = UploadMeter(Self.limits, acknowledged: 0, at: 0)
        meter.sampled(acknowledged: 8_000_000, at: Self.second / 10)
        let upload = try #require(meter.upload)
        #expect(upload.isAtLeast)
        #expect(upload.bitsPerSecond == 640_000_000)
    }

    /// Silence at the end is not shown by any acknowledgement; the line was as fast as it was until then.
    @Test func `figures that stand still, or go back, change nothing`() throws {
        var meter = UploadMeter(Self.limits, acknowledged: 0, at: 0)
        meter.sampled(acknowledged: 1_000_000, at: 2 * Self.second)
        let before = try #require(meter.upload)
        meter.sampled(acknowledged: 1_000_000, at: 9 * Self.second)
        meter.sampled(acknowledged: 10, at: 10 * Self.second)
        meter.sampled(acknowledged: 2_000_000, at: 2 * Self.second)
        #expect(meter.upload == before)
    }

    @Test func `it ends with its bytes, or with its time`() {
        let meter = UploadMeter(Self.limits, acknowledged: 0, at: Self.second)
        #expect(!meter.isOver(written: 7_999_999, at: 4 * Self.second - 1))
        #expect(meter.isOver(written: 8_000_000, at: Self.second))
        #expect(meter.isOver(written: 0, at: 4 * Self.second))
    }
}
