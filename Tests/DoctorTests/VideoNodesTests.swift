import ControlAPI
import Testing

@testable import Doctor

struct VideoNodesTests {
    @Test func `a webcam, its metadata, a codec and an image processor are told apart`() throws {
        let tree = try FixtureTree()
        func node(_ number: Int, _ name: String, index: Int, bus: String) throws {
            try tree.write("sys/class/video4linux/video\(number)/name", name + "\n")
            try tree.write("sys/class/video4linux/video\(number)/index", "\(index)\n")
            try tree.link("sys/class/video4linux/video\(number)/device/subsystem", to: "../../../bus/\(bus)")
        }
        try node(0, "HD Pro Webcam C920", index: 0, bus: "usb")
        try node(1, "HD Pro Webcam C920", index: 1, bus: "usb")
        try node(10, "bcm2835-codec-decode", index: 0, bus: "platform")
        try node(13, "bcm2835-isp-output0", index: 0, bus: "platform")
        try node(2, "unicam-image", index: 0, bus: "platform")
        try tree.write("sys/class/video4linux/v4l-subdev0/name", "imx219 10-0010\n")
        try tree.link("dev/v4l/by-id/usb-046d_HD_Pro_Webcam_C920_ABC-video-index0", to: "../../video0")
        try tree.link("dev/v4l/by-id/usb-046d_HD_Pro_Webcam_C920_ABC-video-index1", to: "../../video1")
        try tree.link("dev/v4l/by-path/platform-fd500000.pcie-usb-0:1.2:1.0-video-index0", to: "../../video0")
        let nodes = VideoNodes.find(root: tree.root)
        #expect(nodes.map(\.device) == ["/dev/video0", "/dev/video1", "/dev/video2", "/dev/video10", "/dev/video13"])
        #expect(nodes.map(\.kind) == [.camera, .metadata, .camera, .processor, .processor])
        #expect(nodes[0].bus == "usb" && nodes[2].bus == "platform")
        #expect(nodes[0].stableID == "/dev/v4l/by-id/usb-046d_HD_Pro_Webcam_C920_ABC-video-index0")
        #expect(nodes[0].stablePath == "/dev/v4l/by-path/platform-fd500000.pcie-usb-0:1.2:1.0-video-index0")
        #expect(nodes[2].stableID == nil)
    }

    @Test func `no device, and names without sense, are no trouble`() throws {
        #expect(VideoNodes.find(root: try FixtureTree().root).isEmpty)
        let tree = try FixtureTree([
            "sys/class/video4linux/videoX/name": "x", "sys/class/video4linux/video3/index": "many",
        ])
        let nodes = VideoNodes.find(root: tree.root)
        #expect(nodes.map(\.device) == ["/dev/video3"])
        #expect(nodes[0].name == "video3" && nodes[0].index == 0)
    }
}
