import CV4L2
import Glibc
import ScriptedDevice
import Synchronization
import TestSupport
import Testing

@testable import VideoCapture

/// For distortions, which are made on the helper's thread.
private final class SharedGenerator: Sendable {
    private let generator: Mutex<SeededGenerator>

    init(seed: UInt64) { generator = Mutex(SeededGenerator(seed: seed)) }

    func next(below limit: Int) -> Int { generator.withLock { Int.random(in: 0..<limit, using: &$0) } }
}

/// Cameras behind a helper that is a thread here, with a real socket and real memory; Tests/Rigs/vm has the real one.
@Suite(.ownThread, .timeLimit(.minutes(15))) struct CSICameraTests {
    private static let name = "csi:/base/soc/i2c0mux/i2c@1/imx708@1a"

    private struct Stage {
        let helper: ScriptedHelper
        let scripted: ScriptedDevice
        let calls: MachineCalls

        init(
            _ script: (inout ScriptedDevice.Script) -> Void = { _ in },
            helper change: (inout ScriptedHelper.Script) -> Void = { _ in }
        ) throws {
            scripted = ScriptedDevice { target in
                target.driver = "libcamera"
                target.formats = [.init(fourCC: .yu12, sizes: [.init(width: 64, height: 48)], rates: [30])]
                script(&target)
            }
            let (helper, socket) = ScriptedHelper.start(scripted, change)
            self.helper = helper
            calls = MachineCalls(connecting: { socket })
        }

        func started(_ path: String = name) throws -> CaptureDevice {
            let device = try CaptureDevice(path: path, calls: calls)
            _ = try device.negotiate(CaptureRequest(width: 64, height: 48, rate: 30))
            try device.start()
            // VIDIOC_QBUF has no answer: that the buffers are there is known by that of a later call.
            _ = try? device.controls()
            return device
        }
    }

    private func failure(_ body: () throws -> Void) -> CaptureError? {
        do {
            try body()
            return nil
        } catch {
            return error as? CaptureError
        }
    }

    @Test func `it is listed, opened by its name or as the only one, and delivers frames byte for byte`() throws {
        for path in [Self.name, "csi:"] {
            let stage = try Stage()
            let device = try stage.started(path)
            #expect(device.node.device == Self.name)
            #expect(device.node.card == "imx708" && device.node.isCSI && device.node.isCamera)
            let bytes = 64 * 48 * 3 / 2
            for sequence in 0..<20 as Range<UInt32> {
                let content = (0..<bytes).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ Int(sequence)) }
                #expect(stage.scripted.deliver(.init(sequence: sequence, timestamp: 5_000_000_000, content: content)))
                guard let frame = try device.nextFrame(milliseconds: Streaming.hang) else { throw Streaming.NoFrame() }
                let found = (frame.sequence, frame.timestamp, frame.withBytes { Array($0) })
                _ = consume frame
                #expect(found == (sequence, 5_000_000_000, content))
                // The buffer is with the driver again before the next one is filled.
                _ = try? device.controls()
            }
            #expect(device.counters.captured == 20 && device.counters.damaged == 0 && device.counters.lost == 0)
            device.close()
        }
    }

    @Test func `a frame stays readable after the stream, the device and the helper are gone`() throws {
        let stage = try Stage()
        let device = try stage.started()
        stage.scripted.deliver(.init(sequence: 1, fill: 0xA5))
        guard let raw = try device.nextFrame(milliseconds: Streaming.hang) else { throw Streaming.NoFrame() }
        let frame = raw.detach()
        stage.helper.end()
        device.close()
        #expect(frame.bytes.allSatisfy { $0 == 0xA5 })
    }

    @Test func `controls are listed and set`() throws {
        let stage = try Stage {
            $0.controls = [.init(id: 0x0098_0A05, name: "Analogue Gain", minimum: 1000, maximum: 16_000)]
        }
        let device = try CaptureDevice(path: Self.name, calls: stage.calls)
        #expect(try device.controls().map(\.name) == ["analogue_gain"])
        try device.setControl("analogue_gain", to: 2500)
        #expect(stage.scripted.value(of: 0x0098_0A05) == 2500)
        #expect(
            failure { try device.setControl("analogue_gain", to: 1) }?.what
                == "The control \"analogue_gain\" cannot be 1")
    }

    @Test func `a camera that is not there, not the only one, or another program's is told`() throws {
        let missing = try Stage()
        #expect(
            failure { _ = try CaptureDevice(path: "csi:/base/other", calls: missing.calls) }
                == .notThere(path: "csi:/base/other"))
        let none = try Stage(helper: { $0.cameras = [] })
        #expect(failure { _ = try CaptureDevice(path: "csi:", calls: none.calls) } == .notThere(path: "csi:"))
        let two = try Stage(helper: { $0.cameras = [("/base/a", "a"), ("/base/b", "b")] })
        let several = failure { _ = try CaptureDevice(path: "csi:", calls: two.calls) }
        #expect(several == .severalCameras(names: ["csi:/base/a", "csi:/base/b"]))
        #expect(several?.remedy == .person)
        // This process stands for the other program.
        let busy = try Stage(helper: { $0.holder = getpid() })
        guard case .busy(Self.name, let holder?) = failure({ _ = try CaptureDevice(path: "csi:", calls: busy.calls) })
        else {
            Issue.record("not busy")
            return
        }
        #expect(holder.hasPrefix("Process \(getpid()) ("))
    }

    @Test func `without the helper the message says how to get it`() {
        let error = failure { _ = try CaptureDevice(path: "csi:", calls: MachineCalls(helper: "/nonexistent/helper")) }
        #expect(error == .noHelper(path: "csi:"))
        #expect(error?.remedy == .waitForDevice)
        #expect(error?.hint.contains("watchbox-libcamera") == true)
    }

    @Test func `a helper of another version is told`() throws {
        for refuses in [true, false] {
            let stage = try Stage(helper: { script in
                script.version = 7
                script.refusesVersions = refuses
            })
            #expect(failure { _ = try CaptureDevice(path: "csi:", calls: stage.calls) } == .otherHelper(path: "csi:"))
        }
    }

    @Test func `a program that is no helper of ours is ended, and said so`() throws {
        let error = failure { _ = try CaptureDevice(path: "csi:", calls: MachineCalls(helper: "/bin/false")) }
        guard case .helper(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason == "it ended with status 1")
    }

    @Test func `a helper that ends in the middle of a stream is a camera to wait for`() throws {
        let stage = try Stage()
        let device = try stage.started()
        stage.helper.end()
        let error = failure { while try device.nextFrame(milliseconds: Streaming.hang) == nil {} }
        #expect(error == .helper("it closed its socket"))
        #expect(error?.remedy == .waitForDevice)
        // And it stays so, whatever is asked.
        #expect(failure { try device.start() }?.remedy == .waitForDevice)
    }

    @Test func `a helper that hangs is given up after two seconds, between frames and in a call`() throws {
        let stage = try Stage()
        let device = try stage.started()
        stage.helper.change { $0.isHanging = true }
        #expect(
            failure { while try device.nextFrame(milliseconds: Streaming.hang) == nil {} }
                == .helper("it does not answer"))
        let other = try Stage()
        let second = try CaptureDevice(path: Self.name, calls: other.calls)
        other.helper.change { $0.isHanging = true }
        #expect(failure { _ = try second.modes() } == .helper("it did not answer for 4 s"))
    }

    @Test func `a camera that gives no frames for long is asked, and kept when its helper answers`() throws {
        let stage = try Stage()
        let device = try stage.started()
        while stage.helper.calls(of: watchbox_VIDIOC_QUERYCAP) < 3 {
            #expect(try device.nextFrame(milliseconds: 100)?.sequence == nil)
        }
        stage.scripted.deliver(.init(sequence: 1))
        #expect(try device.nextFrame(milliseconds: Streaming.hang)?.sequence == 1)
    }

    @Test func `a stream that breaks is started again, and a camera that is gone is waited for`() throws {
        let stage = try Stage()
        let device = try stage.started()
        stage.helper.tellFailure(EIO)
        let broken = failure { while try device.nextFrame(milliseconds: Streaming.hang) == nil {} }
        #expect(broken?.remedy == .restartStream)
        try device.start()
        _ = try? device.controls()
        stage.scripted.deliver(.init(sequence: 1))
        #expect(try device.nextFrame(milliseconds: Streaming.hang)?.sequence == 1)
        stage.helper.tellFailure(ENODEV)
        #expect(failure { while try device.nextFrame(milliseconds: Streaming.hang) == nil {} } == .disconnected)
    }

    @Test func `a message without bytes, or with more descriptors than one, ends the helper`() throws {
        for count in [1, 2] {
            let stage = try Stage()
            let device = try stage.started()
            stage.helper.sendDescriptors(count, with: count == 1 ? [] : [1])
            let error = failure { while try device.nextFrame(milliseconds: Streaming.hang) == nil {} }
            #expect(error == .helper("its message cannot be read"))
        }
    }

    @Test(arguments: [FourCC.mjpeg, .h264])
    func `nothing that this process would have to decode is taken from a helper`(format: FourCC) throws {
        let stage = try Stage { $0.formats = [.init(fourCC: format, sizes: [.init(width: 64, height: 48)])] }
        let device = try CaptureDevice(path: Self.name, calls: stage.calls)
        let request = CaptureRequest(width: 64, height: 48, rate: 30, pixelFormat: format)
        guard case .noSuchFormat = failure({ _ = try device.negotiate(request) }) else {
            Issue.record("taken")
            return
        }
    }

    @Test func `memory that could be taken away, or is too short, is not read`() throws {
        let loose = try Stage(helper: { $0.isMemoryLoose = true })
        #expect(failure { _ = try loose.started() } == .helper("it gave memory that it could take away"))
        // VIDIOC_QUERYBUF's answer with a length of which its memory is a part.
        let short = try Stage(helper: { script in
            script.distortion = { message in
                let request = message.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
                guard UInt(request) == watchbox_VIDIOC_QUERYBUF else { return }
                message[LibcameraDialogue.headLength + 72 + 2] = 1
            }
        })
        #expect(failure { _ = try short.started() } == .helper("it gave less memory than it said"))
    }

    @Test(arguments: 0..<48 as Range<UInt64>)
    func `wrong bytes in a helper's messages end in an error or a frame, never in a trap`(seed: UInt64) throws {
        let generator = SharedGenerator(seed: seed)
        for round in 0..<6 as Range<UInt64> {
            do {
                let stage = try Stage(helper: { script in
                    script.distortion = { message in
                        guard generator.next(below: 6) == 0 else { return }
                        for _ in 0..<(1 + generator.next(below: 3)) {
                            message[generator.next(below: message.count)] = UInt8(generator.next(below: 256))
                        }
                    }
                })
                let device = try CaptureDevice(path: "csi:", calls: stage.calls)
                _ = try? device.controls()
                _ = try device.negotiate(CaptureRequest(width: 64, height: 48, rate: 30))
                try device.start()
                for sequence in 0..<UInt32(12) {
                    stage.scripted.deliver(.init(sequence: sequence, timestamp: round << 30))
                    guard let frame = try device.nextFrame(milliseconds: 5) else { continue }
                    #expect(frame.withBytes { $0.reduce(0) { $0 &+ Int($1) } } >= 0)
                }
            } catch let error as CaptureError {
                #expect(!error.description.isEmpty)
            }
        }
    }
}
