internal import CV4L2
internal import Platform

/// Cameras at a ribbon cable (CSI), which libcamera makes out of a sensor, a receiver and an image processor.
///
/// A name is `csi:` and libcamera's identifier, which says connector and sensor and stays: `csi:/base/soc/i2c0mux/i2c@1/imx708@1a`. `csi:`
/// alone is the only one of a machine.
public enum CSICameras {
    public static let scheme = "csi:"
    /// A machine with more has something other than cameras.
    private static let maxCount: UInt32 = 32

    public static func isName(_ path: String) -> Bool { path.hasPrefix(scheme) }

    /// All of this machine; those that another program uses as well, as far as libcamera lists them.
    ///
    /// - Throws: `noHelper`, `helper`.
    public static func find(calls: any DeviceCalls = MachineCalls()) throws(CaptureError) -> [CaptureNode] {
        let descriptor = try start(scheme, calls)
        defer { calls.close(descriptor) }
        return try list(scheme, calls, descriptor)
    }

    /// The camera of that name, taken for this process. The descriptor is the caller's.
    ///
    /// - Throws: `noHelper`, `helper`, `notThere`, `severalCameras`, `busy`.
    static func open(
        _ path: String, calls: any DeviceCalls
    ) throws(CaptureError) -> (node: CaptureNode, descriptor: Int32) {
        let descriptor = try start(path, calls)
        do throws(CaptureError) {
            let nodes = try list(path, calls, descriptor)
            if path == scheme, nodes.count > 1 { throw .severalCameras(names: nodes.map(\.device)) }
            let node = path == scheme ? nodes.first : nodes.first { $0.device == path }
            // Also one that is not listed: some are not while another program has them, and it is said which has.
            try take(node?.bus ?? String(path.dropFirst(scheme.count)), node?.device ?? path, calls, descriptor)
            guard let node else { throw .notThere(path: path) }
            return (node, descriptor)
        } catch {
            calls.close(descriptor)
            throw error
        }
    }

    private static func start(_ path: String, _ calls: any DeviceCalls) throws(CaptureError) -> Int32 {
        do throws(CallFailure) {
            return try calls.open(path)
        } catch {
            switch error.errno {
            case ELIBACC: throw .noHelper(path: path)
            case ELIBBAD: throw .otherHelper(path: path)
            default: throw .opening(path, error)
            }
        }
    }

    private static func list(
        _ path: String, _ calls: any DeviceCalls, _ descriptor: Int32
    ) throws(CaptureError) -> [CaptureNode] {
        var nodes: [CaptureNode] = []
        for index in 0..<maxCount {
            var camera = watchbox_libcamera_camera()
            camera.index = index
            do throws(CallFailure) {
                try calls.perform(descriptor, watchbox_WATCHBOX_LIBCAMERA_CAMERA, &camera)
            } catch {
                if error.errno == EINVAL { break }
                throw .call("the list of cameras", error, path: path)
            }
            let identifier = withUnsafeBytes(of: &camera.id) { Sysfs.text($0) }
            let model = withUnsafeBytes(of: &camera.model) { Sysfs.text($0) }
            guard !identifier.isEmpty else { throw .badAnswer("libcamera lists a camera without a name.") }
            nodes.append(
                CaptureNode(
                    device: scheme + identifier, card: model.isEmpty ? identifier : model, driver: "libcamera",
                    bus: identifier, subsystem: "csi", stableID: scheme + identifier))
        }
        return nodes
    }

    private static func take(
        _ identifier: String, _ path: String, _ calls: any DeviceCalls, _ descriptor: Int32
    ) throws(CaptureError) {
        var request = watchbox_libcamera_open()
        withUnsafeMutableBytes(of: &request.id) { $0.copyBytes(from: Array(identifier.utf8).prefix($0.count - 1)) }
        do throws(CallFailure) {
            try calls.perform(descriptor, watchbox_WATCHBOX_LIBCAMERA_OPEN, &request)
        } catch {
            switch error.errno {
            case EBUSY: throw .busy(path: path, holder: holder(request.holder))
            case ENODEV where error.reason == nil: throw .notThere(path: path)
            default: throw .call("taking the camera", error, path: path)
            }
        }
    }

    /// "Process 812 (rpicam-vid)"; without its name where this process may not see that.
    private static func holder(_ process: Int32) -> String? {
        guard process > 0 else { return nil }
        guard let name = Sysfs.line("/proc/\(process)/comm") else { return "Process \(process)" }
        // The kernel keeps 15 bytes of a name.
        return "Process \(process) (\(name.hasPrefix("watchbox-libcam") ? "a camera of this box" : name))"
    }
}
