internal import CameraModel
public import ControlAPI
internal import ControlClient
internal import Platform
internal import Systemd
internal import VideoCapture

extension BoardReport {
    /// A camera that was ready later than this after boot was started by hand.
    private static let startSeconds = 600.0
    private static let maxFormats = 12

    /// Reads the machine and asks the daemon; what cannot be had is left out.
    ///
    /// - Parameters:
    ///   - findings: of the doctor's checks.
    ///   - encoders: what this machine has to encode with.
    public static func collect(
        _ findings: DoctorReport, encoders: CameraEncodersDocument?, in environment: Environment
    ) async -> BoardReport {
        let read = await OwnThread.value { Self.read(environment) }
        var report = read ?? BoardReport(version: environment.version)
        report.checks = findings.findings.map { Check($0) }
        report.encoderDevices = (encoders?.nodes ?? []).map {
            .init(
                device: $0.device, card: ReportText.safe($0.card) ?? "", driver: ReportText.safe($0.driver) ?? "",
                codecs: $0.codecs)
        }
        report.encoders = (encoders?.libraries ?? []).map { library in
            var library = library
            library.reason = ReportText.safe(library.reason)
            return library
        }
        guard !environment.isOffline else { return report }
        if let status = try? await environment.client.get(BoxStatus.self, APIPath.status()) {
            report.streams = status.cameras.filter(\.isActive).map { Stream($0) }
        }
        if let units = try? await environment.units.units(matching: "watchbox-*") {
            func seconds(_ unit: UnitState) -> Double? {
                unit.activeSinceMonotonic.map { Double($0) / 1e6 }.flatMap { $0 < startSeconds ? $0 : nil }
            }
            report.start.controlReady = units.first { $0.name == "watchbox-control.service" }.flatMap(seconds)
            report.start.cameraReady = units.filter { $0.name.hasPrefix("watchbox-camera@") }.compactMap(seconds).min()
        }
        return report
    }

    /// Files, and the devices that are cameras; nothing is set.
    private static func read(_ environment: Environment) -> BoardReport {
        var report = BoardReport(version: environment.version)
        report.board = BoardDescription.board(environment)
        report.system = BoardDescription.system(environment)
        report.memory = BoardDescription.memory(environment)
        report.watchdog = BoardDescription.watchdog(environment)
        report.clock = BoardDescription.clock(environment)
        report.power = BoardDescription.power(environment)
        report.network = BoardDescription.network(environment)
        report.storage = DiskReadings.storage(environment)
        report.start.uptime = DiskReadings.uptime(environment).map { Int64($0) }
        report.cameras = CaptureNodes.find(root: environment.root).filter(\.isCamera).prefix(8).map {
            camera($0, environment)
        }
        return report
    }

    private static func camera(_ node: CaptureNode, _ environment: Environment) -> Camera {
        let document = VideoNodeDocument(asking: node, controls: false, root: environment.root)
        // The interface's directory has none; the device above it does.
        let name = node.device.split(separator: "/").last.map(String.init) ?? ""
        let device = environment.path("/sys/class/video4linux/\(name)/device/..")
        let maker = SmallFile.line("\(device)/idVendor")
        let model = SmallFile.line("\(device)/idProduct")
        var formats: [String] = []
        for format in document.formats {
            let text = "\(format.pixelFormat) \(format.size)"
            if !formats.contains(text) { formats.append(text) }
        }
        return Camera(
            driver: ReportText.safe(node.driver), bus: node.subsystem,
            model: maker.flatMap { maker in model.flatMap { ReportText.safe("\(maker):\($0)") } },
            formats: Array(formats.prefix(maxFormats)))
    }
}

extension BoardReport.Stream {
    /// Of its source only what is before the colon.
    init(_ camera: CameraDocument) {
        let source = camera.source.prefix { $0 != ":" }
        self.init(source: ReportText.safe(String(source)) ?? "unknown", state: camera.stream.state.rawValue)
        code = camera.stream.code
        guard let capture = camera.stream.statistics?.capture else { return }
        encoder = ReportText.safe(capture.encoder)
        isHardwareEncoder = capture.isHardwareEncoder
        width = capture.width
        height = capture.height
        rate = capture.rate
        encoderHangs = capture.encoderHangs
    }
}
