import CV4L2
import ScriptedDevice
import Testing

@testable import VideoCapture

struct NegotiationTests {
    private func device(_ change: @escaping (inout ScriptedDevice.Script) -> Void = { _ in }) throws -> CaptureDevice {
        try CaptureDevice(path: "/dev/video0", calls: ScriptedDevice(change))
    }

    private let vga = CaptureRequest(width: 640, height: 480, rate: 30)

    @Test func `formats, sizes and rates are listed as the driver has them`() throws {
        let modes = try device { script in
            script.formats = [
                .init(fourCC: .yuyv, sizes: [.init(width: 640, height: 480), .init(width: 1280, height: 720)]),
                .init(
                    fourCC: .mjpeg, rates: [],
                    stepwise: (.init(width: 48, height: 48), .init(width: 1920, height: 1080), 2)),
            ]
        }.modes()
        #expect(modes.map(\.pixelFormat) == [.yuyv, .mjpeg] && modes.map(\.isCompressed) == [false, true])
        #expect(
            modes[0].extents.map(\.rates) == [.discrete([.init(30), .init(15)]), .discrete([.init(30), .init(15)])])
        #expect(modes[0].text == "YUYV 640x480, 1280x720" && modes[0].name == "Frames in YUYV")
        #expect(modes[1].text == "MJPG 48x48 to 1920x1080" && modes[1].extents[0].rates == .unknown)
    }

    @Test func `a driver that lists for ever is heard for a while`() throws {
        let device = ScriptedDevice { script in
            script.answers[watchbox_VIDIOC_ENUM_FMT] = { count, argument in
                argument.assumingMemoryBound(to: v4l2_fmtdesc.self).pointee.pixelformat = UInt32(count)
                return 0
            }
            script.answers[watchbox_VIDIOC_ENUM_FRAMESIZES] = { count, argument in
                let answer = argument.assumingMemoryBound(to: v4l2_frmsizeenum.self)
                answer.pointee.type = V4L2_FRMSIZE_TYPE_DISCRETE.rawValue
                answer.pointee.discrete = v4l2_frmsize_discrete(width: UInt32(count % 16_384 + 1), height: 16)
                return 0
            }
            script.answers[watchbox_VIDIOC_ENUM_FRAMEINTERVALS] = { count, argument in
                let answer = argument.assumingMemoryBound(to: v4l2_frmivalenum.self)
                answer.pointee.type = V4L2_FRMIVAL_TYPE_DISCRETE.rawValue
                answer.pointee.discrete = v4l2_fract(numerator: 1, denominator: UInt32(count % 9000 + 1))
                return 0
            }
        }
        let modes = try CaptureDevice(path: "/dev/video0", calls: device).modes()
        #expect(modes.count == FormatDescription.maxCount)
        let asked = [watchbox_VIDIOC_ENUM_FRAMESIZES, watchbox_VIDIOC_ENUM_FRAMEINTERVALS].map(device.calls)
        #expect(asked.reduce(0, +) <= 20_000)
    }

    @Test func `sizes and rates that cannot be are left out`() throws {
        let modes = try device { script in
            script.formats = [
                .init(fourCC: .yuyv, sizes: [.init(width: 0, height: 480), .init(width: 640, height: 480)])
            ]
            script.distortions[watchbox_VIDIOC_ENUM_FRAMEINTERVALS] = { argument in
                let answer = argument.assumingMemoryBound(to: v4l2_frmivalenum.self)
                if answer.pointee.index == 0 { answer.pointee.discrete.numerator = 0 }
            }
        }.modes()
        #expect(
            modes[0].extents == [
                .init(sizes: .discrete(.init(width: 640, height: 480)), rates: .discrete([.init(15)]))
            ])
        let inverted = try device { script in
            script.formats = [
                .init(fourCC: .yuyv, stepwise: (.init(width: 640, height: 480), .init(width: 16, height: 16), 0))
            ]
        }.modes()
        #expect(inverted[0].extents == [.init(sizes: .unknown, rates: .unknown)])
    }

    @Test func `the driver's lines begin at multiples of 64 where it grants that`() throws {
        let device = try device { script in
            script.formats = [.init(fourCC: .yu12, sizes: [.init(width: 780, height: 360)])]
        }
        let setup = try device.negotiate(CaptureRequest(width: 780, height: 360, rate: 30))
        #expect(setup.bytesPerLine == 832 && setup.imageBytes == 832 * 360 * 3 / 2)
        #expect(setup.rate == 30 && setup.colorSpace == .bt601 && !setup.isFullRange && !setup.isMultiplanar)
        #expect(device.setup == setup && setup.text == "780x360 YU12 at 30.0/s")
    }

    @Test func `lines as the driver wants them are taken as they are`() throws {
        let device = try device { script in
            script.formats = [.init(fourCC: .yu12, sizes: [.init(width: 780, height: 360)])]
            script.grantsAlignment = false
        }
        #expect(try device.negotiate(CaptureRequest(width: 780, height: 360, rate: 30)).bytesPerLine == 780)
    }

    @Test func `the multi-planar interface is spoken where the driver has no other`() throws {
        let device = try device { script in
            script.isMultiplanar = true
            script.capabilities = UInt32(bitPattern: V4L2_CAP_VIDEO_CAPTURE_MPLANE | V4L2_CAP_STREAMING)
            script.formats = [.init(fourCC: .nv12)]
            script.quantization = V4L2_QUANTIZATION_FULL_RANGE.rawValue
            script.colorspace = V4L2_COLORSPACE_REC709.rawValue
        }
        let setup = try device.negotiate(vga)
        #expect(setup.isMultiplanar && setup.isFullRange && setup.colorSpace == .bt709)
        #expect(setup.pixelFormat == .nv12 && setup.imageBytes == 640 * 480 * 3 / 2)
    }

    @Test func `a rate that the driver refuses is answered with the one that it has`() throws {
        #expect(try device().negotiate(CaptureRequest(width: 640, height: 480, rate: 100)).rate == 30)
        #expect(try device().negotiate(CaptureRequest(width: 640, height: 480, rate: 11)).rate == 15)
        let fixed = try device { $0.formats = [.init(fourCC: .yuyv, rates: [])] }
        #expect(try fixed.negotiate(CaptureRequest(width: 640, height: 480, rate: 25)).rate == 25)
    }

    @Test func `an odd size becomes the nearest that the camera has`() throws {
        let setup = try device().negotiate(CaptureRequest(width: 641, height: 481, rate: 30))
        #expect(setup.width == 640 && setup.height == 480)
    }

    @Test func `a format that the driver lists and does not grant gives way to the next`() throws {
        let device = try device { script in
            script.formats = [.init(fourCC: .yuyv), .init(fourCC: .nv12)]
            script.distortions[watchbox_VIDIOC_S_FMT] = { argument in
                let format = argument.assumingMemoryBound(to: v4l2_format.self)
                if format.pointee.fmt.pix.pixelformat == FourCC.nv12.rawValue {
                    format.pointee.fmt.pix.pixelformat = FourCC.yuyv.rawValue
                }
            }
        }
        #expect(try device.negotiate(vga).pixelFormat == .yuyv)
    }

    @Test func `what is requested and not there is answered with what is`() throws {
        let device = try device { $0.formats = [.init(fourCC: .yuyv), .init(fourCC: .mjpeg)] }
        let request = CaptureRequest(width: 1280, height: 720, rate: 30, pixelFormat: .h264)
        let error = CaptureError.noSuchFormat(
            requested: "1280x720 at 30/s in H264", offered: "YUYV 640x480; MJPG 640x480")
        #expect(throws: error) { try device.negotiate(request) }
        #expect(error.remedy == .person)
        #expect(
            error.description
                == "The camera cannot deliver 1280x720 at 30/s in H264: It offers YUYV 640x480; MJPG 640x480. Choose a "
                + "size, rate and pixel format that \"watchboxctl discover\" lists.")
    }

    @Test(arguments: [
        CaptureRequest(width: 0, height: 480, rate: 30), CaptureRequest(width: 640, height: -1, rate: 30),
        CaptureRequest(width: .max, height: 480, rate: 30), CaptureRequest(width: 640, height: 480, rate: 0),
        CaptureRequest(width: 640, height: 480, rate: 0.09),
        CaptureRequest(width: 640, height: 480, rate: .nan), CaptureRequest(width: 640, height: 480, rate: .infinity),
    ])
    func `a request without sense is refused before the driver sees it`(request: CaptureRequest) throws {
        let device = try device()
        #expect { try device.negotiate(request) } throws: { error in
            guard case .noSuchFormat? = error as? CaptureError else { return false }
            return true
        }
    }

    struct Numbers: Sendable {
        var line: UInt32 = 1280
        var size: UInt32 = 614_400
        var width: UInt32 = 640
        var height: UInt32 = 480
    }

    @Test(arguments: [
        Numbers(line: 0), Numbers(line: 1279), Numbers(size: 614_399), Numbers(size: .max), Numbers(size: 0),
        Numbers(line: .max, size: .max), Numbers(width: 0), Numbers(height: 0),
        Numbers(line: .max, size: .max, width: .max, height: .max), Numbers(width: 20_000),
    ])
    func `numbers that cannot be are not believed`(numbers: Numbers) throws {
        let device = try device { script in
            script.distortions[watchbox_VIDIOC_S_FMT] = { argument in
                let format = argument.assumingMemoryBound(to: v4l2_format.self)
                format.pointee.fmt.pix.bytesperline = numbers.line
                format.pointee.fmt.pix.sizeimage = numbers.size
                format.pointee.fmt.pix.width = numbers.width
                format.pointee.fmt.pix.height = numbers.height
            }
        }
        #expect { try device.negotiate(vga) } throws: { error in
            guard case .badAnswer(let text)? = error as? CaptureError else { return false }
            return text.hasPrefix("VIDIOC_S_FMT") && (error as? CaptureError)?.remedy == .restartStream
        }
        #expect(device.setup == nil)
    }

    @Test func `single fields in turn, and frames in two planes of memory, are not taken`() throws {
        let fields = try device { script in
            script.distortions[watchbox_VIDIOC_S_FMT] = { argument in
                argument.assumingMemoryBound(to: v4l2_format.self).pointee.fmt.pix.field =
                    V4L2_FIELD_ALTERNATE.rawValue
            }
        }
        #expect(throws: CaptureError.noSuchFormat(requested: "640x480 at 30/s", offered: "YUYV 640x480")) {
            try fields.negotiate(vga)
        }
        let planes = try device { script in
            script.isMultiplanar = true
            script.capabilities = UInt32(bitPattern: V4L2_CAP_VIDEO_CAPTURE_MPLANE | V4L2_CAP_STREAMING)
            script.distortions[watchbox_VIDIOC_S_FMT] = { argument in
                argument.assumingMemoryBound(to: v4l2_format.self).pointee.fmt.pix_mp.num_planes = 2
            }
        }
        #expect(throws: CaptureError.noSuchFormat(requested: "640x480 at 30/s", offered: "YUYV 640x480")) {
            try planes.negotiate(vga)
        }
    }

    @Test(arguments: [
        (EBUSY, CaptureError.busy(path: "/dev/video0")), (ENODEV, .disconnected),
        (EIO, .refused(call: "VIDIOC_S_FMT", errno: EIO)), (ENOLINK, .noSignal(path: "/dev/video0")),
    ])
    func `what the driver says to a format is told apart`(number: Int32, error: CaptureError) throws {
        let device = try device { $0.answers[watchbox_VIDIOC_S_FMT] = { _, _ in number } }
        #expect(throws: error) { try device.negotiate(vga) }
        #expect(error.remedy != .person)
    }

    @Test func `a bridge without a signal waits for one, and follows it when it comes`() throws {
        let scripted = ScriptedDevice { $0.answers[watchbox_VIDIOC_QUERY_DV_TIMINGS] = { _, _ in ENOLINK } }
        let device = try CaptureDevice(path: "/dev/video0", calls: scripted)
        #expect(throws: CaptureError.noSignal(path: "/dev/video0")) { try device.negotiate(vga) }
        scripted.change { script in
            script.answers[watchbox_VIDIOC_QUERY_DV_TIMINGS] = { _, _ in 0 }
            script.answers[watchbox_VIDIOC_S_DV_TIMINGS] = { _, _ in 0 }
        }
        #expect(try device.negotiate(vga).width == 640)
        #expect(scripted.calls(of: watchbox_VIDIOC_S_DV_TIMINGS) == 1)
    }

    @Test(arguments: [(0, 0), (1, 0), (0, 1), (11, 1), (.max, 1), (1, .max)] as [(UInt32, UInt32)])
    func `a rate of nothing, and one below a frame in ten seconds, is ignored`(
        numerator: UInt32, denominator: UInt32
    ) throws {
        let device = try device { script in
            script.distortions[watchbox_VIDIOC_S_PARM] = { argument in
                argument.assumingMemoryBound(to: v4l2_streamparm.self).pointee.parm.capture.timeperframe =
                    v4l2_fract(numerator: numerator, denominator: denominator)
            }
        }
        #expect(try device.negotiate(vga).rate == 30)
    }

    @Test func `a frame in ten seconds is a rate`() throws {
        let device = try device { script in
            script.distortions[watchbox_VIDIOC_S_PARM] = { argument in
                argument.assumingMemoryBound(to: v4l2_streamparm.self).pointee.parm.capture.timeperframe =
                    v4l2_fract(numerator: 10, denominator: 1)
            }
        }
        #expect(try device.negotiate(vga).rate == 0.1)
    }

    /// A driver with other rates.
    private func lister(_ change: @escaping @Sendable (inout v4l2_frmivalenum) -> Void) throws -> CaptureDevice {
        try device { script in
            script.distortions[watchbox_VIDIOC_ENUM_FRAMEINTERVALS] = { argument in
                change(&argument.assumingMemoryBound(to: v4l2_frmivalenum.self).pointee)
            }
            // It agrees to whatever is asked of it.
            script.answers[watchbox_VIDIOC_S_PARM] = { _, _ in 0 }
        }
    }

    @Test func `listed rates below a frame in ten seconds are left out`() throws {
        let some = try lister { if $0.index == 0 { $0.discrete = v4l2_fract(numerator: 1000, denominator: 99) } }
        #expect(try some.modes()[0].extents[0].rates == .discrete([.init(15)]))
        #expect(try some.negotiate(CaptureRequest(width: 640, height: 480, rate: 0.1)).rate == 15)
        let all = try lister { $0.discrete = v4l2_fract(numerator: 60, denominator: 1) }
        #expect(try all.modes()[0].extents[0].rates == .unknown)
        #expect(try all.negotiate(vga).rate == 30)
    }

    @Test func `a range of rates that goes down to a frame a day begins at one in ten seconds`() throws {
        let wide = try lister { answer in
            answer.type = V4L2_FRMIVAL_TYPE_CONTINUOUS.rawValue
            answer.stepwise.min = v4l2_fract(numerator: 1, denominator: 120)
            answer.stepwise.max = v4l2_fract(numerator: 86_400, denominator: 1)
        }
        #expect(try wide.modes()[0].extents[0].rates == .range(minimum: .init(1, 10), maximum: .init(120)))
        #expect(try wide.negotiate(CaptureRequest(width: 640, height: 480, rate: 0.1)).rate == 0.1)
        #expect(try wide.negotiate(vga).rate == 30)
        let slow = try lister { answer in
            answer.type = V4L2_FRMIVAL_TYPE_CONTINUOUS.rawValue
            answer.stepwise.min = v4l2_fract(numerator: 60, denominator: 1)
            answer.stepwise.max = v4l2_fract(numerator: 86_400, denominator: 1)
        }
        #expect(try slow.modes()[0].extents[0].rates == .unknown)
    }
}
