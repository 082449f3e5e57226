internal import CV4L2
internal import Platform

/// The controls of an open device.
struct ControlListing {
    /// A driver that lists more says the same for ever.
    private static let maxCount = 512
    private static let maxItems = 256

    let calls: any DeviceCalls
    let descriptor: Int32

    /// What the driver lists; as much as it says before it refuses.
    ///
    /// - Parameter deadline: CLOCK_MONOTONIC, nanoseconds.
    /// - Throws: ENODEV, ENXIO, or why a helper is of no use any more: then nothing of the list is true. ETIMEDOUT at the deadline.
    func controls(until deadline: UInt64) throws(CallFailure) -> [CaptureControl] {
        var list: [CaptureControl] = []
        var id: UInt32 = 0
        for _ in 0..<Self.maxCount {
            let answer = try query(after: id)
            guard Clocks.monotonic < deadline else { throw CallFailure(errno: ETIMEDOUT) }
            // A list in ascending order is V4L2's promise; without it there would be no end.
            guard let answer, answer.id > id else { break }
            id = answer.id
            if let control = control(answer, taken: Set(list.map(\.name)), until: deadline) { list.append(control) }
        }
        return list
    }

    func set(_ control: CaptureControl, to value: Int) throws(CallFailure) {
        if control.minimum < Int32.min || control.maximum > Int32.max {
            var item = v4l2_ext_control()
            item.id = control.id
            item.value64 = Int64(value)
            try extended(watchbox_VIDIOC_S_EXT_CTRLS, &item)
        } else {
            var item = v4l2_control(id: control.id, value: Int32(truncatingIfNeeded: value))
            try calls.perform(descriptor, watchbox_VIDIOC_S_CTRL, &item)
        }
    }

    private struct Answer {
        var id: UInt32
        var type: UInt32
        var name: String
        var minimum: Int
        var maximum: Int
        var step: Int
        var defaultValue: Int
        var flags: UInt32
    }

    /// Drivers without the newer request are asked with the older one. Nil at the end of the list, which some drivers say in their own way.
    private func query(after id: UInt32) throws(CallFailure) -> Answer? {
        var newer = v4l2_query_ext_ctrl()
        newer.id = id | UInt32(V4L2_CTRL_FLAG_NEXT_CTRL)
        do throws(CallFailure) {
            try calls.perform(descriptor, watchbox_VIDIOC_QUERY_EXT_CTRL, &newer)
            return Answer(
                id: newer.id, type: newer.type, name: withUnsafeBytes(of: &newer.name) { Sysfs.text($0) },
                minimum: Int(newer.minimum), maximum: Int(newer.maximum), step: Int(clamping: newer.step),
                defaultValue: Int(newer.default_value), flags: newer.flags)
        } catch {
            if Self.isGone(error) { throw error }
            guard error.errno == ENOTTY else { return nil }
        }
        var older = v4l2_queryctrl()
        older.id = id | UInt32(V4L2_CTRL_FLAG_NEXT_CTRL)
        do throws(CallFailure) {
            try calls.perform(descriptor, watchbox_VIDIOC_QUERYCTRL, &older)
        } catch {
            if Self.isGone(error) { throw error }
            return nil
        }
        return Answer(
            id: older.id, type: older.type, name: withUnsafeBytes(of: &older.name) { Sysfs.text($0) },
            minimum: Int(older.minimum), maximum: Int(older.maximum), step: Int(older.step),
            defaultValue: Int(older.default_value), flags: older.flags)
    }

    private static func isGone(_ failure: CallFailure) -> Bool {
        failure.reason != nil || failure.errno == ENODEV || failure.errno == ENXIO
    }

    private func control(_ answer: Answer, taken: Set<String>, until deadline: UInt64) -> CaptureControl? {
        let isClass = answer.type == V4L2_CTRL_TYPE_CTRL_CLASS.rawValue
        if isClass || answer.flags & UInt32(V4L2_CTRL_FLAG_DISABLED) != 0 { return nil }
        var name = Self.name(answer.name)
        if name.isEmpty { name = "control" }
        if taken.contains(name) {
            let other = (2...Self.maxCount + 2).first { !taken.contains("\(name)_\($0)") }
            name += "_\(other ?? 0)"
        }
        let kind = Self.kind(answer.type)
        let isReadable = answer.flags & UInt32(V4L2_CTRL_FLAG_WRITE_ONLY) == 0 && kind != .button && kind != .other
        var control = CaptureControl(
            name: name, id: answer.id, kind: kind, minimum: answer.minimum, maximum: answer.maximum,
            step: max(1, answer.step), default: answer.defaultValue, value: nil,
            isReadOnly: answer.flags & UInt32(V4L2_CTRL_FLAG_READ_ONLY) != 0,
            isInactive: answer.flags & UInt32(V4L2_CTRL_FLAG_INACTIVE) != 0)
        if kind == .menu || kind == .integerMenu { control.menu = menu(control, until: deadline) }
        if isReadable { control.value = value(control, type: answer.type) }
        return control
    }

    private func value(_ control: CaptureControl, type: UInt32) -> Int? {
        if type == V4L2_CTRL_TYPE_INTEGER64.rawValue {
            var item = v4l2_ext_control()
            item.id = control.id
            guard (try? extended(watchbox_VIDIOC_G_EXT_CTRLS, &item)) != nil else { return nil }
            return Int(item.value64)
        }
        var item = v4l2_control(id: control.id, value: 0)
        guard (try? calls.perform(descriptor, watchbox_VIDIOC_G_CTRL, &item)) != nil else { return nil }
        // A bitmask is 32 bits without a sign.
        return control.kind == .bitmask ? Int(UInt32(bitPattern: item.value)) : Int(item.value)
    }

    private func extended(_ request: UInt, _ item: inout v4l2_ext_control) throws(CallFailure) {
        try withUnsafeMutablePointer(to: &item) { (pointer) throws(CallFailure) in
            var list = v4l2_ext_controls()
            list.which = UInt32(V4L2_CTRL_WHICH_CUR_VAL)
            list.count = 1
            list.controls = pointer
            try calls.perform(descriptor, request, &list)
        }
    }

    private func menu(_ control: CaptureControl, until deadline: UInt64) -> [Int: String] {
        let first = min(max(0, control.minimum), Int(Int32.max))
        let last = min(control.maximum, first + Self.maxItems - 1, Int(Int32.max))
        guard first <= last else { return [:] }
        var items: [Int: String] = [:]
        for index in first...last where Clocks.monotonic < deadline {
            var answer = v4l2_querymenu()
            answer.id = control.id
            answer.index = UInt32(index)
            // Items that a device lacks are left out of the middle.
            guard (try? calls.perform(descriptor, watchbox_VIDIOC_QUERYMENU, &answer)) != nil else { continue }
            items[index] =
                control.kind == .integerMenu
                ? "\(watchbox_querymenu_value(&answer))" : withUnsafeBytes(of: &answer.name) { Sysfs.text($0) }
        }
        return items
    }

    private static func kind(_ type: UInt32) -> CaptureControl.Kind {
        switch type {
        case V4L2_CTRL_TYPE_INTEGER.rawValue, V4L2_CTRL_TYPE_INTEGER64.rawValue: .integer
        case V4L2_CTRL_TYPE_BOOLEAN.rawValue: .boolean
        case V4L2_CTRL_TYPE_MENU.rawValue: .menu
        case V4L2_CTRL_TYPE_BUTTON.rawValue: .button
        case V4L2_CTRL_TYPE_INTEGER_MENU.rawValue: .integerMenu
        case V4L2_CTRL_TYPE_BITMASK.rawValue: .bitmask
        default: .other
        }
    }

    /// "White Balance, Automatic" → "white_balance_automatic".
    static func name(_ text: String) -> String {
        text.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.joined(separator: "_")
    }
}
