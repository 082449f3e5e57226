package import CV4L2
import Glibc
import Synchronization
package import VideoCapture

/// A video device made of what it answers: real memory behind a file, real readiness behind a pipe, and every answer can be
/// overruled. Behaves like a driver on videobuf2 where nothing else is said.
package final class ScriptedDevice: DeviceCalls {
    package struct Format {
        package var fourCC: FourCC
        package var sizes: [CaptureSize] = [CaptureSize(width: 640, height: 480)]
        /// Pictures per second; empty: not listed.
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

    package struct Picture {
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

    private struct State {
        var script: Script
        var counts: [UInt: Int] = [:]
        var granted: CaptureSetup?
        var bufferCount = 0
        var queued: [Int] = []
        var done: [(index: Int, picture: Picture)] = []
        var isStreaming = false
        var queueCounts: [Int: Int] = [:]
        var mapped = 0
        var openDescriptors = 0
    }

    private let state: Mutex<State>
    /// Of all buffers, one after the other, each `pitch` bytes from the last.
    private let memory: Int32
    /// Readable while pictures are there; what is written to the rope.
    private let bell: Int32
    private let rope: Int32
    package static let pitch = 4 << 20

    package init(_ change: (inout Script) -> Void = { _ in }) {
        var script = Script()
        change(&script)
        state = Mutex(State(script: script))
        var name = Array("/tmp/wb-camera-XXXXXX".utf8CString)
        memory = mkstemp(&name)
        unlink(name)
        ftruncate(memory, off_t(Self.pitch * 32))
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        (bell, rope) = (ends[0], ends[1])
    }

    deinit {
        _ = Glibc.close(memory)
        _ = Glibc.close(bell)
        _ = Glibc.close(rope)
    }

    package func change(_ change: (inout Script) -> Void) { state.withLock { change(&$0.script) } }
    package func calls(of request: UInt) -> Int { state.withLock { $0.counts[request] ?? 0 } }
    package var queued: [Int] { state.withLock { $0.queued } }
    package var mapped: Int { state.withLock { $0.mapped } }
    package var openDescriptors: Int { state.withLock { $0.openDescriptors } }
    package func value(of control: UInt32) -> Int32? {
        state.withLock { state in state.script.controls.first { $0.id == control }?.value }
    }
    /// The format of a camera that has one, and codes video.
    package var onlyVideo: FourCC? {
        let formats = state.withLock { $0.script.formats.map(\.fourCC) }
        return formats.count == 1 && formats[0].isVideo ? formats[0] : nil
    }
    package var isStreaming: Bool { state.withLock { $0.isStreaming } }

    /// Fills the next buffer; false when the driver has none, so that the picture is lost.
    @discardableResult
    package func deliver(_ picture: Picture) -> Bool {
        state.withLock { state in
            guard state.isStreaming, !state.queued.isEmpty || picture.index != nil else { return false }
            let index = picture.index ?? state.queued.removeFirst()
            if let position = state.queued.firstIndex(of: index) { state.queued.remove(at: position) }
            let length = state.script.bufferBytes ?? state.granted?.imageBytes ?? 0
            let bytes = picture.content ?? [UInt8](repeating: picture.fill, count: min(length, Self.pitch))
            if index < 32 { pwrite(memory, bytes, bytes.count, off_t(index * Self.pitch)) }
            state.done.append((index, picture))
            Glibc.write(rope, [1], 1)
            return true
        }
    }

    /// Several, with sequence numbers in a row.
    package func deliver(_ count: Int, from sequence: UInt32 = 0) {
        for step in 0..<UInt32(count) { deliver(Picture(sequence: sequence &+ step, fill: UInt8(step & 0xFF))) }
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

    package func map(_ descriptor: Int32, length: Int, offset: Int) throws(CallFailure) -> UnsafeMutableRawPointer {
        // Past the end of the memfd there is nothing to touch, as with a driver that named a wrong length.
        guard let address = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_SHARED, memory, off_t(offset)),
            Int(bitPattern: address) != -1
        else { throw CallFailure(errno: errno) }
        state.withLock { $0.mapped += 1 }
        return address
    }

    package func unmap(_ address: UnsafeMutableRawPointer, length: Int) {
        munmap(address, length)
        state.withLock { $0.mapped -= 1 }
    }

    /// The wait is the kernel's, on a descriptor that a picture makes readable.
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

    // MARK: the driver

    private static func answer(_ state: inout State, _ request: UInt, _ argument: UnsafeMutableRawPointer) -> Int32 {
        let script = state.script
        switch request {
        case watchbox_VIDIOC_QUERYCAP: return capability(script, argument.assumingMemoryBound(to: v4l2_capability.self))
        case watchbox_VIDIOC_ENUM_FMT: return format(script, argument.assumingMemoryBound(to: v4l2_fmtdesc.self))
        case watchbox_VIDIOC_ENUM_FRAMESIZES:
            return size(script, argument.assumingMemoryBound(to: v4l2_frmsizeenum.self))
        case watchbox_VIDIOC_ENUM_FRAMEINTERVALS:
            return interval(script, argument.assumingMemoryBound(to: v4l2_frmivalenum.self))
        case watchbox_VIDIOC_S_FMT: return setFormat(&state, argument.assumingMemoryBound(to: v4l2_format.self))
        case watchbox_VIDIOC_S_PARM: return setRate(&state, argument.assumingMemoryBound(to: v4l2_streamparm.self))
        case watchbox_VIDIOC_REQBUFS:
            return requestBuffers(&state, argument.assumingMemoryBound(to: v4l2_requestbuffers.self))
        case watchbox_VIDIOC_QUERYBUF, watchbox_VIDIOC_QBUF, watchbox_VIDIOC_DQBUF:
            return buffer(&state, request, argument.assumingMemoryBound(to: v4l2_buffer.self))
        case watchbox_VIDIOC_STREAMON, watchbox_VIDIOC_STREAMOFF:
            state.isStreaming = request == watchbox_VIDIOC_STREAMON
            if !state.isStreaming { (state.queued, state.done) = ([], []) }
            return 0
        case watchbox_VIDIOC_EXPBUF:
            guard script.exportsBuffers else { return ENOTTY }
            argument.assumingMemoryBound(to: v4l2_exportbuffer.self).pointee.fd = Glibc.open("/dev/null", O_RDWR)
            return 0
        case watchbox_VIDIOC_SUBSCRIBE_EVENT: return 0
        case watchbox_VIDIOC_DQEVENT:
            guard !state.script.events.isEmpty else { return ENOENT }
            argument.assumingMemoryBound(to: v4l2_event.self).pointee = state.script.events.removeFirst()
            return 0
        default: return control(&state, request, argument)
        }
    }

    private static func write(_ text: String, to field: UnsafeMutableRawBufferPointer) {
        field.copyBytes(from: Array(text.utf8).prefix(field.count))
    }

    private static func capability(_ script: Script, _ answer: UnsafeMutablePointer<v4l2_capability>) -> Int32 {
        withUnsafeMutableBytes(of: &answer.pointee.driver) { write(script.driver, to: $0) }
        withUnsafeMutableBytes(of: &answer.pointee.card) { write(script.card, to: $0) }
        withUnsafeMutableBytes(of: &answer.pointee.bus_info) { write(script.bus, to: $0) }
        // Of the whole device: more than this node has.
        answer.pointee.capabilities =
            script.capabilities | UInt32(bitPattern: V4L2_CAP_META_CAPTURE | V4L2_CAP_VIDEO_CAPTURE)
            | UInt32(V4L2_CAP_DEVICE_CAPS)
        answer.pointee.device_caps = script.capabilities
        return 0
    }

    private static func format(_ script: Script, _ answer: UnsafeMutablePointer<v4l2_fmtdesc>) -> Int32 {
        let isOutput =
            answer.pointee.type == V4L2_BUF_TYPE_VIDEO_OUTPUT.rawValue
            || answer.pointee.type == V4L2_BUF_TYPE_VIDEO_OUTPUT_MPLANE.rawValue
        let list = isOutput ? script.outputFormats : script.formats.map(\.fourCC)
        guard answer.pointee.index < list.count else { return EINVAL }
        let fourCC = list[Int(answer.pointee.index)]
        answer.pointee.pixelformat = fourCC.rawValue
        answer.pointee.flags = fourCC.isCompressed ? UInt32(V4L2_FMT_FLAG_COMPRESSED) : 0
        withUnsafeMutableBytes(of: &answer.pointee.description) { write("Pictures in \(fourCC)", to: $0) }
        return 0
    }

    private static func size(_ script: Script, _ answer: UnsafeMutablePointer<v4l2_frmsizeenum>) -> Int32 {
        guard let format = script.formats.first(where: { $0.fourCC.rawValue == answer.pointee.pixel_format }) else {
            return EINVAL
        }
        if let range = format.stepwise {
            guard answer.pointee.index == 0 else { return EINVAL }
            answer.pointee.type = V4L2_FRMSIZE_TYPE_STEPWISE.rawValue
            answer.pointee.stepwise = v4l2_frmsize_stepwise(
                min_width: UInt32(range.minimum.width), max_width: UInt32(range.maximum.width),
                step_width: UInt32(range.step), min_height: UInt32(range.minimum.height),
                max_height: UInt32(range.maximum.height), step_height: UInt32(range.step))
            return 0
        }
        guard answer.pointee.index < format.sizes.count else { return EINVAL }
        let size = format.sizes[Int(answer.pointee.index)]
        answer.pointee.type = V4L2_FRMSIZE_TYPE_DISCRETE.rawValue
        answer.pointee.discrete = v4l2_frmsize_discrete(width: UInt32(size.width), height: UInt32(size.height))
        return 0
    }

    private static func interval(_ script: Script, _ answer: UnsafeMutablePointer<v4l2_frmivalenum>) -> Int32 {
        guard let format = script.formats.first(where: { $0.fourCC.rawValue == answer.pointee.pixel_format }),
            answer.pointee.index < format.rates.count
        else { return EINVAL }
        answer.pointee.type = V4L2_FRMIVAL_TYPE_DISCRETE.rawValue
        answer.pointee.discrete = v4l2_fract(
            numerator: 1, denominator: UInt32(format.rates[Int(answer.pointee.index)]))
        return 0
    }

    /// Takes what it has, and else what is nearest, as drivers do.
    private static func setFormat(_ state: inout State, _ answer: UnsafeMutablePointer<v4l2_format>) -> Int32 {
        guard state.bufferCount == 0 else { return EBUSY }
        let script = state.script
        let isMultiplanar = answer.pointee.type == V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE.rawValue
        guard isMultiplanar == script.isMultiplanar else { return EINVAL }
        let pix = answer.pointee.fmt.pix
        let wanted = isMultiplanar ? answer.pointee.fmt.pix_mp.pixelformat : pix.pixelformat
        let format = script.formats.first { $0.fourCC.rawValue == wanted } ?? script.formats[0]
        var size = CaptureSize(width: Int(pix.width), height: Int(pix.height))
        if format.stepwise == nil, !format.sizes.contains(size) { size = format.sizes[0] }
        let layout = PictureLayout(format.fourCC)
        var stride = layout?.bytesPerLine(width: size.width) ?? 0
        let asked = Int(isMultiplanar ? answer.pointee.fmt.pix_mp.plane_fmt.0.bytesperline : pix.bytesperline)
        if script.grantsAlignment, layout != nil { stride = max(stride, asked) }
        let bytes = layout?.bytes(bytesPerLine: stride, height: size.height) ?? size.area
        state.granted = CaptureSetup(
            pixelFormat: format.fourCC, width: size.width, height: size.height, bytesPerLine: stride,
            imageBytes: bytes, rate: 0)
        if isMultiplanar {
            answer.pointee.fmt.pix_mp.width = UInt32(size.width)
            answer.pointee.fmt.pix_mp.height = UInt32(size.height)
            answer.pointee.fmt.pix_mp.pixelformat = format.fourCC.rawValue
            answer.pointee.fmt.pix_mp.num_planes = 1
            answer.pointee.fmt.pix_mp.plane_fmt.0.bytesperline = UInt32(stride)
            answer.pointee.fmt.pix_mp.plane_fmt.0.sizeimage = UInt32(bytes)
            answer.pointee.fmt.pix_mp.colorspace = script.colorspace
            answer.pointee.fmt.pix_mp.quantization = UInt8(script.quantization)
        } else {
            answer.pointee.fmt.pix.width = UInt32(size.width)
            answer.pointee.fmt.pix.height = UInt32(size.height)
            answer.pointee.fmt.pix.pixelformat = format.fourCC.rawValue
            answer.pointee.fmt.pix.bytesperline = UInt32(stride)
            answer.pointee.fmt.pix.sizeimage = UInt32(bytes)
            answer.pointee.fmt.pix.colorspace = script.colorspace
            answer.pointee.fmt.pix.quantization = script.quantization
        }
        return 0
    }

    /// The nearest of its rates.
    private static func setRate(_ state: inout State, _ answer: UnsafeMutablePointer<v4l2_streamparm>) -> Int32 {
        let asked = answer.pointee.parm.capture.timeperframe
        guard let granted = state.granted,
            let format = state.script.formats.first(where: { $0.fourCC == granted.pixelFormat }), !format.rates.isEmpty
        else { return ENOTTY }
        let rate = Double(asked.denominator) / Double(max(1, asked.numerator))
        let nearest = format.rates.min { abs(Double($0) - rate) < abs(Double($1) - rate) } ?? 30
        answer.pointee.parm.capture.timeperframe = v4l2_fract(numerator: 1, denominator: UInt32(nearest))
        return 0
    }

    private static func requestBuffers(
        _ state: inout State, _ answer: UnsafeMutablePointer<v4l2_requestbuffers>
    ) -> Int32 {
        if answer.pointee.count > 0 { answer.pointee.count = state.script.grantedBuffers ?? answer.pointee.count }
        state.bufferCount = Int(answer.pointee.count)
        (state.queued, state.done) = ([], [])
        return 0
    }

    private static func buffer(
        _ state: inout State, _ request: UInt, _ answer: UnsafeMutablePointer<v4l2_buffer>
    ) -> Int32 {
        let isMultiplanar = state.script.isMultiplanar
        let type = isMultiplanar ? V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE : V4L2_BUF_TYPE_VIDEO_CAPTURE
        guard answer.pointee.type == type.rawValue, answer.pointee.memory == V4L2_MEMORY_MMAP.rawValue else {
            return EINVAL
        }
        let length = state.script.bufferBytes ?? state.granted?.imageBytes ?? 0
        if request == watchbox_VIDIOC_DQBUF {
            guard state.isStreaming else { return EINVAL }
            guard !state.done.isEmpty else { return EAGAIN }
            let (index, picture) = state.done.removeFirst()
            answer.pointee.index = UInt32(index)
            answer.pointee.sequence = picture.sequence
            answer.pointee.flags = picture.flags
            if let timestamp = picture.timestamp {
                answer.pointee.flags |= UInt32(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC)
                answer.pointee.timestamp = timeval(
                    tv_sec: Int(timestamp / 1_000_000_000), tv_usec: Int(timestamp % 1_000_000_000 / 1000))
            }
            let used = UInt32(picture.bytesUsed ?? length)
            if isMultiplanar {
                answer.pointee.m.planes.pointee.bytesused = used
                answer.pointee.m.planes.pointee.data_offset = UInt32(picture.dataOffset)
                answer.pointee.m.planes.pointee.length = UInt32(length)
            } else {
                answer.pointee.bytesused = used
                answer.pointee.length = UInt32(length)
            }
            return 0
        }
        let index = Int(answer.pointee.index)
        guard index < state.bufferCount else { return EINVAL }
        if request == watchbox_VIDIOC_QBUF {
            guard !state.queued.contains(index), !state.done.contains(where: { $0.index == index }) else {
                return EINVAL
            }
            state.queued.append(index)
            return 0
        }
        let offset = UInt32(index * pitch)
        if isMultiplanar {
            answer.pointee.m.planes.pointee.length = UInt32(length)
            answer.pointee.m.planes.pointee.m.mem_offset = offset
        } else {
            answer.pointee.length = UInt32(length)
            answer.pointee.m.offset = offset
        }
        return 0
    }

    private static func control(
        _ state: inout State, _ request: UInt, _ argument: UnsafeMutableRawPointer
    ) -> Int32 {
        let controls = state.script.controls
        switch request {
        case watchbox_VIDIOC_QUERY_EXT_CTRL:
            let answer = argument.assumingMemoryBound(to: v4l2_query_ext_ctrl.self)
            let after = answer.pointee.id & ~UInt32(V4L2_CTRL_FLAG_NEXT_CTRL)
            guard let control = controls.sorted(by: { $0.id < $1.id }).first(where: { $0.id > after }) else {
                return EINVAL
            }
            answer.pointee.id = control.id
            answer.pointee.type = control.type.rawValue
            answer.pointee.minimum = Int64(control.minimum)
            answer.pointee.maximum = Int64(control.maximum)
            answer.pointee.step = 1
            answer.pointee.default_value = 128
            answer.pointee.flags = UInt32(control.flags)
            withUnsafeMutableBytes(of: &answer.pointee.name) { write(control.name, to: $0) }
            return 0
        case watchbox_VIDIOC_QUERYCTRL:
            let answer = argument.assumingMemoryBound(to: v4l2_queryctrl.self)
            let after = answer.pointee.id & ~UInt32(V4L2_CTRL_FLAG_NEXT_CTRL)
            guard let control = controls.sorted(by: { $0.id < $1.id }).first(where: { $0.id > after }) else {
                return EINVAL
            }
            answer.pointee.id = control.id
            answer.pointee.type = control.type.rawValue
            answer.pointee.minimum = Int32(control.minimum)
            answer.pointee.maximum = Int32(control.maximum)
            answer.pointee.flags = UInt32(control.flags)
            withUnsafeMutableBytes(of: &answer.pointee.name) { write(control.name, to: $0) }
            return 0
        case watchbox_VIDIOC_QUERYMENU:
            let answer = argument.assumingMemoryBound(to: v4l2_querymenu.self)
            guard let item = controls.first(where: { $0.id == answer.pointee.id })?.items[Int(answer.pointee.index)]
            else { return EINVAL }
            withUnsafeMutableBytes(of: &answer.pointee.name) { write(item, to: $0) }
            return 0
        case watchbox_VIDIOC_G_CTRL, watchbox_VIDIOC_S_CTRL:
            let answer = argument.assumingMemoryBound(to: v4l2_control.self)
            guard let place = controls.firstIndex(where: { $0.id == answer.pointee.id }) else { return EINVAL }
            if request == watchbox_VIDIOC_S_CTRL {
                state.script.controls[place].value = answer.pointee.value
            } else {
                answer.pointee.value = controls[place].value
            }
            return 0
        default: return ENOTTY
        }
    }
}
