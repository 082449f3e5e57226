import CV4L2
import ScriptedDevice
import Synchronization
import TestSupport
import Testing

@testable import VideoCapture

struct HostileDriverTests {
    /// Sizes of what the requests carry, as their numbers say (asm-generic/ioctl.h).
    private static func size(_ request: UInt) -> Int { Int(request >> 16 & 0x3FFF) }

    private static let requests = [
        watchbox_VIDIOC_ENUM_FMT, watchbox_VIDIOC_ENUM_FRAMESIZES, watchbox_VIDIOC_ENUM_FRAMEINTERVALS,
        watchbox_VIDIOC_S_FMT, watchbox_VIDIOC_S_PARM, watchbox_VIDIOC_REQBUFS, watchbox_VIDIOC_QUERYBUF,
        watchbox_VIDIOC_DQBUF, watchbox_VIDIOC_QUERY_EXT_CTRL, watchbox_VIDIOC_DQEVENT,
    ]

    /// A good driver whose answers have one to four wrong bytes in a third of all cases.
    @Test(arguments: 0..<96 as Range<UInt64>)
    func `wrong bytes in a driver's answers end in an error or a frame, never in a trap`(seed: UInt64) throws {
        let generator = Mutex(SeededGenerator(seed: seed))
        let scripted = ScriptedDevice { script in
            script.formats = [
                .init(fourCC: .yuyv, sizes: [.init(width: 64, height: 48)]),
                .init(fourCC: .yu12, stepwise: (.init(width: 16, height: 16), .init(width: 640, height: 480), 2)),
                .init(fourCC: .mjpeg, sizes: [.init(width: 64, height: 48)]),
            ]
            script.controls = [.init(id: 0x0098_0900, name: "Brightness")]
            for request in Self.requests {
                script.distortions[request] = { argument in
                    generator.withLock { generator in
                        guard Int.random(in: 0..<3, using: &generator) == 0 else { return }
                        for _ in 0..<Int.random(in: 1...4, using: &generator) {
                            let place = Int.random(in: 0..<Self.size(request), using: &generator)
                            // The one pointer in a v4l2_buffer is ours; the kernel does not change it.
                            if Self.size(request) == MemoryLayout<v4l2_buffer>.size, (64..<72).contains(place) {
                                continue
                            }
                            argument.storeBytes(
                                of: UInt8.random(in: 0...255, using: &generator), toByteOffset: place, as: UInt8.self)
                        }
                    }
                }
            }
        }
        for round in 0..<8 {
            do throws(CaptureError) {
                let device = try CaptureDevice(path: "/dev/video0", calls: scripted)
                _ = try device.modes()
                _ = try? device.controls()
                _ = try device.negotiate(CaptureRequest(width: 64, height: 48, rate: 30))
                try device.start()
                for sequence in 0..<UInt32(12) {
                    scripted.deliver(.init(sequence: sequence, timestamp: UInt64(round) << 30))
                    guard let frame = try device.nextFrame(milliseconds: 0) else { continue }
                    #expect(frame.withBytes { $0.count } > 0)
                }
            } catch {
                #expect(!error.description.isEmpty)
            }
        }
        #expect(scripted.openDescriptors == 0 && scripted.mapped == 0)
    }
}
