import CV4L2
import ScriptedDevice
import Testing

@testable import VideoCapture

struct ControlTests {
    private func script(_ script: inout ScriptedDevice.Script) {
        script.controls = [
            .init(id: 0x0098_0001, name: "User Controls", type: V4L2_CTRL_TYPE_CTRL_CLASS),
            .init(id: 0x0098_0900, name: "Brightness", value: 100),
            .init(
                id: 0x0098_0918, name: "Power Line Frequency", type: V4L2_CTRL_TYPE_MENU, maximum: 3, value: 1,
                items: [0: "Disabled", 1: "50 Hz", 3: "Auto"]),
            .init(
                id: 0x0098_090C, name: "White Balance, Automatic", type: V4L2_CTRL_TYPE_BOOLEAN, maximum: 1, value: 1),
            .init(id: 0x009A_0902, name: "Exposure Time, Absolute", maximum: 2047, flags: V4L2_CTRL_FLAG_INACTIVE),
            .init(id: 0x009A_0910, name: "Firmware", flags: V4L2_CTRL_FLAG_READ_ONLY),
            .init(id: 0x009A_0920, name: "Label", type: V4L2_CTRL_TYPE_STRING),
            .init(id: 0x009A_0930, name: "Hidden", flags: V4L2_CTRL_FLAG_DISABLED),
            .init(id: 0x009A_0940, name: "Auto Focus, Start", type: V4L2_CTRL_TYPE_BUTTON, maximum: 0),
            .init(id: 0x009A_0950, name: "Brightness", value: 7),
        ]
    }

    @Test func `controls have v4l2-ctl's names, their ranges, values and menus`() throws {
        let device = try CaptureDevice(path: "/dev/video0", calls: ScriptedDevice(script))
        let controls = try device.controls()
        #expect(
            controls.map(\.name) == [
                "brightness", "white_balance_automatic", "power_line_frequency", "exposure_time_absolute", "firmware",
                "label", "auto_focus_start", "brightness_2",
            ])
        #expect(controls[0].value == 100 && controls[0].maximum == 255 && controls[0].default == 128)
        #expect(controls[1].kind == .boolean && controls[1].value == 1)
        #expect(controls[2].menu == [0: "Disabled", 1: "50 Hz", 3: "Auto"])
        #expect(controls[3].isInactive && controls[4].isReadOnly && controls[5].kind == .other)
        #expect(controls[5].value == nil && controls[6].kind == .button && controls[6].value == nil)
    }

    @Test func `the older request is used where the driver has no newer one`() throws {
        let device = try CaptureDevice(
            path: "/dev/video0",
            calls: ScriptedDevice { script in
                self.script(&script)
                script.answers[watchbox_VIDIOC_QUERY_EXT_CTRL] = { _, _ in ENOTTY }
            })
        #expect(try device.controls().count == 8)
        #expect(try device.controls().first?.value == 100)
    }

    @Test func `a value is set by name`() throws {
        let device = try CaptureDevice(path: "/dev/video0", calls: ScriptedDevice(script))
        try device.setControl("brightness", to: 200)
        try device.setControl("power_line_frequency", to: 3)
        try device.setControl("auto_focus_start", to: 1)
        #expect(try device.controls().first?.value == 200)
        #expect(try device.controls().first { $0.name == "power_line_frequency" }?.value == 3)
    }

    @Test(arguments: [
        (
            "brightnes", 1,
            CaptureError.noSuchControl(name: "brightnes", nearest: ["brightness", "brightness_2", "firmware"])
        ),
        ("balance", 1, .noSuchControl(name: "balance", nearest: ["white_balance_automatic", "label", "firmware"])),
        ("brightness", 256, .controlRange(name: "brightness", value: 256, allowed: "0 to 255")),
        ("brightness", .min, .controlRange(name: "brightness", value: .min, allowed: "0 to 255")),
        (
            "power_line_frequency", 2,
            .controlRange(name: "power_line_frequency", value: 2, allowed: "0 (Disabled), 1 (50 Hz), 3 (Auto)")
        ),
        ("firmware", 1, .controlNotSettable(name: "firmware", reason: "It only shows something.")),
        ("label", 1, .controlNotSettable(name: "label", reason: "It is not a number.")),
    ])
    func `what cannot be set is refused with what can`(name: String, value: Int, error: CaptureError) throws {
        let scripted = ScriptedDevice(script)
        let device = try CaptureDevice(path: "/dev/video0", calls: scripted)
        #expect(throws: error) { try device.setControl(name, to: value) }
        #expect(error.remedy == .person)
        #expect(scripted.calls(of: watchbox_VIDIOC_S_CTRL) == 0)
    }

    @Test func `the driver's own refusal is reported`() throws {
        let scripted = ScriptedDevice { script in
            self.script(&script)
            script.answers[watchbox_VIDIOC_S_CTRL] = { count, _ in [EACCES, EINVAL, EIO, ENODEV][count - 1] }
        }
        let device = try CaptureDevice(path: "/dev/video0", calls: scripted)
        let ruled = "Another control rules it now, or the stream uses it."
        #expect(throws: CaptureError.controlNotSettable(name: "brightness", reason: ruled)) {
            try device.setControl("brightness", to: 1)
        }
        #expect(throws: CaptureError.controlNotSettable(name: "exposure_time_absolute", reason: ruled)) {
            try device.setControl("exposure_time_absolute", to: 1)
        }
        #expect(throws: CaptureError.refused(call: "VIDIOC_S_CTRL", errno: EIO)) {
            try device.setControl("brightness", to: 1)
        }
        #expect(throws: CaptureError.disconnected) { try device.setControl("brightness", to: 1) }
    }

    @Test func `a driver that lists for ever, or in circles, is heard for a while`() throws {
        let endless = ScriptedDevice { script in
            script.answers[watchbox_VIDIOC_QUERY_EXT_CTRL] = { count, argument in
                let answer = argument.assumingMemoryBound(to: v4l2_query_ext_ctrl.self)
                answer.pointee.id = UInt32(count)
                answer.pointee.type = V4L2_CTRL_TYPE_MENU.rawValue
                answer.pointee.minimum = .min
                answer.pointee.maximum = .max
                answer.pointee.step = .max
                return 0
            }
            script.answers[watchbox_VIDIOC_QUERYMENU] = { _, _ in 0 }
        }
        let controls = try CaptureDevice(path: "/dev/video0", calls: endless).controls()
        #expect(controls.count == 512 && Set(controls.map(\.name)).count == 512)
        #expect(controls[0].menu.count == 256)
        let circle = ScriptedDevice { script in
            script.answers[watchbox_VIDIOC_QUERY_EXT_CTRL] = { _, argument in
                argument.assumingMemoryBound(to: v4l2_query_ext_ctrl.self).pointee.id = 5
                return 0
            }
        }
        #expect(try CaptureDevice(path: "/dev/video0", calls: circle).controls().count == 1)
    }
}
