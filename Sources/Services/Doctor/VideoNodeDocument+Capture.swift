public import ControlAPI
public import VideoCapture

extension VideoNodeDocument {
    /// What a node is; without its formats, which only an open one reports.
    public init(_ node: CaptureNode) {
        let (kind, reason): (Kind, String?) =
            switch node.verdict {
            case .camera: (.camera, nil)
            case .unknown(let why): (.unknown, why)
            case .rejected(let rejection):
                switch rejection {
                case .codec, .imageProcessor: (.processor, rejection.reason)
                case .metadata: (.metadata, rejection.reason)
                default: (.unusable, rejection.reason)
                }
            }
        self.init(
            device: node.device, name: node.card, kind: kind, bus: node.subsystem, index: node.index,
            stableID: node.stableID, stablePath: node.stablePath, driver: node.driver.isEmpty ? nil : node.driver,
            serial: node.serial, usbPort: node.usbPort, reason: reason)
    }

    /// With what the camera delivers, and its controls if they are requested. Sets nothing and starts nothing, so that a
    /// camera that publishes goes on.
    ///
    /// - Parameter calls: the kernel, or a stand-in.
    public init(asking node: CaptureNode, controls: Bool, calls: any DeviceCalls = MachineCalls(), root: String = "") {
        self.init(node)
        guard node.isCamera else { return }
        do throws(CaptureError) {
            let device = try CaptureDevice(path: node.device, calls: calls, root: root)
            defer { device.close() }
            formats = Format.list(try device.modes())
            if controls { self.controls = try device.controls().map { VideoControlDocument($0) } }
        } catch {
            reason = "\(error.what). \(error.hint)"
        }
    }
}

extension VideoNodeDocument.Format {
    /// Of one camera; a driver that lists thousands is not believed.
    private static let maxCount = 1000

    static func list(_ modes: [CaptureMode]) -> [Self] {
        let all = modes.lazy.flatMap { mode in
            mode.extents.lazy.map { extent in
                Self(
                    pixelFormat: "\(mode.pixelFormat)", size: extent.sizes.text, rates: rates(extent.rates),
                    isUsable: !mode.pixelFormat.isBayer && mode.pixelFormat != .hevc)
            }
        }
        return Array(all.prefix(maxCount))
    }

    private static func rates(_ rates: CaptureMode.Rates) -> [Double] {
        let values: [Double] =
            switch rates {
            case .discrete(let rates): rates.map(\.value)
            case .range(let minimum, let maximum): [maximum.value, minimum.value]
            case .unknown: []
            }
        return values.filter(\.isFinite)
    }
}

extension VideoControlDocument {
    public init(_ control: CaptureControl) {
        self.init(
            name: control.name, kind: control.kind.rawValue, minimum: control.minimum, maximum: control.maximum,
            step: control.step, defaultValue: control.default, value: control.value,
            menu: Dictionary(control.menu.map { ("\($0.key)", $0.value) }, uniquingKeysWith: { first, _ in first }),
            isReadOnly: control.isReadOnly, isInactive: control.isInactive)
    }
}
