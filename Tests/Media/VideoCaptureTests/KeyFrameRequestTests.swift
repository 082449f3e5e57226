import CV4L2
import ScriptedDevice
import Synchronization
import Testing

@testable import VideoCapture

struct KeyFrameRequestTests {
    private static let identifier: [UInt8] = [
        0x41, 0x76, 0x9E, 0xA2, 0x04, 0xDE, 0xE3, 0x47, 0x8B, 0x2B, 0xF4, 0x34, 0x1A, 0xFF, 0x00, 0x3B,
    ]

    private static func interface(_ number: UInt8, class video: UInt8 = 0x0E, subclass: UInt8 = 1) -> [UInt8] {
        [9, 4, number, 0, 1, video, subclass, 0, 0]
    }

    private static func unit(_ id: UInt8, _ identifier: [UInt8] = identifier) -> [UInt8] {
        // bNumControls, bNrInPins, baSourceID, bControlSize, bmControls, iExtension.
        let parts: [[UInt8]] = [[27, 0x24, 6, id], identifier, [19, 1, 2, 2, 0xFF, 0x07, 0]]
        return Array(parts.joined())
    }

    /// A device of a microphone and a camera with two extension units.
    private static let parts: [[UInt8]] = [
        [18, 1, 0, 2, 0xEF, 2, 1, 64, 0x6D, 4, 0x2D, 8, 0x11, 0, 0, 2, 1, 1],
        [9, 2, 0, 0, 3, 1, 0, 0x80, 250], interface(2, class: 1), unit(9),
        interface(0), [13, 0x24, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1], unit(6, [UInt8](repeating: 7, count: 16)),
        unit(12),
        interface(1, subclass: 2), unit(13),
    ]
    private static let descriptors = Array(parts.joined())

    @Test func `the unit of the camera's own interface is found, and no other`() {
        #expect(H264ExtensionUnit(descriptors: Self.descriptors, interface: 0)?.id == 12)
        for interface in [1, 2, 3, -1] {
            #expect(H264ExtensionUnit(descriptors: Self.descriptors, interface: interface) == nil)
        }
    }

    @Test func `descriptors without sense are ignored`() {
        for count in 0..<Self.descriptors.count {
            let found = H264ExtensionUnit(descriptors: Array(Self.descriptors.prefix(count)), interface: 0)
            #expect(found == nil || found?.id == 12)
        }
        for position in Self.descriptors.indices {
            for value in [0, 1, 2, 9, 255] as [UInt8] {
                var changed = Self.descriptors
                changed[position] = value
                _ = H264ExtensionUnit(descriptors: changed, interface: 0)
            }
        }
    }

    @Test func `a USB camera is asked through its extension unit, another through V4L2's control`() throws {
        let machine = try ScriptedMachine()
        let asked = Mutex<[[UInt8]]>([])
        let webcam = ScriptedDevice { script in
            script.formats = [.init(fourCC: .h264)]
            script.answers[watchbox_UVCIOC_CTRL_QUERY] = { _, argument in
                let query = argument.assumingMemoryBound(to: uvc_xu_control_query.self).pointee
                let data = Array(UnsafeBufferPointer(start: query.data, count: Int(query.size)))
                asked.withLock { $0.append([query.unit, query.selector, query.query] + data) }
                return 0
            }
        }
        try machine.add(0, "Webcam", bus: "usb", port: "1-1.4", webcam)
        try machine.write("sys/devices/usb/1-1.4/descriptors", bytes: Self.descriptors)
        let device = try CaptureDevice(path: "/dev/video0", calls: machine, root: machine.root)
        #expect(device.requestKeyFrame())
        #expect(asked.withLock { $0 } == [[12, 9, 1, 0, 0, 2, 0]])
        device.close()
        #expect(!device.requestKeyFrame())

        let encoder = ScriptedDevice { script in
            script.formats = [.init(fourCC: .h264)]
            script.controls = [.init(id: watchbox_force_key_frame, name: "Force Key Frame", value: 0)]
        }
        #expect(try CaptureDevice(path: "/dev/video0", calls: encoder).requestKeyFrame())
        #expect(encoder.value(of: watchbox_force_key_frame) == 1)
        #expect(try !CaptureDevice(path: "/dev/video0", calls: ScriptedDevice()).requestKeyFrame())
    }
}
