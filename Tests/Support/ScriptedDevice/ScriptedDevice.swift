package import CV4L2
import Glibc
import Synchronization
package import VideoCapture

/// A video device made of what it answers: real memory behind a file, real readiness behind a pipe, and every answer
/// can be overruled. Behaves like a driver on videobuf2 where nothing else is said.
package final class ScriptedDevice: DeviceCalls {
    package struct Format {
        package var fourCC: FourCC
        package var sizes: [CaptureSize] = [CaptureSize(width: 640, height: 480)]
        /// Frames per second; empty: not listed.
        package var rates: [Int] = [30, 15]
        package var stepwise: (minimum: CaptureSize, maximum: CaptureSize, step: Int)?

        package init(
            fourCC: FourCC, sizes: [CaptureSize] = [CaptureSize(width: 640, height: 480)], rates: [Int] = [30, 15],
            stepwise: (minimum: CaptureSize, maximum: CaptureSize, step: Int)? = nil
        ) {
            self.fourCC = fourCC
            self.sizes = sizes
            self.rates = rates
            self.stepwise = stepwise
        }
    }

    package struct Control {
        package var id: UInt32
        package var name: String
        package var type = V4L2_CTRL_TYPE_INTEGER
        package var minimum = 0
        package var maximum = 255
        package var value: Int32 = 128
        package var flags: Int32 = 0
        package var items: [Int: String] = [:]

        package init(
            id: UInt32, name: String, type: v4l2_ctrl_type = V4L2_CTRL_TYPE_INTEGER, minimum: Int = 0,
            maximum: Int = 255, value: Int32 = 128, flags: Int32 = 0, items: [Int: String] = [:]
        ) {
            self.id = id
            self.name = name
            self.type = type
            self.minimum = minimum
            self.maximum = maximum
            self.value = value
            self.flags = flags
            self.items = items
        }
    }

    package struct Frame {
        package var sequence: UInt32
        /// Nanoseconds; nil: another clock.
        package var timestamp: UInt64?
        package var bytesUsed: Int?
        package var flags: UInt32 = 0
        package var dataOffset = 0
        package var fill: UInt8 = 0
        /// Nil: the buffer that waited longest.
        package var index: Int?
        /// Instead of `fill`.
        package var content: [UInt8]?

        package init(
            sequence: UInt32, timestamp: UInt64? = nil, bytesUsed: Int? = nil, flags: UInt32 = 0, dataOffset: Int = 0,
            fill: UInt8 = 0, index: Int? = nil, content: [UInt8]? = nil
        ) {
            self.sequence = sequence
            self.timestamp = timestamp
            self.bytesUsed = bytesUsed
            self.flags = flags
            self.dataOffset = dataOffset
            self.fill = fill
            self.index = index
            self.content = content
        }
    }

    package struct Script {
        package var openErrno: Int32 = 0
        package var driver = "scripted"
        package var card = "Scripted Camera"
        package var bus = "platform:scripted"
        package var capabilities = UInt32(bitPattern: V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING)
        package var formats = [Format(fourCC: .yuyv)]
        /// Of an M2M node: what it takes.
        package var outputFormats: [FourCC] = []
        package var controls: [Control] = []
        package var isMultiplanar = false
        package var grantsAlignment = true
        package var grantedBuffers: UInt32?
        package var bufferBytes: Int?
        package var exportsBuffers = true
        package var colorspace = V4L2_COLORSPACE_SRGB.rawValue
        package var quantization = V4L2_QUANTIZATION_DEFAULT.rawValue
        /// Answers a request instead of the driver: an errno, 0 for done, nil to let the driver answer. The number
        /// counts the calls of that request, from 1.
        package var answers: [UInt: @Sendable (Int, UnsafeMutableRawPointer) -> Int32?] = [:]
        /// Called after the driver's own answer, which it may change.
        package var distortions: [UInt: @Sendable (UnsafeMutableRawPointer) -> Void] = [:]
        package var pollFlags: Int16 = 0
        package var events: [v4l2_event] = []
    }

    struct State {
        var script: Script
        var counts: [UInt: Int] = [:]
        var granted: CaptureSetup?
        var bufferCount = 0
        /// Of all buffers, one after the other, each `pitch` bytes from the last. Buffers that are requested again have
        /// other memory, as a driver's do: what is still mapped of the ones before keeps its content.
        var memory = ScriptedDevice.newMemory()
        var queued: [Int] = []
        var done: [(index: Int, frame: Frame)] = []
        var isStreaming = false
        var queueCounts: [Int: Int] = [:]
        var mapped = 0
        var openDescriptors = 0
    }

    private let state: Mutex<State>
    /// Readable while frames are there; what is written to the rope.
    private let bell: Int32
    private let rope: Int32
    package static let pitch = 4 << 20

    package init(_ change: (inout Script) -> Void = { _ in }) {
        var script = Script()
        change(&script)
        state = Mutex(State(script: script))
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        (bell, rope) = (ends[0], ends[1])
    }

    deinit {
        _ = Glibc.close(state.withLock(\.memory))
        _ = Glibc.close(bell)
        _ = Glibc.close(rope)
    }

    static func newMemory() -> Int32 {
        var name = Array("/tmp/wb-camera-XXXXXX".utf8CString)
        let memory = mkstemp(&name)
        unlink(name)
        ftruncate(memory, off_t(pitch * 32))
        return memory
    }

    package func change(_ change: (inout Script) -> Void) { state.withLock { change(&$0.script) } }
    package func calls(of request: UInt) -> Int { state.withLock { $0.counts[request] ?? 0 } }
    package var queued: [Int] { state.withLock { $0.queued } }
    package var mapped: Int { state.withLock { $0.mapped } }
    package var openDescriptors: Int { state.withLock { $0.openDescriptors } }
    package func value(of control: UInt32) -> Int32? {
        state.withLock { state in state.script.controls.first { $0.id == control }?.value }
    }
    /// The format of a camera that has one, and encodes video.
    package var onlyVideo: FourCC? {
        let formats = state.withLock { $0.script.formats.map(\.fourCC) }
        return formats.count == 1 && formats[0].isVideo ? formats[0] : nil
    }
    var memoryDescriptor: Int32 { state.withLock(\.memory) }
    package var isStreaming: Bool { state.withLock { $0.isStreaming } }

    /// Fills the next buffer; false when the driver has none, so that the frame is lost.
    @discardableResult
    package func deliver(_ frame: Frame) -> Bool {
        state.withLock { state in
            guard state.isStreaming, !state.queued.isEmpty || frame.index != nil else { return false }
            let index = frame.index ?? state.queued.removeFirst()
            if let position = state.queued.firstIndex(of: index) { state.queued.remove(at: position) }
            let length = state.script.bufferBytes ?? state.granted?.imageBytes ?? 0
            let bytes = frame.content ?? [UInt8](repeating: frame.fill, count: min(length, Self.pitch))
            if index < 32 { pwrite(state.memory, bytes, bytes.count, off_t(index * Self.pitch)) }
            state.done.append((index, frame))
            Glibc.write(rope, [1], 1)
            return true
        }
    }

    /// Several, with sequence numbers in a row.
    package func deliver(_ count: Int, from sequence: UInt32 = 0) {
        for step in 0..<UInt32(count) { deliver(Frame(sequence: sequence &+ step, fill: UInt8(step & 0xFF))) }
    }

    // MARK: DeviceCalls

    package func open(_ path: String) throws(CallFailure) -> Int32 {
        let number = state.withLock { state in
            if state.script.openErrno == 0 { state.openDescriptors += 1 }
            return state.script.openErrno
        }
        if number != 0 { throw CallFailure(errno: number) }
        return dup(bell)
    }

    package func close(_ descriptor: Int32) {
        state.withLock { $0.openDescriptors -= 1 }
        _ = Glibc.close(descriptor)
    }

    package func map(
        _ descriptor: Int32, length: Int, offset: Int, margin: Int
    ) throws(CallFailure) -> UnsafeMutableRawPointer {
        // Past the end of the file there is nothing to touch, as with a driver that named a wrong length.
        let address = try KernelCalls().map(state.withLock(\.memory), length: length, offset: offset, margin: margin)
        state.withLock { $0.mapped += 1 }
        return address
    }

    package func unmap(_ address: UnsafeMutableRawPointer, length: Int, margin: Int) {
        KernelCalls().unmap(address, length: length, margin: margin)
        state.withLock { $0.mapped -= 1 }
    }

    /// The wait is the kernel's, on a descriptor that a frame makes readable.
    package func poll(_ descriptor: Int32, events: Int16, milliseconds: Int32) throws(CallFailure) -> Int16 {
        let flags: Int16 = state.withLock { state in
            var flags = state.script.pollFlags
            if state.done.isEmpty {
                var rings = [UInt8](repeating: 0, count: 64)
                while read(bell, &rings, rings.count) > 0 {}
            } else {
                flags |= Int16(POLLIN)
            }
            if !state.script.events.isEmpty { flags |= Int16(POLLPRI) }
            return flags
        }
        if flags != 0 { return flags & (events | Int16(POLLERR | POLLHUP | POLLNVAL)) }
        return try KernelCalls().poll(descriptor, events: events, milliseconds: milliseconds)
    }

    package func ioctl(_ descriptor: Int32, _ request: UInt, _ argument: UnsafeMutableRawPointer) throws(CallFailure) {
        let number: Int32 = state.withLock { state in
            state.counts[request, default: 0] += 1
            if let answer = state.script.answers[request]?(state.counts[request] ?? 0, argument) { return answer }
            let number = Self.answer(&state, request, argument)
            if number == 0 { state.script.distortions[request]?(argument) }
            return number
        }
        if number != 0 { throw CallFailure(errno: number) }
    }
}
