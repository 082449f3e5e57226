import VideoCapture

/// What `CaptureNodes` finds.
enum NodeReports {
    static func list(isOpening: Bool) {
        for node in CaptureNodes.find(isOpening: isOpening) { Report.line(.object(fields(node))) }
    }

    static func find(_ path: String) throws(CaptureError) {
        let node = try CaptureNodes.node(at: path)
        Report.line(.object(fields(node)))
        let again = CaptureNodes.find(identity: CaptureIdentity(node))
        Report.say("again", ["device": .optional(again?.device)])
    }

    static func encoders() {
        for node in CaptureNodes.encoders() {
            Report.line(
                .object([
                    "device": .text(node.device), "card": .text(node.card), "driver": .text(node.driver),
                    "codecs": .list(node.codecs.sorted().map { .text($0) }),
                ]))
        }
    }

    private static func fields(_ node: CaptureNode) -> [String: Report.Value] {
        var fields: [String: Report.Value] = [
            "device": .text(node.device), "card": .text(node.card), "driver": .text(node.driver),
            "bus": .text(node.bus), "index": .number(node.index), "stableID": .optional(node.stableID),
            "stablePath": .optional(node.stablePath), "serial": .optional(node.serial),
            "usbPort": .optional(node.usbPort),
        ]
        switch node.verdict {
        case .camera: fields["verdict"] = .text("camera")
        case .rejected(let rejection):
            fields["verdict"] = .text("\(rejection)")
            fields["reason"] = .text(rejection.reason)
        case .unknown(let reason):
            fields["verdict"] = .text("unknown")
            fields["reason"] = .text(reason)
        }
        return fields
    }
}

/// What one camera lists, and setting of controls.
enum DeviceReports {
    static func modes(_ path: String) throws(CaptureError) {
        for mode in try CaptureDevice(path: path).modes() {
            for extent in mode.extents {
                let rates: Report.Value
                switch extent.rates {
                case .discrete(let all): rates = .list(all.map { .real($0.value) })
                case .range(let low, let high): rates = .text("\(low.value) to \(high.value)")
                case .unknown: rates = .null
                }
                Report.line(
                    .object([
                        "format": .text("\(mode.pixelFormat)"), "name": .text(mode.name),
                        "size": .text(extent.sizes.text), "rates": rates,
                    ]))
            }
        }
    }

    static func controls(_ path: String) throws(CaptureError) {
        for control in try CaptureDevice(path: path).controls() {
            Report.line(
                .object([
                    "name": .text(control.name), "kind": .text(control.kind.rawValue),
                    "minimum": .number(control.minimum), "maximum": .number(control.maximum),
                    "step": .number(control.step), "default": .number(control.default),
                    "value": control.value.map { .number($0) } ?? .null,
                    "menu": .object(
                        Dictionary(uniqueKeysWithValues: control.menu.map { ("\($0.key)", .text($0.value)) })),
                    "isReadOnly": .bool(control.isReadOnly), "isInactive": .bool(control.isInactive),
                ]))
        }
    }

    static func set(_ path: String, _ settings: [String]) throws {
        let device = try CaptureDevice(path: path)
        for text in settings {
            let setting = try Arguments.setting(text)
            try device.setControl(setting.name, to: setting.value)
            let now = try device.controls().first { $0.name == setting.name }?.value
            Report.say("set", ["name": .text(setting.name), "value": now.map { .number($0) } ?? .null])
        }
    }
}
