import CV4L2
import ScriptedDevice
import Testing

@testable import VideoCapture

struct CaptureNodesTests {
    private static let webcam = "dev/v4l/by-id/usb-046d_HD_Pro_Webcam_C920_ABC-video-index"

    private func capabilities(_ flags: Int32...) -> UInt32 {
        flags.reduce(0) { $0 | UInt32(bitPattern: $1) }
    }

    @Test func `a name that a device gives itself steers no terminal and turns no text`() {
        let name = Array("a\u{1B}[2J\u{9B}\u{202E}b\u{200F} ".utf8) + [0, 65]
        #expect(name.withUnsafeBytes { Sysfs.text($0) } == "a?[2J??b?")
    }

    @Test func `without opening, a webcam, its metadata, a codec and an image processor are told apart`() throws {
        let machine = try ScriptedMachine()
        try machine.add(0, "HD Pro Webcam C920", index: 0, bus: "usb")
        try machine.add(1, "HD Pro Webcam C920", index: 1, bus: "usb")
        try machine.add(10, "bcm2835-codec-decode")
        try machine.add(13, "bcm2835-isp-output0")
        try machine.add(2, "unicam-image")
        try machine.write("sys/class/video4linux/v4l-subdev0/name", "imx219 10-0010\n")
        try machine.link(Self.webcam + "0", to: "../../video0")
        try machine.link(Self.webcam + "1", to: "../../video1")
        try machine.link("dev/v4l/by-path/platform-fd500000.pcie-usb-0:1.2:1.0-video-index0", to: "../../video0")
        let nodes = CaptureNodes.find(root: machine.root, calls: machine, isOpening: false)
        #expect(nodes.map(\.device) == ["/dev/video0", "/dev/video1", "/dev/video2", "/dev/video10", "/dev/video13"])
        #expect(
            nodes.map(\.verdict) == [
                .camera, .rejected(.metadata), .camera, .rejected(.codec), .rejected(.imageProcessor),
            ])
        #expect(nodes[0].subsystem == "usb" && nodes[2].subsystem == "platform")
        #expect(nodes[0].stableID == "/" + Self.webcam + "0")
        #expect(nodes[0].stablePath == "/dev/v4l/by-path/platform-fd500000.pcie-usb-0:1.2:1.0-video-index0")
        #expect(nodes[2].stableID == nil)
    }

    @Test func `no device, and names without sense, are not errors`() throws {
        let machine = try ScriptedMachine()
        #expect(CaptureNodes.find(root: machine.root, calls: machine).isEmpty)
        try machine.write("sys/class/video4linux/videoX/name", "x")
        try machine.write("sys/class/video4linux/video3/index", "many")
        let nodes = CaptureNodes.find(root: machine.root, calls: machine, isOpening: false)
        #expect(nodes.map(\.device) == ["/dev/video3"])
        #expect(nodes[0].card == "video3" && nodes[0].index == 0 && nodes[0].subsystem == "virtual")
    }

    @Test func `a USB camera is known by its port, its serial number and its speed`() throws {
        let machine = try ScriptedMachine()
        let camera = ScriptedDevice { script in
            script.driver = "uvcvideo"
            script.card = "Crisp Webcam"
            script.bus = "usb-0000:01:00.0-1.4"
        }
        try machine.add(4, "Crisp Webcam", bus: "usb", port: "1-1.4", serial: "8A2F", speed: 480, camera)
        let node = try #require(CaptureNodes.find(root: machine.root, calls: machine).first)
        #expect(node.verdict == .camera, "the name of a USB camera says nothing of what it is")
        #expect(node.usbPort == "1-1.4" && node.serial == "8A2F" && node.usbMegabits == 480)
        #expect(node.bus == "usb-0000:01:00.0-1.4" && node.driver == "uvcvideo")
        #expect(node.rawBytesPerSecond == 24_000_000)
        #expect(camera.openDescriptors == 0)
        #expect(camera.calls(of: watchbox_VIDIOC_S_FMT) == 0 && camera.calls(of: watchbox_VIDIOC_STREAMON) == 0)
        let unopened = CaptureNodes.find(root: machine.root, calls: machine, isOpening: false)
        #expect(unopened.first?.driver == "uvcvideo" && unopened.first?.bus == "usb")
    }

    @Test func `each kind of node that is not a camera is refused with its reason`() throws {
        let streaming = V4L2_CAP_STREAMING
        let kinds: [(CaptureNode.Rejection, ScriptedDevice)] = [
            (
                .codec,
                ScriptedDevice { script in
                    script.capabilities = self.capabilities(V4L2_CAP_VIDEO_M2M_MPLANE, streaming)
                    script.formats = [ScriptedDevice.Format(fourCC: .h264)]
                    script.outputFormats = [.yu12]
                }
            ),
            (
                .codec,
                ScriptedDevice { script in
                    script.capabilities = self.capabilities(V4L2_CAP_VIDEO_M2M, streaming)
                    script.formats = [ScriptedDevice.Format(fourCC: .yu12)]
                    script.outputFormats = [.h264]
                }
            ),
            (
                .imageProcessor,
                ScriptedDevice { script in
                    script.capabilities = self.capabilities(V4L2_CAP_VIDEO_M2M, streaming)
                    script.outputFormats = [.yuyv]
                }
            ),
            (
                .imageProcessor,
                ScriptedDevice { script in
                    script.driver = "bcm2835-isp"
                    script.card = "bcm2835-isp-capture0"
                }
            ),
            (
                .rawBayer,
                ScriptedDevice { script in
                    script.formats = ["pRAA", "RG10"].compactMap { FourCC($0) }.map { .init(fourCC: $0) }
                }
            ),
            (
                .mediaController,
                ScriptedDevice {
                    $0.capabilities = self.capabilities(V4L2_CAP_VIDEO_CAPTURE, streaming, V4L2_CAP_IO_MC)
                }
            ),
            (.metadata, ScriptedDevice { $0.capabilities = self.capabilities(V4L2_CAP_META_CAPTURE, streaming) }),
            (.output, ScriptedDevice { $0.capabilities = self.capabilities(V4L2_CAP_VIDEO_OUTPUT, streaming) }),
            (.radioOrTouch, ScriptedDevice { $0.capabilities = self.capabilities(V4L2_CAP_RADIO) }),
            (.noStreaming, ScriptedDevice { $0.capabilities = self.capabilities(V4L2_CAP_VIDEO_CAPTURE) }),
            (.noFormats, ScriptedDevice { $0.formats = [] }),
        ]
        let machine = try ScriptedMachine()
        for (number, kind) in kinds.enumerated() { try machine.add(number, "some node", kind.1) }
        let nodes = CaptureNodes.find(root: machine.root, calls: machine)
        #expect(nodes.map(\.verdict) == kinds.map { .rejected($0.0) })
        for (number, kind) in kinds.enumerated() {
            #expect(kind.0.reason.hasSuffix("."))
            let path = "/dev/video\(number)"
            #expect(throws: CaptureError.notACamera(path: path, kind.0)) {
                _ = try CaptureDevice(path: path, calls: machine, root: machine.root)
            }
            #expect(kind.1.openDescriptors == 0, "refused and closed")
        }
    }

    @Test func `what a person called a device says nothing of what it is`() throws {
        let machine = try ScriptedMachine()
        let labels = ["Display", "mjpeg", "HDMI decoder", "rga", "Crisp M2M", "bcm2835-codec-decode", "Codability"]
        for (number, label) in labels.enumerated() {
            try machine.addVirtual(
                number, label,
                ScriptedDevice { script in
                    script.driver = "v4l2 loopback"
                    script.card = label
                    script.bus = "platform:v4l2loopback-\(number)"
                })
        }
        let opened = CaptureNodes.find(root: machine.root, calls: machine)
        #expect(opened.map(\.card) == labels && opened.allSatisfy(\.isCamera))
        let unopened = CaptureNodes.find(root: machine.root, calls: machine, isOpening: false)
        #expect(unopened.allSatisfy { $0.isCamera && $0.subsystem == "virtual" })
    }

    @Test(arguments: [
        ("bcm2835-codec", CaptureNode.Rejection.codec), ("bcm2835-isp", .imageProcessor), ("rpivid", .codec),
        ("rpi-hevc-dec", .codec), ("hantro-vpu", .codec), ("rkvdec2", .codec), ("rockchip-rga", .imageProcessor),
        ("rkisp_v6", .imageProcessor), ("rkispp", .imageProcessor), ("pispbe", .imageProcessor), ("cedrus", .codec),
        ("mtk-vcodec-enc", .codec), ("s5p-mfc", .codec), ("mxc-jpeg codec", .codec), ("wave5-dec", .codec),
    ])
    func `drivers of codecs and image processors are known by their names`(
        driver: String, rejection: CaptureNode.Rejection
    ) throws {
        let machine = try ScriptedMachine()
        try machine.add(0, "some label", ScriptedDevice { $0.driver = driver })
        #expect(CaptureNodes.find(root: machine.root, calls: machine).map(\.verdict) == [.rejected(rejection)])
    }

    @Test func `a node that may not be opened is listed with the reason, by the name that sysfs has`() throws {
        let machine = try ScriptedMachine()
        try machine.add(0, "Webcam", ScriptedDevice { $0.openErrno = EACCES })
        try machine.add(1, "Webcam", ScriptedDevice { $0.openErrno = EBUSY })
        try machine.add(2, "rpivid hevc decoder", ScriptedDevice { $0.openErrno = EACCES })
        try machine.add(3, "Webcam", ScriptedDevice { $0.answers[watchbox_VIDIOC_ENUM_FMT] = { _, _ in EIO } })
        let nodes = CaptureNodes.find(root: machine.root, calls: machine)
        #expect(nodes.map(\.card) == ["Webcam", "Webcam", "rpivid hevc decoder", "Scripted Camera"])
        guard case .unknown(let reason) = nodes[0].verdict, case .unknown(let other) = nodes[1].verdict else {
            Issue.record("\(nodes)")
            return
        }
        #expect(reason.contains("/dev/video0 may not be opened") && reason != other)
        #expect(nodes[2].verdict == .rejected(.codec))
        guard case .unknown(let listing) = nodes[3].verdict else {
            Issue.record("\(nodes[3])")
            return
        }
        #expect(listing.contains("list its formats"))
    }

    @Test func `a configured link leads to the node that it is now`() throws {
        let machine = try ScriptedMachine()
        let camera = ScriptedDevice()
        try machine.add(7, "Webcam", bus: "usb", port: "3-2", camera)
        try machine.link(Self.webcam + "0", to: "../../video7")
        let node = try CaptureNodes.node(at: "/" + Self.webcam + "0", root: machine.root, calls: machine)
        #expect(node.device == "/dev/video7" && node.usbPort == "3-2" && node.stableID == "/" + Self.webcam + "0")
        #expect(camera.openDescriptors == 0)
        #expect(throws: CaptureError.notThere(path: "/dev/video9")) {
            try CaptureNodes.node(at: "/dev/video9", root: machine.root, calls: machine)
        }
    }

    @Test(arguments: [
        (ENOENT, CaptureError.notThere(path: "/dev/video0")), (ENODEV, .notThere(path: "/dev/video0")),
        (ENXIO, .notThere(path: "/dev/video0")), (EACCES, .notPermitted(path: "/dev/video0")),
        (EPERM, .notPermitted(path: "/dev/video0")), (EBUSY, .busy(path: "/dev/video0")),
        (EMFILE, .refused(call: "open", errno: EMFILE)),
    ])
    func `what the kernel says to open is told apart`(number: Int32, error: CaptureError) throws {
        let device = ScriptedDevice { $0.openErrno = number }
        #expect(throws: error) { _ = try CaptureDevice(path: "/dev/video0", calls: device) }
        #expect(error.remedy == (number == EMFILE ? .restartStream : .waitForDevice))
    }

    @Test func `the kernel itself says that a file and a terminal are not cameras`() throws {
        #expect(throws: CaptureError.notACamera(path: "/dev/null", .notVideo)) {
            _ = try CaptureDevice(path: "/dev/null")
        }
        #expect(throws: CaptureError.notThere(path: "/dev/no-such-camera")) {
            _ = try CaptureDevice(path: "/dev/no-such-camera")
        }
    }

    @Test func `an encoder encodes frames to H264 or HEVC; decoders, scalers and cameras do not`() throws {
        let machine = try ScriptedMachine()
        func node(_ number: Int, from: [FourCC], to: [FourCC], isM2M: Bool = true) throws {
            try machine.add(
                number, "node\(number)",
                ScriptedDevice { script in
                    script.capabilities = self.capabilities(
                        isM2M ? V4L2_CAP_VIDEO_M2M_MPLANE : V4L2_CAP_VIDEO_CAPTURE, V4L2_CAP_STREAMING)
                    script.card = "card\(number)"
                    script.formats = to.map { .init(fourCC: $0) }
                    script.outputFormats = from
                })
        }
        try node(10, from: [.h264], to: [.yu12])
        try node(11, from: [.yu12, .nv12], to: [.mjpeg, .h264])
        try node(12, from: [.yu12], to: [.nv12])
        try node(13, from: [.nv12], to: [.h264, .hevc])
        try node(14, from: [.rgb3], to: [.h264])
        try node(0, from: [.yu12], to: [.h264], isM2M: false)
        let encoders = CaptureNodes.encoders(root: machine.root, calls: machine)
        #expect(encoders.map(\.device) == ["/dev/video11", "/dev/video13"])
        #expect(encoders.map(\.codecs) == [["h264"], ["h264", "hevc"]])
        #expect(encoders[0].description == "/dev/video11 (card11): h264")
    }
}
