internal import CV4L2
internal import Platform

/// An open camera. For one thread at a time; the frames that it gives may go to others.
///
/// `init` → `negotiate` → `start` → `nextFrame` again and again → `stop`; after an error, what its `remedy` says.
public final class CaptureDevice {
    public let node: CaptureNode
    /// What was negotiated last.
    public internal(set) var setup: CaptureSetup?
    public internal(set) var counters = CaptureCounters()
    /// What was noticed since the stream was started.
    public internal(set) var events: CaptureEvents = []

    let calls: any DeviceCalls
    let path: String
    let isMultiplanar: Bool
    let h264ExtensionUnit: H264ExtensionUnit?
    private(set) var descriptor: Int32
    var pool: BufferPool?
    var sequences = SequenceCounter()

    /// Opens the device and asks it what it is.
    ///
    /// - Parameter root: in front of `/sys` and `/dev`; empty for the machine itself.
    /// - Throws: `notThere`, `notPermitted`, `busy`, `notACamera`, `refused`.
    public init(path: String, calls: any DeviceCalls = MachineCalls(), root: String = "") throws(CaptureError) {
        let (node, descriptor) = try CaptureNodes.open(path, root: root, calls: calls)
        do throws(CaptureError) {
            if case .rejected(let rejection) = node.verdict { throw .notACamera(path: path, rejection) }
            do throws(CallFailure) {
                isMultiplanar = try Capability(calls, descriptor).isMultiplanar
            } catch {
                throw .call("VIDIOC_QUERYCAP", error, path: path)
            }
            if node.isCSI, isMultiplanar { throw .badAnswer("The helper says that its frames lie in several planes.") }
        } catch {
            calls.close(descriptor)
            throw error
        }
        self.node = node
        h264ExtensionUnit = CaptureNodes.h264ExtensionUnit(of: node, root: root)
        self.descriptor = descriptor
        self.calls = calls
        self.path = path
    }

    deinit {
        close()
    }

    /// Stops, and gives the device up. Frames that are still out keep their memory, and with it the kernel's device,
    /// until they end.
    public func close() {
        stop()
        if descriptor >= 0 { calls.close(descriptor) }
        descriptor = -1
    }

    public var isStreaming: Bool { pool != nil }

    /// Formats, sizes and rates as the driver lists them.
    public func modes() throws(CaptureError) -> [CaptureMode] {
        try checkOpen()
        var listing = ModeListing(calls, descriptor, isMultiplanar: isMultiplanar)
        do throws(CallFailure) {
            return try listing.modes()
        } catch {
            throw .call("VIDIOC_ENUM_FMT", error, path: path)
        }
    }

    /// What can be set, with its current values.
    ///
    /// - Parameter time: nanoseconds that it may take.
    /// - Throws: `disconnected`, `helper`; `refused` with ETIMEDOUT when the time is over.
    public func controls(within time: UInt64 = CaptureDevice.maxControlsTime) throws(CaptureError) -> [CaptureControl] {
        try checkOpen()
        do throws(CallFailure) {
            return try ControlListing(calls: calls, descriptor: descriptor).controls(until: Clocks.monotonic &+ time)
        } catch {
            throw .call("VIDIOC_QUERY_EXT_CTRL", error, path: path)
        }
    }

    /// Nanoseconds: a camera at USB may take five seconds over one answer.
    public static let maxControlsTime: UInt64 = 30_000_000_000

    /// - Throws: `noSuchControl` with the names that are most like it, `controlRange`, `controlNotSettable`, `refused`.
    public func setControl(_ name: String, to value: Int) throws(CaptureError) {
        try checkOpen()
        let listing = ControlListing(calls: calls, descriptor: descriptor)
        let all = try controls()
        guard let control = all.first(where: { $0.name == name }) else {
            throw .noSuchControl(name: name, nearest: NearestNames.of(name, among: all.map(\.name)))
        }
        try control.check(value)
        do throws(CallFailure) {
            try listing.set(control, to: value)
        } catch {
            let isForbidden = error.errno == EACCES || error.errno == EBUSY
            if isForbidden || (control.isInactive && error.errno == EINVAL) {
                throw .controlNotSettable(name: name, reason: "Another control rules it now, or the stream uses it.")
            }
            throw .call("VIDIOC_S_CTRL", error, path: path)
        }
    }

    /// Picks format, size and rate (`CaptureChoice`), and agrees on them with the driver. Stops a stream first.
    ///
    /// - Throws: `noSuchFormat` when none of what the driver offers will do; `noSignal`, `busy`, `disconnected`,
    ///   `badAnswer`, `refused`.
    public func negotiate(_ request: CaptureRequest) throws(CaptureError) -> CaptureSetup {
        try checkOpen()
        let sides = 1...ModeListing.maxSide
        guard sides.contains(request.width), sides.contains(request.height), request.rate.isFinite,
            request.rate >= Fraction.lowestRate.value
        else { throw .noSuchFormat(requested: request.text, offered: "sizes up to 16384x16384 and rates from 0.1") }
        stop()
        setup = nil
        try followSignal()
        // Nothing that has to be decoded comes from a helper: that would be done in this process (docs/design/0013).
        let modes = try modes().filter { !node.isCSI || FrameLayout($0.pixelFormat) != nil }
        let choice = CaptureChoice(request: request, rawBytesPerSecond: node.rawBytesPerSecond)
        let negotiation = FormatNegotiation(
            calls: calls, descriptor: descriptor, path: path, isMultiplanar: isMultiplanar,
            lineAlignment: min(max(1, request.lineAlignment), 4096))
        var wrongAnswer: CaptureError?
        for candidate in choice.candidates(modes) {
            do throws(CaptureError) {
                if let agreed = try negotiation.attempt(candidate) {
                    setup = agreed
                    return agreed
                }
            } catch {
                // One format with wrong numbers says nothing about the next.
                guard case .badAnswer = error else { throw error }
                if wrongAnswer == nil { wrongAnswer = error }
            }
        }
        if let wrongAnswer { throw wrongAnswer }
        let offered = modes.prefix(16).map(\.text).joined(separator: "; ")
        throw .noSuchFormat(requested: request.text, offered: offered)
    }

    /// A bridge delivers what its sender sends, once it is asked to.
    private func followSignal() throws(CaptureError) {
        var timings = v4l2_dv_timings()
        do throws(CallFailure) {
            try calls.perform(descriptor, watchbox_VIDIOC_QUERY_DV_TIMINGS, &timings)
            try calls.perform(descriptor, watchbox_VIDIOC_S_DV_TIMINGS, &timings)
        } catch {
            // Cameras have no such call; ENOLINK and ENOLCK are an input without a signal.
            guard error.errno == ENOLINK || error.errno == ENOLCK else { return }
            // A sender that knows of no size sends none.
            if EDID.giveIfMissing(calls, descriptor) { events.insert(.edidGiven) }
            throw .noSignal(path: path)
        }
    }

    func checkOpen() throws(CaptureError) {
        guard descriptor >= 0 else { throw .disconnected }
    }
}

extension CaptureControl {
    fileprivate func check(_ value: Int) throws(CaptureError) {
        if kind == .other { throw .controlNotSettable(name: name, reason: "It is not a number.") }
        if isReadOnly { throw .controlNotSettable(name: name, reason: "It only shows something.") }
        if kind == .button { return }
        if !menu.isEmpty {
            guard menu[value] == nil else { return }
            let items = menu.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value))" }
            throw .controlRange(name: name, value: value, allowed: items.joined(separator: ", "))
        }
        guard minimum > maximum || (minimum...maximum).contains(value) else {
            throw .controlRange(name: name, value: value, allowed: "\(minimum) to \(maximum)")
        }
    }
}
