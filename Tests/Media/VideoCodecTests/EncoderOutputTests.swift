import Media
import Testing

@testable import VideoCodec

@Suite struct EncoderOutputTests {
    /// An encoded stream as a driver gives it: byte streams, one packet for each frame.
    private struct Stream {
        var format: VideoFormat
        var sets: [UInt8]
        var units: [AccessUnit]

        /// Frames 0…9, key frames at 0 and 5.
        init() throws {
            var configuration = Pattern.configuration()
            configuration.keyFrameInterval = 100
            let encoder = try VideoEncoder(configuration)
            format = try #require(encoder.format)
            units = []
            for number in 0..<10 {
                if number == 5 { encoder.requestKeyFrame() }
                let events = try encoder.encode(
                    Pattern.frame(number), at: MediaTime(milliseconds: Int64(number) * 40))
                for case .accessUnit(let unit) in events { units.append(unit) }
            }
            let record = try AVCConfigurationRecord.parse(format.configurationRecord[...])
            sets = AnnexB.lengthPrefixed(
                (record.sequenceParameterSets + record.pictureParameterSets).map { $0[...] })
        }

        /// - Parameter withSets: parameter sets in front, in the same packet.
        func packet(_ number: Int, withSets: Bool = false) throws -> EncodedPacket {
            packet(try AnnexB.bytes(fromLengthPrefixed: ((withSets ? sets : []) + units[number].data)[...]))
        }

        func packet(_ bytes: [UInt8]) -> EncodedPacket {
            bytes.withUnsafeBytes { EncodedPacket($0.bytes, codec: .h264) }
        }
    }

    /// An output whose encoder reported no parameter sets, with `count` frames sent.
    private func output(sent count: Int64) throws -> EncoderOutput {
        var output = EncoderOutput(codec: .h264, frameRate: 25, keyFrameInterval: MediaTime(milliseconds: 100_000))
        try output.opened(codec: .h264, frameRate: 25, extradata: [])
        for number in 0..<count { send(number, &output) }
        return output
    }

    @discardableResult
    private func send(_ number: Int64, _ output: inout EncoderOutput) -> Bool {
        output.sending(
            EncoderLedger.Frame(
                presentationTime: MediaTime(milliseconds: number * 40), captureInstant: UInt64(number)),
            at: number + 1000)
    }

    /// "format", "key 0", "unit 40": kinds with times in milliseconds.
    private func words(_ events: [MediaEvent]) -> [String] {
        events.map { event in
            switch event {
            case .videoFormat: "format"
            case .accessUnit(let unit): "\(unit.isKeyFrame ? "key" : "unit") \(unit.presentationTime.milliseconds)"
            default: "other"
            }
        }
    }

    @Test func `the format is taken from the first key frame and comes before it`() throws {
        let stream = try Stream()
        var output = try output(sent: 2)
        #expect(output.format == nil)
        let first = try output.received(stream.packet(0, withSets: true), at: 1000, isFlagged: false)
        #expect(words(first) == ["format", "key 0"])
        #expect(output.format?.width == 320 && output.format?.frameRate == 25)
        let second = try output.received(stream.packet(1), at: 1001, isFlagged: false)
        #expect(words(second) == ["unit 40"])
        guard case .accessUnit(let unit) = second.first else { return }
        #expect(unit.captureInstant == 1 && unit.decodeTime == unit.presentationTime)
        #expect(unit.data == stream.units[1].data)
    }

    @Test func `parameter sets in a packet of their own cost no frame, whatever its time stamp`() throws {
        let stream = try Stream()
        for tick in [Int64(0), 1000] {
            var output = try output(sent: 1)
            let sets = stream.packet(try AnnexB.bytes(fromLengthPrefixed: stream.sets[...]))
            let none = try output.received(sets, at: tick, isFlagged: false)
            #expect(none.isEmpty)
            let first = try output.received(stream.packet(0), at: 1000, isFlagged: false)
            #expect(words(first) == ["format", "key 0"])
            #expect(output.ledger.unmatched == 0 && output.ledger.drops == 0)
        }
    }

    @Test func `parameter sets beside a packet are taken, too`() throws {
        let stream = try Stream()
        var output = try output(sent: 1)
        let extradata = try AnnexB.bytes(fromLengthPrefixed: stream.sets[...])
        let first = try output.received(stream.packet(0), at: 1000, isFlagged: false, extradata: extradata)
        #expect(words(first) == ["format", "key 0"])
    }

    @Test func `a first packet of junk is passed over`() throws {
        let stream = try Stream()
        var output = try output(sent: 1)
        let junk = stream.packet([UInt8](repeating: 0xAB, count: 512))
        let none = try output.received(junk, at: 0, isFlagged: false)
        let first = try output.received(stream.packet(0, withSets: true), at: 1000, isFlagged: false)
        #expect(none.isEmpty && words(first) == ["format", "key 0"])
        #expect(output.ledger.unmatched == 1 && output.ledger.errors == 0)
    }

    @Test func `after a damaged packet a key frame is asked for, and nothing comes before it`() throws {
        let stream = try Stream()
        var output = try output(sent: 3)
        var seen = words(try output.received(stream.packet(0, withSets: true), at: 1000, isFlagged: false))
        seen += words(try output.received(stream.packet(1), at: 1001, isFlagged: true))
        // Sent before it was known.
        seen += words(try output.received(stream.packet(2), at: 1002, isFlagged: false))
        let isAsked = (3..<6).map { send($0, &output) }
        #expect(isAsked == [true, false, false])
        seen += words(try output.received(stream.packet(5), at: 1003, isFlagged: false))
        seen += words(try output.received(stream.packet(6), at: 1004, isFlagged: false))
        #expect(seen == ["format", "key 0", "key 120", "unit 160"])
        #expect(output.ledger.errors == 2 && output.forcedKeyFrames == 1)
    }

    @Test func `a packet that cannot be read counts as damaged`() throws {
        let stream = try Stream()
        var output = try output(sent: 2)
        _ = try output.received(stream.packet(0, withSets: true), at: 1000, isFlagged: false)
        for packet in [stream.packet([]), stream.packet([1, 2, 3])] {
            let number = Int64(output.ledger.errors)
            let none = try output.received(packet, at: 1001 + number, isFlagged: false)
            #expect(none.isEmpty)
            let isAsked = send(2 + number, &output)
            #expect(isAsked)
        }
        #expect(output.ledger.errors == 2)
    }

    @Test func `key frames without parameter sets have the encoder opened again`() throws {
        let stream = try Stream()
        var output = try output(sent: 2)
        // The first packet, which had them, was damaged.
        _ = try output.received(stream.packet(0, withSets: true), at: 1000, isFlagged: true)
        #expect(!output.isReopeningNeeded)
        let none = try output.received(stream.packet(5), at: 1001, isFlagged: false)
        #expect(none.isEmpty && output.isReopeningNeeded)
        output.ended()
        try output.opened(codec: .h264, frameRate: 25, extradata: [])
        #expect(!output.isReopeningNeeded)
        let isAsked = send(3, &output)
        #expect(isAsked)
        let first = try output.received(stream.packet(0, withSets: true), at: 1003, isFlagged: false)
        #expect(words(first) == ["format", "key 120"])
        #expect(output.forcedKeyFrames == 0 && output.ledger.errors == 2)
    }

    @Test func `an encoder opened again is not believed before it reports its own parameter sets`() throws {
        let stream = try Stream()
        var output = try output(sent: 1)
        _ = try output.received(stream.packet(0, withSets: true), at: 1000, isFlagged: false)
        output.ended()
        try output.opened(codec: .h264, frameRate: 25, extradata: [])
        send(1, &output)
        send(2, &output)
        let before = try output.received(stream.packet(5), at: 1001, isFlagged: false)
        #expect(before.isEmpty)
        // The same sets again are not a new format.
        let after = try output.received(stream.packet(0, withSets: true), at: 1002, isFlagged: false)
        #expect(words(after) == ["key 80"])
    }

    @Test func `a long row of packets that are of no use is an error`() throws {
        let stream = try Stream()
        var output = try output(sent: 1)
        let junk = stream.packet([UInt8](repeating: 0xAB, count: 16))
        for _ in 1..<EncoderOutput.maxFruitless { _ = try output.received(junk, at: 0, isFlagged: false) }
        #expect(
            throws: VideoCodecError.malformedOutput(
                "64 packets in a row are of no use, the last one for this: of no frame that was sent")
        ) { try output.received(junk, at: 0, isFlagged: false) }
    }
}
