internal import CV4L2
internal import Platform

/// The video devices that this machine shows.
public enum CaptureNodes {
    private static let classDirectory = "/sys/class/video4linux"

    /// All nodes, by number. Asks sysfs, and each node what it can (VIDIOC_QUERYCAP, VIDIOC_ENUM_FMT): no format is set
    /// and no stream disturbed.
    ///
    /// - Parameters:
    ///   - root: in front of `/sys` and `/dev`; empty for the machine itself.
    ///   - isOpening: false asks sysfs alone; what a node is then depends on its driver's name and its index.
    public static func find(
        root: String = "", calls: any DeviceCalls = KernelCalls(), isOpening: Bool = true
    ) -> [CaptureNode] {
        let links = Links(root: root)
        let numbers = SmallFile.names(in: root + classDirectory).compactMap { name in
            name.hasPrefix("video") ? Int(name.dropFirst("video".count)) : nil
        }
        return numbers.sorted().map { number in
            var node = known("video\(number)", root: root, links: links)
            if isOpening { ask(&node, root: root, calls: calls) }
            return node
        }
    }

    /// What a configured path is now: symbolic links are followed.
    ///
    /// - Throws: `notThere`, `notPermitted`, `busy`, `notACamera(.notVideo)`. A node that is something other than a
    ///   camera is returned with its verdict.
    public static func node(
        at path: String, root: String = "", calls: any DeviceCalls = KernelCalls()
    ) throws(CaptureError) -> CaptureNode {
        let (node, descriptor) = try open(path, root: root, calls: calls)
        calls.close(descriptor)
        return node
    }

    /// The camera that was seen as `identity`, under whatever number it has now; nil when it is not there.
    public static func find(
        identity: CaptureIdentity, root: String = "", calls: any DeviceCalls = KernelCalls()
    ) -> CaptureNode? {
        identity.match(among: find(root: root, calls: calls))
    }

    /// Nodes that list H.264 or HEVC as what they give, and frames as what they take.
    public static func encoders(
        root: String = "", calls: any DeviceCalls = KernelCalls()
    ) -> [EncoderNode] {
        find(root: root, calls: calls, isOpening: false).compactMap { node in
            guard let descriptor = try? calls.open(root + node.device) else { return nil }
            defer { calls.close(descriptor) }
            guard let inspection = try? NodeInspection(calls, descriptor) else { return nil }
            let codecs = inspection.codecs()
            guard !codecs.isEmpty else { return nil }
            return EncoderNode(
                device: node.device, card: inspection.capability.card, driver: inspection.capability.driver,
                codecs: codecs)
        }
    }

    /// Opens a node and asks it what it is. The descriptor is the caller's.
    static func open(
        _ path: String, root: String, calls: any DeviceCalls
    ) throws(CaptureError) -> (node: CaptureNode, descriptor: Int32) {
        if CSICameras.isName(path) { return try CSICameras.open(path, calls: calls) }
        let name = Sysfs.lastPart(Sysfs.resolved(root + path) ?? path)
        var node = known(name, root: root, links: Links(root: root))
        let descriptor: Int32
        do throws(CallFailure) {
            descriptor = try calls.open(root + path)
        } catch {
            throw .opening(path, error)
        }
        do throws(CallFailure) {
            try ask(&node, calls, descriptor)
        } catch {
            calls.close(descriptor)
            // A file of another kind answers ENOTTY or EINVAL.
            if error.errno == ENOTTY || error.errno == EINVAL { throw .notACamera(path: path, .notVideo) }
            throw .call("VIDIOC_QUERYCAP", error, path: path)
        }
        return (node, descriptor)
    }

    /// What sysfs says.
    private static func known(_ name: String, root: String, links: Links) -> CaptureNode {
        let directory = "\(root)\(classDirectory)/\(name)"
        var node = CaptureNode(
            device: "/dev/\(name)", card: Sysfs.line("\(directory)/name") ?? name,
            driver: Sysfs.target(of: "\(directory)/device/driver") ?? "",
            index: SmallFile.number("\(directory)/index").map { Int($0) } ?? 0, stableID: links.byID[name],
            stablePath: links.byPath[name])
        node.subsystem =
            Sysfs.target(of: "\(directory)/device/subsystem")
            ?? (SmallFile.exists("\(directory)/device") ? "platform" : "virtual")
        node.bus = node.subsystem
        if node.subsystem == "usb", let interface = Sysfs.resolved("\(directory)/device") {
            // ".../1-1.4/1-1.4:1.0": the interface lies in the directory of its device.
            let parts = interface.split(separator: "/")
            node.usbPort = parts.last.flatMap { $0.split(separator: ":").first }.map(String.init)
            node.serial = Sysfs.line("\(directory)/device/../serial")
            node.usbMegabits = SmallFile.number("\(directory)/device/../speed").map { Int($0) }
        }
        node.verdict = verdictByName(node)
        return node
    }

    /// Nil for all but USB cameras that have one.
    static func h264ExtensionUnit(of node: CaptureNode, root: String) -> H264ExtensionUnit? {
        let interface = "\(root)\(classDirectory)/\(Sysfs.lastPart(node.device))/device"
        guard node.subsystem == "usb", let name = Sysfs.resolved(interface),
            // ".../1-1.4:1.0": configuration 1, interface 0.
            let number = name.split(separator: ".").last.flatMap({ Int($0) }),
            let descriptors = try? SmallFile.whole("\(interface)/../descriptors", limit: maxDescriptorsLength)
        else { return nil }
        return H264ExtensionUnit(descriptors: descriptors, interface: number)
    }

    /// A configuration of USB has 65 535 bytes at the most; some devices have several.
    private static let maxDescriptorsLength = 1 << 18

    private static func verdictByName(_ node: CaptureNode) -> CaptureNode.Verdict {
        // Where sysfs names no driver, those that matter begin their nodes' names with it; what is virtual has a name
        // that a person gave.
        let driver = node.driver.isEmpty && node.subsystem != "virtual" ? node.card : node.driver
        if node.subsystem != "usb", let rejection = NodeInspection.rejection(ofDriver: driver) {
            return .rejected(rejection)
        }
        // uvcvideo gives each camera a second node that only describes the frames of the first.
        let isFirst = node.stableID?.hasSuffix("-index0") ?? (node.index == 0)
        return isFirst ? .camera : .rejected(.metadata)
    }

    private static func ask(_ node: inout CaptureNode, root: String, calls: any DeviceCalls) {
        do throws(CallFailure) {
            let descriptor = try calls.open(root + node.device)
            defer { calls.close(descriptor) }
            try ask(&node, calls, descriptor)
        } catch {
            // What its name gives away stays true.
            guard node.isCamera else { return }
            node.verdict = .unknown(CaptureError.opening(node.device, error).reasonNotAsked)
        }
    }

    private static func ask(
        _ node: inout CaptureNode, _ calls: any DeviceCalls, _ descriptor: Int32
    ) throws(CallFailure) {
        let inspection = try NodeInspection(calls, descriptor)
        node.card = inspection.capability.card
        node.driver = inspection.capability.driver
        node.bus = inspection.capability.bus
        node.verdict = inspection.verdict(isUSB: node.subsystem == "usb")
    }

    /// What udev made of it: name of the device → the first link to it.
    private struct Links {
        let byID: [String: String]
        let byPath: [String: String]

        init(root: String) {
            byID = Self.read(root, "/dev/v4l/by-id")
            byPath = Self.read(root, "/dev/v4l/by-path")
        }

        private static func read(_ root: String, _ directory: String) -> [String: String] {
            var links: [String: String] = [:]
            for name in SmallFile.names(in: root + directory) {
                guard let target = Sysfs.target(of: "\(root)\(directory)/\(name)") else { continue }
                if links[target] == nil { links[target] = "\(directory)/\(name)" }
            }
            return links
        }
    }
}

extension CaptureError {
    /// For a node that is listed and could not be asked.
    fileprivate var reasonNotAsked: String { "\(what). \(why)" }
}
