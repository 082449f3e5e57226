import Testing

@testable import HealthMonitor

/// The step that resets a camera's USB device.
struct DeviceResetTests {
    private static let webcam = [
        "sys/bus/usb/devices/1-1.4/busnum": "1\n", "sys/bus/usb/devices/1-1.4/devnum": "14\n",
        "sys/bus/usb/devices/1-1.4:1.0/bInterfaceClass": "0e\n",
        "sys/bus/usb/devices/1-1.4:1.2/bInterfaceClass": "01\n",
        // The port next to it, and a disk.
        "sys/bus/usb/devices/1-1.40:1.0/bInterfaceClass": "0e\n",
        "sys/bus/usb/devices/1-2/busnum": "1\n", "sys/bus/usb/devices/1-2/devnum": "3\n",
        "sys/bus/usb/devices/1-2:1.0/bInterfaceClass": "08\n",
    ]

    private func reset(_ port: String) async throws -> (outcome: String?, calls: [String]) {
        let tree = try FixtureTree(Self.webcam)
        let units = StandInUnits()
        let steps = RecoverySteps(units: units, paths: tree.paths)
        let outcome = await steps.take(.resetDevice(camera: "front", port: port, why: "no frames"))
        return (outcome, units.calls)
    }

    @Test func `a port becomes the bus and the device that are there now`() async throws {
        let (outcome, calls) = try await reset("1-1.4")
        #expect(outcome == nil)
        #expect(calls.last == "start watchbox-usb-reset@001-014.service")
    }

    @Test(arguments: ["1-2", "1-3", "1-1", "1-1.40"])
    func `what is not there, or gives no frames, is left alone`(port: String) async throws {
        let (outcome, calls) = try await reset(port)
        #expect(outcome == "skipped: no camera is at USB port \(port)")
        #expect(calls == [])
    }
}
