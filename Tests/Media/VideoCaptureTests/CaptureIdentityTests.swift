import ScriptedDevice
import Testing

@testable import VideoCapture

/// Each test is a story of what is plugged where, look after look.
struct CaptureIdentityTests {
    private func node(
        _ device: String, card: String = "C920", bus: String = "usb-1.1", serial: String? = nil,
        stableID: String? = nil, usbPort: String? = nil, verdict: CaptureNode.Verdict = .camera, index: Int = 0
    ) -> CaptureNode {
        CaptureNode(
            device: device, card: card, bus: bus, index: index, stableID: stableID, serial: serial, usbPort: usbPort,
            verdict: verdict)
    }

    @Test func `a serial number finds the camera at another port and under another number`() {
        var identity = CaptureIdentity(node("/dev/video0", serial: "A"))
        let moved = node("/dev/video4", bus: "usb-1.3", serial: "A")
        let nodes = [
            node("/dev/video0", serial: "B"), moved, node("/dev/video5", bus: "usb-1.3", serial: "A", index: 1),
        ]
        identity.seen(nodes)
        #expect(!identity.isSerialShared, "one camera that was moved is not a twin")
        #expect(identity.match(among: nodes) == moved && identity.isSame(as: moved))
        identity = identity.enriched(by: moved)
        #expect(identity.bus == "usb-1.3" && identity.match(among: nodes) == moved)
    }

    @Test func `another camera at the same port is another camera`() {
        let identity = CaptureIdentity(node("/dev/video0", serial: "A"))
        let others = [
            node("/dev/video0", serial: "B"), node("/dev/video0", card: "C270", serial: "A"), node("/dev/video0"),
            node("/dev/video0", serial: "A", index: 1),
        ]
        for other in others {
            #expect(identity.match(among: [other]) == nil && !identity.isSame(as: other))
        }
    }

    @Test func `a twin that was there at the opening does not take the place of the one that is away`() {
        let mine = node("/dev/video0", serial: "0001")
        let twin = node("/dev/video2", bus: "usb-1.2", serial: "0001")
        let identity = CaptureIdentity(mine, among: [mine, twin])
        #expect(identity.isSerialShared)
        #expect(identity.match(among: [mine, twin]) == mine)
        let twinUnderMyNumber = node("/dev/video0", bus: "usb-1.2", serial: "0001")
        #expect(identity.match(among: [twinUnderMyNumber]) == nil && !identity.isSame(as: twinUnderMyNumber))
        let back = node("/dev/video2", serial: "0001")
        #expect(identity.match(among: [twinUnderMyNumber, back]) == back && identity.isSame(as: back))
    }

    @Test func `a twin that comes later is remembered when this camera, and then the twin, goes`() {
        let mine = node("/dev/video0", serial: "0001")
        let twin = node("/dev/video2", bus: "usb-1.2", serial: "0001")
        var identity = CaptureIdentity(mine, among: [mine])
        #expect(!identity.isSerialShared)
        identity.seen([mine, twin])
        #expect(identity.isSerialShared)
        identity.seen([mine])
        identity.seen([])
        identity.seen([twin])
        #expect(identity.isSerialShared && identity.match(among: [twin]) == nil)
        identity = identity.enriched(by: mine)
        #expect(identity.isSerialShared && identity.match(among: [twin]) == nil)
        identity = identity.enriched(by: twin)
        #expect(identity.bus == "usb-1.2" && identity.isSerialShared, "chosen by a person: its number is as bad")
        #expect(identity.match(among: [mine]) == nil)
    }

    @Test func `of two with one serial number the port decides, and nothing when it cannot`() {
        let identity = CaptureIdentity(node("/dev/video0", bus: "usb-1.2", serial: "A"))
        let first = node("/dev/video2", bus: "usb-1.1", serial: "A")
        let second = node("/dev/video0", bus: "usb-1.2", serial: "A")
        #expect(identity.match(among: [first, second]) == second)
        let elsewhere = node("/dev/video0", bus: "usb-1.4", serial: "A")
        #expect(identity.match(among: [first, elsewhere]) == nil)
    }

    @Test func `a twin that is busy is a twin, and one camera looked at in two ways is not`() {
        let mine = node("/dev/video0", serial: "0001", usbPort: "1-1")
        let busy = node(
            "/dev/video2", card: "name in sysfs", bus: "usb", serial: "0001", usbPort: "1-2",
            verdict: .unknown("busy"))
        #expect(CaptureIdentity(mine, among: [busy]).isSerialShared)
        let mineUnasked = node("/dev/video0", bus: "usb", serial: "0001", usbPort: "1-1")
        let mineMetadata = node(
            "/dev/video1", serial: "0001", usbPort: "1-1", verdict: .rejected(.metadata), index: 1)
        #expect(!CaptureIdentity(mine, among: [mineUnasked, mineMetadata]).isSerialShared)
        let otherModel = node("/dev/video2", card: "C270", bus: "usb-1.2", serial: "0001", usbPort: "1-2")
        #expect(!CaptureIdentity(mine, among: [mine, otherModel]).isSerialShared)
        let nameless = [node("/dev/video0"), node("/dev/video2", bus: "usb-1.2")]
        #expect(!CaptureIdentity(nameless[0], among: nameless).isSerialShared, "no number is not a shared number")
    }

    @Test func `a look at sysfs alone shows a twin as well`() throws {
        let machine = try ScriptedMachine()
        for (number, port) in [(0, "1.1"), (2, "1.2")] {
            let camera = ScriptedDevice { script in
                script.card = "USB2.0 Camera: driver's name"
                script.bus = "usb-0000:01:00.0-\(port)"
            }
            try machine.add(
                number, "USB2.0 Camera", bus: "usb", port: "1-\(port)", serial: "0001", speed: 480, camera)
            let mine = try CaptureNodes.node(at: "/dev/video0", root: machine.root, calls: machine)
            let nodes = CaptureNodes.find(root: machine.root, calls: machine, isOpening: false)
            #expect(CaptureIdentity(mine, among: nodes).isSerialShared == (nodes.count == 2))
            var learned = CaptureIdentity(mine)
            learned.seen(nodes)
            #expect(learned.isSerialShared == (nodes.count == 2))
        }
    }

    @Test func `without a serial number the port decides alone, because the link is the model's`() {
        let link = "/dev/v4l/by-id/cam"
        let mine = node("/dev/video0", stableID: link)
        let identity = CaptureIdentity(mine)
        let twin = node("/dev/video2", bus: "usb-1.2")
        #expect(identity.match(among: [mine, twin]) == mine)
        // This camera is pulled out; udev gives the link to the one that is left.
        let linkedTwin = node("/dev/video2", bus: "usb-1.2", stableID: link)
        #expect(identity.match(among: [linkedTwin]) == nil && !identity.isSame(as: linkedTwin))
        let twinUnderMyNumber = node("/dev/video0", bus: "usb-1.2", stableID: link)
        #expect(identity.match(among: [twinUnderMyNumber]) == nil)
        let back = node("/dev/video3")
        #expect(identity.match(among: [linkedTwin, back]) == back)
    }

    @Test func `a link that comes after its node makes no other camera of it`() {
        let linked = node("/dev/video0", serial: "A", stableID: "/dev/v4l/by-id/cam-A")
        let early = node("/dev/video1", bus: "usb-1.3", serial: "A")
        var identity = CaptureIdentity(linked)
        #expect(identity.isSame(as: early) && identity.match(among: [early]) == early)
        identity = identity.enriched(by: early)
        #expect(identity.stableID == "/dev/v4l/by-id/cam-A" && identity.bus == "usb-1.3" && identity.serial == "A")
        identity = CaptureIdentity(early).enriched(by: linked)
        #expect(identity == CaptureIdentity(linked))
    }

    @Test func `a serial number that cannot be read for once stays known at its port only`() {
        let identity = CaptureIdentity(node("/dev/video0", serial: "A", stableID: "/dev/v4l/by-id/cam-A"))
        #expect(identity.enriched(by: node("/dev/video0")) == identity)
        #expect(identity.enriched(by: node("/dev/video0", bus: "usb-1.2")).serial == nil)
        let other = node("/dev/video0", serial: "B")
        #expect(identity.enriched(by: other) == CaptureIdentity(other))
    }

    @Test func `a node that is not a camera, and one that could not be asked, do not take its place`() {
        let identity = CaptureIdentity(node("/dev/video0"))
        #expect(identity.match(among: [node("/dev/video0", verdict: .rejected(.codec))]) == nil)
        let unasked = node("/dev/video0", card: "name in sysfs", bus: "usb", serial: "A", verdict: .unknown("busy"))
        #expect(identity.match(among: [unasked]) == nil)
        let numbered = CaptureIdentity(node("/dev/video1", serial: "A"))
        #expect(numbered.match(among: [unasked]) == nil, "another model may have the same number")
        let busy = node("/dev/video0", bus: "usb", serial: "A", verdict: .unknown("busy"))
        #expect(numbered.match(among: [busy]) == busy)
    }
}
