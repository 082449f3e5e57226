import CV4L2
import CameraModel
import DeviceSource
import ErrorCatalog
import Glibc
import ScriptedDevice
import Synchronization
import TestSupport
import Testing
import VideoCapture

/// A camera behind helpers that are threads here: each start is another one, as in life.
@Suite(.ownThread, .timeLimit(.minutes(15))) struct CSISourceTests {
    private final class Helpers: Sendable {
        private let started = Mutex<[ScriptedHelper]>([])
        /// Of the next one.
        let script = Mutex(ScriptedHelper.Script())

        var count: Int { started.withLock { $0.count } }
        var last: ScriptedHelper? { started.withLock { $0.last } }

        func calls(_ device: ScriptedDevice) -> any DeviceCalls {
            MachineCalls(connecting: {
                // One that was given up is a process that was killed, from which the kernel takes the camera before another one can have it.
                self.last?.end()
                while let last = self.last, !last.hasReleased { usleep(1000) }
                let script = self.script.withLock { $0 }
                let (helper, socket) = ScriptedHelper.start(device) { $0 = script }
                self.started.withLock { $0.append(helper) }
                return socket
            })
        }
    }

    private func stage(
        _ helpers: Helpers, _ script: @escaping (inout ScriptedDevice.Script) -> Void = { _ in }
    ) throws -> CameraStage {
        try CameraStage(isPlugged: false, calls: helpers.calls) {
            $0.driver = "libcamera"
            script(&$0)
        } _: {
            $0.path = "csi:"
        }
    }

    @Test func `a helper that ends is started again, and the only camera stays the one that it was`() throws {
        let helpers = Helpers()
        let stage = try stage(helpers)
        stage.start()
        try stage.publish(3)
        let name = stage.source.capture.device
        // A second one: `csi:` alone would be refused now.
        helpers.script.withLock { $0.cameras.insert(("/base/soc/other@10", "other"), at: 0) }
        helpers.last?.end()
        try stage.publish(3)
        let capture = stage.source.capture
        #expect(name == "csi:/base/soc/i2c0mux/i2c@1/imx708@1a" && capture.device == name)
        #expect(capture.interruptions == 1 && capture.copiesPerFrame == 0)
        stage.stop()
    }

    @Test func `its controls can be read while it publishes, and by one helper`() async throws {
        let helpers = Helpers()
        let stage = try stage(helpers) { $0.controls = [.init(id: 0x98_0900, name: "Brightness", value: 7)] }
        stage.start()
        try stage.publish(2)
        async let one = stage.source.controls()
        async let other = stage.source.controls()
        let (first, second) = try await (one, other)
        #expect(first.device == "csi:/base/soc/i2c0mux/i2c@1/imx708@1a" && first.card == "imx708")
        #expect(first.controls.map(\.name) == ["brightness"] && first.controls.map(\.value) == [7])
        #expect(second.controls == first.controls)
        try stage.publish(2)
        #expect(stage.source.capture.interruptions == 0 && helpers.count == 1)
        stage.stop()
        // Nobody is there any more who could be asked.
        let error = await #expect(throws: CodedError.self) {
            try await stage.source.controls(within: .milliseconds(50))
        }
        #expect(error?.what.contains("controls of yard") == true)
    }

    @Test func `a camera that goes in the middle of its list is told, and no half list is given`() async throws {
        let helpers = Helpers()
        let stage = try stage(helpers) {
            $0.controls = [
                .init(id: 0x98_0900, name: "Brightness", value: 7), .init(id: 0x98_0901, name: "Contrast", value: 8),
            ]
        }
        stage.start()
        try stage.publish(2)
        let asked = Atomic(0)
        stage.camera.change { script in
            script.answers[watchbox_VIDIOC_QUERY_EXT_CTRL] = { _, _ in
                asked.add(1, ordering: .relaxed).newValue == 2 ? ENODEV : nil
            }
        }
        let error = await #expect(throws: CodedError.self) { try await stage.source.controls() }
        #expect(error?.code == .deviceMissing && error?.what.contains("controls of yard") == true)
        // It is looked for at once, and there. A frame before that would be lost with the stream that is over.
        try stage.wait("the next helper") { helpers.count == 2 }
        try stage.publish(2)
        #expect(stage.source.capture.interruptions == 1)
        #expect(try await stage.source.controls().controls.map(\.name) == ["brightness", "contrast"])
        stage.stop()
    }

    @Test func `a helper that hangs while it is asked is given up, and the next one is asked`() async throws {
        let helpers = Helpers()
        let stage = try stage(helpers) { $0.controls = [.init(id: 0x98_0900, name: "Brightness", value: 7)] }
        stage.start()
        try stage.publish(2)
        helpers.last?.change { $0.isHanging = true }
        let error = await #expect(throws: CodedError.self) { try await stage.source.controls() }
        #expect(error?.why?.isEmpty == false)
        try stage.wait("the next helper") { helpers.count == 2 }
        try stage.publish(2)
        #expect(helpers.count == 2)
        #expect(try await stage.source.controls().controls.map(\.name) == ["brightness"])
        stage.stop()
    }

    @Test func `what the helper has copied is counted`() throws {
        let helpers = Helpers()
        helpers.script.withLock { $0.copies = 1 }
        let stage = try stage(helpers)
        stage.start()
        try stage.publish(2)
        #expect(stage.source.capture.copiesPerFrame == 1)
        stage.stop()
    }

    @Test func `a source that is stopped ends its stream in order`() throws {
        let helpers = Helpers()
        let stage = try stage(helpers)
        stage.start()
        try stage.publish(2)
        let helper = helpers.last
        stage.stop()
        // For its buffers once, and once to give them back, which comes after the stream's end.
        #expect(helper?.calls(of: watchbox_VIDIOC_REQBUFS) == 2)
    }
}
