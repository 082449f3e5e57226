import CameraModel
import DeviceSource
import Dispatch
import ErrorCatalog
import Glibc
import Logging
import Media
import ScriptedDevice
import Synchronization
import VideoCapture
import VideoCodec

/// A camera out of a script, a source that runs on it, and everything that comes out.
final class CameraStage: Sendable {
    static let path = "/dev/video0"

    struct Output {
        var events: [MediaEvent] = []
        var failure: MediaSourceError?
        var hasEnded = false

        var units: [AccessUnit] {
            events.compactMap { if case .accessUnit(let unit) = $0, unit.track.isVideo { unit } else { nil } }
        }
        var audioUnits: [AccessUnit] {
            events.compactMap { if case .accessUnit(let unit) = $0, !unit.track.isVideo { unit } else { nil } }
        }
        var formats: [VideoFormat] {
            events.compactMap { if case .videoFormat(let format) = $0 { format } else { nil } }
        }
    }

    let machine: ScriptedMachine
    let camera: ScriptedDevice
    let source: DeviceSource
    private let output = Mutex(Output())
    private let ended = DispatchSemaphore(value: 0)
    private let sequence = Atomic<UInt32>(0)

    init(
        isPlugged: Bool = true, encoders: EncoderMachine = EncoderMachine(),
        calls: (ScriptedDevice) -> (any DeviceCalls)? = { _ in nil },
        _ script: @escaping (inout ScriptedDevice.Script) -> Void = { _ in },
        _ settings: (inout CameraConfiguration.Device) -> Void = { _ in }
    ) throws {
        machine = try ScriptedMachine()
        camera = ScriptedDevice { target in
            target.formats = [
                .init(fourCC: .yu12, sizes: [.init(width: 320, height: 240)], rates: [30])
            ]
            script(&target)
        }
        var device = CameraConfiguration.Device(
            path: Self.path, width: 320, height: 240, bitrate: 500_000, encoder: .libx264)
        settings(&device)
        source = DeviceSource(
            device, camera: "yard", durationLimit: nil,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, calls: calls(camera) ?? machine,
            root: machine.root,
            machine: encoders, mustEnd: { _ in })
        if isPlugged { try plug() }
    }

    func plug(_ other: ScriptedDevice? = nil, as number: Int = 0) throws {
        try machine.add(number, "Scripted Camera", other ?? camera)
    }

    func start() {
        DispatchQueue(label: "source").async {
            do throws(MediaSourceError) {
                try self.source.run { event in self.output.withLock { $0.events.append(event) } }
            } catch {
                self.output.withLock { $0.failure = error }
            }
            self.output.withLock { $0.hasEnded = true }
            self.ended.signal()
        }
    }

    func stop() {
        source.stop()
        ended.wait()
    }

    var seen: Output { output.withLock { $0 } }

    /// A frame of this moment.
    ///
    /// - Parameter missing: frames before it that the driver counted and lost.
    @discardableResult
    func show(
        fill: UInt8 = 100, content: [UInt8]? = nil, flags: Int32 = 0, missing: UInt32 = 0,
        on device: ScriptedDevice? = nil
    ) -> Bool {
        let number = sequence.load(ordering: .relaxed) + missing
        var frame = ScriptedDevice.Frame(sequence: number, timestamp: Self.now)
        frame.flags = UInt32(bitPattern: flags)
        frame.fill = fill
        frame.content = content
        frame.bytesUsed = content?.count
        guard (device ?? camera).deliver(frame) else { return false }
        sequence.store(number + 1, ordering: .relaxed)
        return true
    }

    /// Shows frames one by one, each when the one before has come out, until `count` more have.
    func publish(_ count: Int, fill: UInt8 = 100) throws {
        for _ in 0..<count {
            let before = seen.units.count
            try wait("a buffer") { self.show(fill: fill) }
            try wait("a frame") { self.seen.units.count > before }
        }
    }

    struct Nothing: Error, CustomStringConvertible {
        var description: String
    }

    /// Until `condition` holds; the limit is for what hangs.
    func wait(_ what: String, _ condition: () -> Bool) throws {
        let limit = Self.now + 120_000_000_000
        while !condition() {
            guard Self.now < limit else {
                let capture = source.capture
                throw Nothing(description: "\(what) did not come: \(capture.state) \(capture.reason ?? "")")
            }
            usleep(1000)
        }
    }

    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
