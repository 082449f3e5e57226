import Glibc
import VideoCapture

/// Takes frames from a camera, and with `--recover` goes on after its faults as a program that heals itself does.
final class CaptureRun {
    private let path: String
    private let request: CaptureRequest
    private let count: Int
    /// Frames count from when this file is there; nil: it is, or there never was one.
    private var mark: String?
    private let controls: [(name: String, value: Int)]
    private let output: UnsafeMutablePointer<FILE>?
    private let limit: Double
    /// With `--recover`: so many, and it ends.
    private let maxErrors: Int
    private let pause: Int
    private let isRecovering: Bool
    private let isExporting: Bool
    private let isHolding: Bool
    private let calls: any DeviceCalls

    private var device: CaptureDevice?
    private var identity: CaptureIdentity?
    private var frames = 0
    /// Of them behind the mark.
    private var counted = 0
    private var errors: [CaptureError] = []
    private var counters = CaptureCounters()
    private var held: (frame: DetachedFrame, bytes: [UInt8])?
    /// Of the attempts since the last frame, so that only the first one is reported.
    private var isWaiting = false

    init(_ arguments: inout Arguments) throws {
        var formats: FourCC?
        if let text = try arguments.option("--format") {
            guard let format = FourCC(text) else { throw UsageError("\(text) is not a pixel format") }
            formats = format
        }
        let rate = try arguments.number("--rate") ?? 15
        count = try arguments.count("--count") ?? 10
        mark = try arguments.option("--behind")
        controls = try arguments.options("--control").map(Arguments.setting)
        limit = try arguments.number("--limit") ?? 30
        maxErrors = try arguments.count("--errors") ?? Int.max
        pause = try arguments.count("--pause") ?? 0
        isRecovering = arguments.flag("--recover")
        isExporting = arguments.flag("--dmabuf")
        isHolding = arguments.flag("--hold")
        calls = arguments.flag("--pipeline-stage") ? PipelineStage() : MachineCalls()
        output = try arguments.option("--output").map { path in
            guard let file = fopen(path, "w") else { throw UsageError("\(path) cannot be written") }
            return file
        }
        path = try arguments.next("a path")
        let size = try Arguments.size(try arguments.next("a size"))
        try arguments.end()
        request = CaptureRequest(width: size.width, height: size.height, rate: rate, pixelFormat: formats)
    }

    func run() throws {
        let begin = monotonicNanoseconds()
        defer { finish() }
        while counted < count, errors.count < maxErrors {
            guard Double(monotonicNanoseconds() - begin) / 1e9 < limit else {
                Report.say("limit")
                return
            }
            do throws(CaptureError) {
                try take()
            } catch {
                if !isWaiting { Report.say(error) }
                errors.append(error)
                guard isRecovering, error.remedy != .person else { throw error }
                isWaiting = true
                close()
                usleep(50_000)
            }
        }
    }

    /// Counts of all openings of the device.
    private func close() {
        if let device {
            device.stop()
            counters.captured += device.counters.captured
            counters.superseded += device.counters.superseded
            counters.lost += device.counters.lost
            counters.damaged += device.counters.damaged
        }
        device = nil
    }

    private func open() throws(CaptureError) -> CaptureDevice {
        if let device { return device }
        let known = identity.flatMap { CaptureNodes.find(identity: $0)?.device }
        let device = try CaptureDevice(path: known ?? path, calls: calls)
        for control in controls { try device.setControl(control.name, to: control.value) }
        let setup = try device.negotiate(request)
        try device.start()
        identity = CaptureIdentity(device.node)
        self.device = device
        Report.say(
            "setup",
            [
                "device": .text(device.node.device), "format": .text("\(setup.pixelFormat)"),
                "width": .number(setup.width), "height": .number(setup.height),
                "bytesPerLine": .number(setup.bytesPerLine), "imageBytes": .number(setup.imageBytes),
                "rate": .real(setup.rate), "isFullRange": .bool(setup.isFullRange),
                "colorSpace": .text(setup.colorSpace.rawValue), "isMultiplanar": .bool(setup.isMultiplanar),
            ])
        return device
    }

    private func take() throws(CaptureError) {
        let device = try open()
        if let mark, access(mark, F_OK) == 0 { self.mark = nil }
        guard let frame = try device.nextFrame(milliseconds: 2000) else {
            Report.say("nothing")
            return
        }
        isWaiting = false
        frames += 1
        if mark == nil { counted += 1 }
        Report.say(
            "picture",
            [
                "sequence": .number(Int(frame.sequence)), "timestamp": .number(frame.timestamp),
                "received": .number(frame.received), "bytes": .number(frame.count),
                // Of this opening, with this frame.
                "captured": .number(device.counters.captured), "lost": .number(device.counters.lost),
            ])
        if isExporting, frames == 1 { try export(frame) }
        let detached = frame.detach()
        if let output { write(detached, to: output) }
        if isHolding, held == nil { held = (detached, Array(detached.bytes)) }
        if pause > 0 { usleep(UInt32(pause) * 1000) }
    }

    /// The rows as they are, without what fills up the lines.
    private func write(_ frame: DetachedFrame, to output: UnsafeMutablePointer<FILE>) {
        let setup = frame.setup
        let planes = frame.planes
        guard setup.pixelFormat == .yu12, planes.count == 3 else {
            fwrite(frame.bytes.baseAddress, 1, frame.count, output)
            return
        }
        for (index, plane) in planes.enumerated() {
            let (width, height) =
                index == 0 ? (setup.width, setup.height) : ((setup.width + 1) / 2, (setup.height + 1) / 2)
            for row in 0..<height { fwrite(plane.base + row * plane.stride, 1, width, output) }
        }
    }

    /// The exported descriptor must show the same bytes.
    private func export(_ frame: borrowing RawFrame) throws(CaptureError) {
        let descriptor = try frame.exportDMABUF()
        defer { Glibc.close(descriptor) }
        let count = frame.count
        let memory = mmap(nil, count, PROT_READ, MAP_SHARED, descriptor, 0)
        let isSame = frame.withBytes { bytes in
            guard let memory, memory != MAP_FAILED, let start = bytes.baseAddress else { return false }
            return memcmp(memory, start, count) == 0
        }
        if memory != MAP_FAILED { munmap(memory, count) }
        Report.say("dmabuf", ["bytes": .number(count), "isSame": .bool(isSame)])
    }

    private func finish() {
        close()
        if let held {
            Report.say("held", ["isSame": .bool(held.bytes.elementsEqual(held.frame.bytes))])
        }
        held = nil
        if let output { fclose(output) }
        Report.say(
            "end",
            [
                "pictures": .number(frames), "counted": .number(counted), "errors": .number(errors.count),
                "captured": .number(counters.captured), "superseded": .number(counters.superseded),
                "lost": .number(counters.lost), "damaged": .number(counters.damaged),
            ])
    }
}
