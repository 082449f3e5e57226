import CV4L2
import CameraModel
import DeviceSource
import ErrorCatalog
import Glibc
import Media
import ScriptedDevice
import Synchronization
import TestSupport
import Testing
import VideoCapture
import VideoCodec

@Suite(.ownThread, .serialized) struct DeviceSourceTests {
    @Test func `frames become units without a copy, each with the instant of its capture`() throws {
        let stage = try CameraStage()
        stage.start()
        defer { stage.stop() }
        try stage.publish(12)
        let seen = stage.seen
        #expect(seen.formats.count == 1)
        #expect(seen.formats.first.map { [$0.width, $0.height] } == [320, 240])
        #expect(seen.units.first?.isKeyFrame == true)
        #expect(seen.units.allSatisfy { $0.captureInstant.map { $0 <= CameraStage.now } ?? false })
        for (unit, next) in zip(seen.units, seen.units.dropFirst()) {
            #expect(unit.presentationTime < next.presentationTime)
            // The stream's time is the camera's, whatever the time that encoding took.
            let distance = (next.captureInstant ?? 0) - (unit.captureInstant ?? 0)
            let streamDistance = (next.presentationTime - unit.presentationTime).nanoseconds
            #expect(abs(streamDistance - Int64(distance)) <= 1_000)
        }
        let capture = stage.source.capture
        #expect(capture.state == .streaming)
        #expect(capture.copiesPerFrame == 0)
        #expect(capture.captured == 12)
        #expect(capture.encoder == "libx264")
        #expect(capture.pixelFormat == "YU12")
        #expect(capture.ownDurations.count == 12)
    }

    @Test func `a camera that is not there yet is waited for, and shown when it comes`() throws {
        let stage = try CameraStage(isPlugged: false)
        stage.start()
        defer { stage.stop() }
        try stage.wait("a look for it") { stage.source.capture.attempts >= 2 }
        #expect(stage.source.capture.state == .waiting)
        #expect(stage.source.capture.code == .deviceMissing)
        #expect(stage.source.capture.reason?.contains(CameraStage.path) == true)
        try stage.plug()
        try stage.publish(2)
        #expect(stage.source.capture.state == .streaming)
        #expect(stage.source.capture.reason == nil)
        #expect(stage.source.capture.interruptions == 0)
    }

    @Test(
        arguments: [(EACCES, ErrorCode.deviceNotPermitted), (EBUSY, .deviceNotPermitted), (ENXIO, .deviceMissing)])
    func `what cannot be opened yet is waited for`(number: Int32, code: ErrorCode) throws {
        let stage = try CameraStage({ $0.openErrno = number })
        stage.start()
        defer { stage.stop() }
        try stage.wait("the reason") { stage.source.capture.code == code }
        #expect(stage.source.capture.state == .waiting)
        stage.camera.change { $0.openErrno = 0 }
        try stage.publish(1)
    }

    @Test func `an encoder's node is named for what it is`() throws {
        let stage = try CameraStage({ script in
            script.capabilities = UInt32(bitPattern: V4L2_CAP_VIDEO_M2M | V4L2_CAP_STREAMING)
            script.formats = [.init(fourCC: .h264)]
            script.outputFormats = [.yu12]
        })
        stage.start()
        defer { stage.stop() }
        try stage.wait("the reason") { stage.source.capture.code == .deviceUnusable }
        #expect(stage.source.capture.reason?.contains("not a camera") == true)
    }

    @Test func `a camera that is pulled out and put in again goes on in the same run`() throws {
        let stage = try CameraStage()
        stage.start()
        defer { stage.stop() }
        try stage.publish(3)
        let before = stage.seen.units.count
        stage.camera.change { script in
            script.answers[watchbox_VIDIOC_DQBUF] = { _, _ in ENODEV }
            script.openErrno = ENXIO
        }
        stage.show()
        try stage.wait("the loss") { stage.source.capture.state == .waiting }
        #expect(stage.source.capture.code == .deviceMissing)
        #expect(stage.source.capture.interruptions == 1)
        stage.camera.change { script in
            script.answers[watchbox_VIDIOC_DQBUF] = nil
            script.openErrno = 0
        }
        try stage.publish(2)
        #expect(stage.source.capture.state == .streaming)
        let resumed = stage.seen.units[before]
        #expect(resumed.isKeyFrame, "a decoder that lost the stream begins here")
        #expect(stage.seen.formats.count == 1, "the same encoder went on")
        #expect(stage.source.capture.encoderOpenings == 1)
    }

    @Test func `a stream that breaks is started again without opening the camera again`() throws {
        let stage = try CameraStage()
        stage.start()
        defer { stage.stop() }
        try stage.publish(2)
        stage.camera.change { script in script.answers[watchbox_VIDIOC_DQBUF] = { _, _ in EIO } }
        stage.show()
        try stage.wait("the fault") { stage.source.capture.interruptions >= 1 }
        stage.camera.change { script in script.answers[watchbox_VIDIOC_DQBUF] = nil }
        try stage.publish(2)
        #expect(stage.source.capture.state == .streaming)
    }

    @Test func `a number that became another camera is not taken for the first`() throws {
        let stage = try CameraStage()
        stage.start()
        defer { stage.stop() }
        try stage.publish(2)
        let before = stage.seen.units.count
        let other = ScriptedDevice { script in
            script.card = "Another Camera"
            script.bus = "platform:elsewhere"
            script.formats = [.init(fourCC: .yu12, sizes: [.init(width: 320, height: 240)], rates: [30])]
        }
        stage.camera.change { script in script.answers[watchbox_VIDIOC_DQBUF] = { _, _ in ENODEV } }
        stage.machine.replace(0, by: other)
        stage.show()
        let attempts = stage.source.capture.attempts
        try stage.wait("some looks") { stage.source.capture.attempts >= attempts + 4 }
        #expect(stage.source.capture.state == .waiting)
        #expect(!other.isStreaming)
        #expect(stage.seen.units.count == before)
        // It comes back under another number.
        stage.camera.change { script in script.answers[watchbox_VIDIOC_DQBUF] = nil }
        try stage.plug(as: 5)
        try stage.publish(2)
        #expect(stage.source.capture.device == "/dev/video5")
    }

    @Test func `a camera that gives garbage for MJPEG says so, and is not published`() throws {
        let stage = try CameraStage(
            { $0.formats = [.init(fourCC: .mjpeg, sizes: [.init(width: 320, height: 240)], rates: [30])] })
        stage.start()
        defer { stage.stop() }
        try stage.wait("the reason") {
            stage.show(content: [UInt8](repeating: 0x5A, count: 4000))
            return stage.source.capture.code == .badFrames
        }
        #expect(stage.seen.units.isEmpty)
        #expect(stage.source.capture.damaged > 30)
        #expect(stage.source.capture.reason?.contains("pixel format") == true)
    }

    @Test func `MJPEG frames are decoded and published`() throws {
        let stage = try CameraStage(
            { $0.formats = [.init(fourCC: .mjpeg, sizes: [.init(width: 320, height: 240)], rates: [30])] })
        let gray = try VideoFrame(width: 320, height: 240, pixels: [UInt8](repeating: 120, count: 320 * 240 * 3))
        let jpeg = try JPEGEncoder().encode(gray)
        stage.start()
        defer { stage.stop() }
        for number in 1...3 {
            try stage.wait("a buffer") { stage.show(content: jpeg) }
            try stage.wait("a frame") { stage.seen.units.count == number }
        }
        #expect(stage.source.capture.damaged == 0)
        #expect(stage.source.capture.copiesPerFrame == 2, "decoded, and full range made limited")
    }

    @Test func `what the camera encodes is passed through to the byte`() throws {
        let coder = try VideoEncoder(
            VideoEncoderConfiguration(width: 320, height: 240, frameRate: 30, bitsPerSecond: 400_000))
        var units: [AccessUnit] = []
        for number in 0..<6 {
            let frame = try VideoFrame(
                width: 320, height: 240, pixels: [UInt8](repeating: UInt8(40 * number), count: 320 * 240 * 3))
            let scaled = try FrameScaler().scale(frame, width: 320, height: 240, pixelFormat: .yuv420p)
            for event in try coder.encode(scaled, at: MediaTime(milliseconds: Int64(number) * 33)) {
                if case .accessUnit(let unit) = event { units.append(unit) }
            }
        }
        let sets = try #require(coder.format).configurationRecord
        let record = try AVCConfigurationRecord.parse(sets[...])
        let stage = try CameraStage(
            { $0.formats = [.init(fourCC: .h264, sizes: [.init(width: 320, height: 240)], rates: [30])] },
            { device in
                device.pixelFormat = .h264
                device.encoder = .automatic
            })
        stage.start()
        defer { stage.stop() }
        for (index, unit) in units.enumerated() {
            var bytes = try AnnexB.bytes(fromLengthPrefixed: unit.data[...])
            if unit.isKeyFrame, index == 0 {
                let parameters = record.sequenceParameterSets + record.pictureParameterSets
                bytes = parameters.flatMap { [0, 0, 0, 1] + $0 } + bytes
            }
            try stage.wait("a buffer") { stage.show(content: bytes) }
            try stage.wait("a frame") { stage.seen.units.count == index + 1 }
        }
        #expect(stage.seen.formats.first.map { [$0.width, $0.height] } == [320, 240])
        for (sent, passed) in zip(units, stage.seen.units) {
            #expect(passed.isKeyFrame == sent.isKeyFrame)
            #expect(passed.data.suffix(sent.data.count) == sent.data[...])
        }
        #expect(stage.source.capture.encoder == "passthrough")
    }

    @Test func `bitrate and distance of key frames change without a new format, size with a key frame and no loss`()
        throws
    {
        let stage = try CameraStage()
        stage.start()
        defer { stage.stop() }
        try stage.publish(3)
        try stage.source.change(VideoChange(bitrate: 250_000))
        try stage.publish(3)
        #expect(stage.seen.formats.count == 1)
        #expect(stage.source.capture.encoderOpenings == 1)
        try stage.source.change(VideoChange(width: 160, height: 120))
        try stage.publish(3)
        let seen = stage.seen
        #expect(seen.units.count == 9, "every frame came out")
        #expect(seen.formats.count == 2)
        #expect(seen.formats.last.map { [$0.width, $0.height] } == [160, 120])
        #expect(seen.units[6].isKeyFrame)
        #expect(stage.source.capture.interruptions == 0)
        let refused = #expect(throws: CodedError.self) { try stage.source.change(VideoChange(bitrate: 1)) }
        #expect(refused?.code == .invalidValue)
    }

    @Test func `a change that comes while there is no camera counts when there is one`() throws {
        let stage = try CameraStage(isPlugged: false)
        stage.start()
        defer { stage.stop() }
        try stage.wait("a look for it") { stage.source.capture.attempts >= 2 }
        try stage.source.change(VideoChange(width: 160, height: 120))
        try stage.plug()
        try stage.publish(1)
        #expect(stage.seen.formats.first.map { [$0.width, $0.height] } == [160, 120])
    }

    @Test func `a camera whose stream runs and gives nothing is not called streaming`() throws {
        let stage = try CameraStage()
        stage.start()
        defer { stage.stop() }
        try stage.wait("the stream") { stage.camera.isStreaming }
        try stage.wait("the reason") { stage.source.capture.code == .deviceFaults }
        let attempts = stage.source.capture.attempts
        try stage.wait("another try") {
            #expect(stage.source.capture.state == .waiting)
            return stage.source.capture.attempts > attempts
        }
        try stage.publish(1)
        #expect(stage.source.capture.state == .streaming)
        #expect(stage.source.capture.code == nil)
    }

    @Test func `another size or rate is refused where the camera encodes`() throws {
        let stage = try CameraStage(
            { $0.formats = [.init(fourCC: .h264, sizes: [.init(width: 320, height: 240)], rates: [30])] },
            { device in
                device.pixelFormat = .h264
                device.encoder = .automatic
            })
        let refused = #expect(throws: CodedError.self) {
            try stage.source.change(VideoChange(width: 160, height: 120))
        }
        #expect(refused?.code == .badRequest)
    }

    @Test func `a control that another one rules is set once the other is`() throws {
        let stage = try CameraStage(
            { script in
                script.controls = [
                    .init(id: 0x98_0901, name: "Focus Absolute", value: 10),
                    .init(id: 0x98_0902, name: "Focus Automatic", value: 1),
                ]
            }, { $0.controls = ["focus_absolute": 77, "focus_automatic": 0] })
        // While the automatic focus is on, the other cannot be set.
        let isAutomatic = Mutex(true)
        stage.camera.change { script in
            script.answers[watchbox_VIDIOC_S_CTRL] = { _, argument in
                let control = argument.assumingMemoryBound(to: v4l2_control.self).pointee
                if control.id == 0x98_0902 { isAutomatic.withLock { $0 = control.value != 0 } }
                return control.id == 0x98_0901 && isAutomatic.withLock { $0 } ? EACCES : nil
            }
        }
        stage.start()
        defer { stage.stop() }
        try stage.publish(1)
        #expect(stage.camera.value(of: 0x98_0901) == 77)
        #expect(stage.camera.value(of: 0x98_0902) == 0)
    }

    @Test func `another camera's controls are not given out for this one's`() async throws {
        let stage = try CameraStage({ $0.controls = [.init(id: 0x98_0900, name: "Brightness", value: 7)] })
        stage.start()
        try stage.publish(2)
        stage.camera.change { $0.card = "Another Camera" }
        let error = await #expect(throws: CodedError.self) { try await stage.source.controls() }
        #expect(error?.code == .deviceMissing)
        stage.stop()
    }

    @Test func `controls are read by a second opening, and frames go on`() async throws {
        let stage = try CameraStage({ $0.controls = [.init(id: 0x98_0900, name: "Brightness", value: 7)] })
        stage.start()
        try stage.publish(2)
        let found = try await stage.source.controls()
        #expect(found.device == CameraStage.path && found.card == "Scripted Camera")
        #expect(found.controls.map(\.name) == ["brightness"] && found.controls.map(\.value) == [7])
        try stage.publish(2)
        #expect(stage.source.capture.interruptions == 0)
        stage.camera.change { $0.openErrno = ENODEV }
        let error = await #expect(throws: CodedError.self) { try await stage.source.controls() }
        #expect(error?.what.contains("controls of yard") == true && error?.hint?.isEmpty == false)
        stage.stop()
    }

    @Test func `a requested key frame comes with the next frame`() throws {
        let stage = try CameraStage({ _ in }, { $0.gopSeconds = 60 })
        stage.start()
        defer { stage.stop() }
        try stage.publish(4)
        stage.source.requestKeyFrame()
        try stage.publish(2)
        #expect(stage.seen.units.map(\.isKeyFrame) == [true, false, false, false, true, false])
    }

    @Test func `a masked part is black in what is published, and the rest is not`() throws {
        let stage = try CameraStage({ _ in }, { $0.masks = [.init(x: 0.5, y: 0, width: 0.5, height: 1)] })
        stage.start()
        defer { stage.stop() }
        try stage.publish(2, fill: 150)
        let format = try #require(stage.seen.formats.first)
        let decoder = try VideoDecoder(format)
        var luma: [(left: UInt8, right: UInt8)] = []
        let look = { (frame: borrowing VideoFrame, _: MediaTime) throws(VideoCodecError) in
            _ = frame.withPlane(0) { bytes, stride in
                let row = 120 * stride
                luma.append(
                    (
                        bytes.unsafeLoad(fromByteOffset: row + 80, as: UInt8.self),
                        bytes.unsafeLoad(fromByteOffset: row + 240, as: UInt8.self)
                    ))
            }
        }
        for unit in stage.seen.units { try decoder.decode(unit, look) }
        try decoder.finish(look)
        #expect(luma.count == 2)
        for (left, right) in luma {
            #expect(abs(Int(left) - 150) <= 4)
            #expect(abs(Int(right) - 16) <= 4)
        }
    }

    @Test func `a camera without the size gives what it has, undistorted, and the status says it`() throws {
        let stage = try CameraStage(
            { _ in },
            { device in
                device.width = 1280
                device.height = 720
            })
        stage.start()
        defer { stage.stop() }
        try stage.publish(1)
        #expect(stage.seen.formats.first.map { [$0.width, $0.height] } == [320, 240])
        #expect(stage.source.capture.limit?.contains("no 1280x720") == true)
    }

    @Test func `audio comes beside the frames, on their timeline`() throws {
        let stage = try CameraStage({ _ in }, { $0.microphone = "null" })
        stage.start()
        defer { stage.stop() }
        try stage.publish(2)
        try stage.wait("audio") { stage.seen.audioUnits.count >= 20 }
        let units = stage.seen.audioUnits
        for (unit, next) in zip(units, units.dropFirst()) {
            let distance = (next.presentationTime - unit.presentationTime).nanoseconds
            #expect(abs(distance - 21_333_333) <= 2)
        }
        #expect(stage.source.capture.audio == "null")
    }

    @Test(arguments: [(false, 2), (true, 1)])
    func `audio has as many channels as were asked for`(isMono: Bool, channels: Int) throws {
        let stage = try CameraStage({ _ in }, { ($0.microphone, $0.isMono) = ("null", isMono) })
        stage.start()
        defer { stage.stop() }
        try stage.publish(2)
        try stage.wait("audio") { !stage.seen.audioUnits.isEmpty }
        let formats = stage.seen.events.compactMap { if case .audioFormat(let format) = $0 { format } else { nil } }
        #expect(formats.map(\.channels) == [channels])
    }

    @Test func `an audio device that is not there costs no frame`() throws {
        let stage = try CameraStage({ _ in }, { $0.microphone = "hw:CARD=NoSuchCard" })
        stage.start()
        defer { stage.stop() }
        try stage.publish(3)
        try stage.wait("the reason") { stage.source.capture.audioReason != nil }
        #expect(stage.source.capture.audio == nil)
    }
}
