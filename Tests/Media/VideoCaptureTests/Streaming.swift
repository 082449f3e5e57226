import Glibc
import ScriptedDevice
import Testing

@testable import VideoCapture

/// A camera that streams 64 × 48 YUYV out of a script.
struct Streaming {
    /// Of one frame.
    static let bytes = 64 * 48 * 2
    /// Milliseconds; generous, because it ends only what hangs.
    static let hang = 60_000

    let scripted: ScriptedDevice
    let device: CaptureDevice

    struct NoFrame: Error {}

    init(
        buffers: Int = 4, rate: Double = 30, isStarted: Bool = true,
        _ change: (inout ScriptedDevice.Script) -> Void = { _ in }
    ) throws {
        scripted = ScriptedDevice { script in
            script.formats = [.init(fourCC: .yuyv, sizes: [.init(width: 64, height: 48)], rates: [30, 1])]
            change(&script)
        }
        device = try CaptureDevice(path: "/dev/video0", calls: scripted)
        let format = scripted.onlyVideo
        _ = try device.negotiate(CaptureRequest(width: 64, height: 48, rate: rate, pixelFormat: format))
        if isStarted { try device.start(buffers: buffers) }
    }

    func next(milliseconds: Int = hang) throws -> RawFrame {
        guard let frame = try device.nextFrame(milliseconds: milliseconds) else { throw NoFrame() }
        return frame
    }

    /// Takes a frame, looks at its number, and gives it back.
    func nextSequence(milliseconds: Int = hang) throws -> UInt32? {
        guard let frame = try device.nextFrame(milliseconds: milliseconds) else { return nil }
        return frame.sequence
    }
}
