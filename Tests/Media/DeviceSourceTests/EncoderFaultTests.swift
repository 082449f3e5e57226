import CV4L2
import CameraModel
import DeviceSource
import ErrorCatalog
import Media
import ScriptedDevice
import TestSupport
import Testing
import VideoCapture

@Suite(.ownThread, .serialized) struct EncoderFaultTests {
    private func stage(_ encoders: FaultyEncoders) throws -> CameraStage {
        let stage = try CameraStage(encoders: encoders.machine, { _ in }, { $0.encoder = .automatic })
        let node = ScriptedDevice { script in
            script.driver = "bcm2835-codec"
            script.card = "bcm2835-codec-encode"
            script.capabilities = UInt32(bitPattern: V4L2_CAP_VIDEO_M2M_MPLANE | V4L2_CAP_STREAMING)
            script.formats = [.init(fourCC: .h264)]
            script.outputFormats = [.yu12]
        }
        try stage.plug(node, as: 11)
        return stage
    }

    /// Shows frames until `encoder` encodes.
    private func wait(for encoder: String, _ stage: CameraStage) throws {
        try stage.wait(encoder) {
            stage.show()
            return stage.source.capture.encoder == encoder
        }
    }

    @Test func `one hardware error means ten minutes of software, reported so, and then hardware again`() throws {
        let encoders = FaultyEncoders()
        let stage = try stage(encoders)
        stage.start()
        defer { stage.stop() }
        try stage.publish(3)
        #expect(stage.source.capture.encoder == "h264_v4l2m2m")
        #expect(stage.source.capture.code == nil)
        encoders.failNext()
        try wait(for: "libx264", stage)
        let off = stage.source.capture
        #expect(off.isHardwareEncoder == false && off.state == .streaming)
        #expect(off.code == .hardwareEncoderOff)
        let reason = try #require(off.encoderReason)
        #expect(reason.contains("Input/output error") && reason.contains("left alone for ten minutes"))
        encoders.pass(599)
        try stage.publish(3)
        #expect(stage.source.capture.encoder == "libx264" && encoders.probes == 1)
        encoders.pass(2)
        let before = stage.seen.units.count
        try wait(for: "h264_v4l2m2m", stage)
        #expect(stage.source.capture.code == nil && encoders.probes == 2)
        #expect(stage.seen.units.count > before, "frames went on while hardware was tried")
        try stage.publish(2)
        #expect(stage.source.capture.interruptions == 0)
    }

    @Test func `software is measured for all of the bitrate, whatever the uplink bears just then`() throws {
        let encoders = FaultyEncoders()
        let stage = try stage(encoders)
        stage.start()
        defer { stage.stop() }
        try stage.publish(3)
        try stage.source.change(VideoChange(bitrate: 100_000))
        try stage.publish(3)
        encoders.failNext()
        try wait(for: "libx264", stage)
        #expect(encoders.measurements > 0 && encoders.measuredRate > 100_000)
    }

    @Test func `hardware that still fails is tried again after a longer while, without a frame lost for it`() throws {
        let encoders = FaultyEncoders()
        let stage = try stage(encoders)
        stage.start()
        defer { stage.stop() }
        try stage.publish(1)
        encoders.failNext()
        try wait(for: "libx264", stage)
        encoders.setProbe(works: false)
        encoders.pass(601)
        try stage.wait("the second probe") {
            stage.show()
            return encoders.probes == 2
        }
        try stage.publish(5)
        #expect(stage.source.capture.code == .hardwareEncoderOff)
        encoders.setProbe(works: true)
        // Twice ten minutes this time.
        encoders.pass(1100)
        try stage.publish(3)
        #expect(encoders.probes == 2 && stage.source.capture.encoder == "libx264")
        encoders.pass(110)
        try wait(for: "h264_v4l2m2m", stage)
        #expect(encoders.probes == 3 && stage.source.capture.code == nil)
    }

    @Test func `what was measured while the machine was busy is recovered, and nothing is measured for it`() throws {
        let encoders = FaultyEncoders()
        encoders.setSpeed(3)
        let stage = try CameraStage(encoders: encoders.machine)
        stage.start()
        defer { stage.stop() }
        try stage.wait("a frame") {
            stage.show()
            return stage.source.capture.captured >= 1 && stage.source.capture.encoder != nil
        }
        let limited = stage.source.capture
        #expect(limited.limit?.contains("instead of 320x240 at 30") == true)
        #expect([limited.width, limited.height] == [160, 120])
        let measured = encoders.measurements
        try stage.wait("all that was asked for") {
            encoders.pass(0.5)
            stage.show()
            return stage.source.capture.limit == nil
        }
        let capture = stage.source.capture
        #expect([capture.width, capture.height] == [320, 240] && capture.rate == 30)
        #expect(encoders.measurements == measured && capture.interruptions == 0)
        try stage.wait("a frame of the whole size") {
            stage.show()
            return stage.seen.formats.last?.width == 320
        }
    }
}
