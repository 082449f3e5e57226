import CV4L2
import CameraModel
import DeviceSource
import Glibc
import Media
import ScriptedDevice
import TestSupport
import Testing
import VideoCapture
import VideoCodec

/// A camera that encodes H.264 itself, and of which frames get lost.
@Suite(.ownThread, .serialized) struct EncodedCameraTests {
    private static let forceKeyFrame = watchbox_force_key_frame

    private func stage() throws -> CameraStage {
        try CameraStage(
            { script in
                script.formats = [.init(fourCC: .h264, sizes: [.init(width: 320, height: 240)], rates: [30])]
                script.controls = [.init(id: Self.forceKeyFrame, name: "Force Key Frame", value: 0)]
            },
            { device in
                device.pixelFormat = .h264
                device.encoder = .automatic
            })
    }

    /// Encoded frames as a camera gives them; the first and the ninth are key frames, with their parameter sets.
    private func frames() throws -> [[UInt8]] {
        let coder = try VideoEncoder(
            VideoEncoderConfiguration(width: 320, height: 240, frameRate: 30, bitsPerSecond: 400_000))
        var units: [AccessUnit] = []
        for number in 0..<12 {
            let frame = try VideoFrame(
                width: 320, height: 240, pixels: [UInt8](repeating: UInt8(20 * number), count: 320 * 240 * 3))
            let scaled = try FrameScaler().scale(frame, width: 320, height: 240, pixelFormat: .yuv420p)
            if number == 8 { coder.requestKeyFrame() }
            for event in try coder.encode(scaled, at: MediaTime(milliseconds: Int64(number) * 33)) {
                if case .accessUnit(let unit) = event { units.append(unit) }
            }
        }
        let record = try AVCConfigurationRecord.parse(try #require(coder.format).configurationRecord[...])
        let parameters = record.sequenceParameterSets + record.pictureParameterSets
        let sets = parameters.flatMap { unit -> [UInt8] in [0, 0, 0, 1] + unit }
        #expect(units.map(\.isKeyFrame) == (0..<12).map { $0 == 0 || $0 == 8 })
        return try units.map { unit in
            let bytes = try AnnexB.bytes(fromLengthPrefixed: unit.data[...])
            return unit.isKeyFrame ? sets + bytes : bytes
        }
    }

    private func show(
        _ numbers: Range<Int>, of frames: [[UInt8]], flags: Int32 = 0, missing: UInt32 = 0, on stage: CameraStage
    ) throws {
        for number in numbers {
            let before = stage.source.capture.captured
            let isFirst = number == numbers.lowerBound
            try stage.wait("a buffer") {
                stage.show(content: frames[number], flags: flags, missing: isFirst ? missing : 0)
            }
            try stage.wait("frame \(number)") { stage.source.capture.captured > before }
        }
    }

    @Test func `after a frame that the driver lost nothing is published before a key frame, and one is asked for`()
        throws
    {
        let frames = try frames()
        let stage = try stage()
        stage.start()
        defer { stage.stop() }
        try show(0..<3, of: frames, on: stage)
        try stage.wait("three frames") { stage.seen.units.count == 3 }
        let asked = stage.camera.calls(of: watchbox_VIDIOC_S_CTRL)
        try show(4..<8, of: frames, missing: 1, on: stage)
        try stage.wait("those that are held back") { stage.source.capture.withheld == 4 }
        #expect(stage.source.capture.lost == 1)
        #expect(stage.camera.calls(of: watchbox_VIDIOC_S_CTRL) > asked)
        #expect(stage.camera.value(of: Self.forceKeyFrame) == 1)
        try show(8..<12, of: frames, on: stage)
        try stage.wait("the rest") { stage.seen.units.count == 7 }
        #expect(stage.seen.units.map(\.isKeyFrame) == [true, false, false, true, false, false, false])
        #expect(stage.source.capture.withheld == 4 && stage.source.capture.interruptions == 0)
    }

    @Test func `after a damaged frame as well`() throws {
        let frames = try frames()
        let stage = try stage()
        stage.start()
        defer { stage.stop() }
        try show(0..<3, of: frames, on: stage)
        try stage.wait("a buffer") { stage.show(content: frames[3], flags: V4L2_BUF_FLAG_ERROR) }
        try show(4..<6, of: frames, on: stage)
        try stage.wait("those that are held back") { stage.source.capture.withheld == 2 }
        #expect(stage.source.capture.damaged == 1)
        try show(8..<10, of: frames, on: stage)
        try stage.wait("the rest") { stage.seen.units.count == 5 }
        #expect(stage.seen.units[3].isKeyFrame)
    }

    @Test func `a stream that is started again begins with a key frame`() throws {
        let frames = try frames()
        let stage = try stage()
        stage.start()
        defer { stage.stop() }
        try show(0..<3, of: frames, on: stage)
        try stage.wait("three frames") { stage.seen.units.count == 3 }
        stage.camera.change { script in script.answers[watchbox_VIDIOC_DQBUF] = { _, _ in EIO } }
        stage.show(content: frames[3])
        try stage.wait("the fault") { stage.source.capture.interruptions >= 1 }
        stage.camera.change { script in script.answers[watchbox_VIDIOC_DQBUF] = nil }
        try show(4..<8, of: frames, on: stage)
        try stage.wait("those that are held back") { stage.source.capture.withheld == 4 }
        #expect(stage.seen.units.count == 3)
        try show(8..<10, of: frames, on: stage)
        try stage.wait("the rest") { stage.seen.units.count == 5 }
        #expect(stage.seen.units[3].isKeyFrame)
    }
}
