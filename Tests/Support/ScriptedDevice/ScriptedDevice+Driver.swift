internal import CV4L2
import Glibc
internal import VideoCapture

// What the driver answers where nothing else is scripted, as one on videobuf2 would.

extension ScriptedDevice {
    static func answer(_ state: inout State, _ request: UInt, _ argument: UnsafeMutableRawPointer) -> Int32 {
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

    static func write(_ text: String, to field: UnsafeMutableRawBufferPointer) {
        field.copyBytes(from: Array(text.utf8).prefix(field.count))
    }

    static func capability(_ script: Script, _ answer: UnsafeMutablePointer<v4l2_capability>) -> Int32 {
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

    static func format(_ script: Script, _ answer: UnsafeMutablePointer<v4l2_fmtdesc>) -> Int32 {
        let isOutput =
            answer.pointee.type == V4L2_BUF_TYPE_VIDEO_OUTPUT.rawValue
            || answer.pointee.type == V4L2_BUF_TYPE_VIDEO_OUTPUT_MPLANE.rawValue
        let list = isOutput ? script.outputFormats : script.formats.map(\.fourCC)
        guard answer.pointee.index < list.count else { return EINVAL }
        let fourCC = list[Int(answer.pointee.index)]
        answer.pointee.pixelformat = fourCC.rawValue
        answer.pointee.flags = fourCC.isCompressed ? UInt32(V4L2_FMT_FLAG_COMPRESSED) : 0
        withUnsafeMutableBytes(of: &answer.pointee.description) { write("Frames in \(fourCC)", to: $0) }
        return 0
    }

    static func size(_ script: Script, _ answer: UnsafeMutablePointer<v4l2_frmsizeenum>) -> Int32 {
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

    static func interval(_ script: Script, _ answer: UnsafeMutablePointer<v4l2_frmivalenum>) -> Int32 {
        guard let format = script.formats.first(where: { $0.fourCC.rawValue == answer.pointee.pixel_format }),
            answer.pointee.index < format.rates.count
        else { return EINVAL }
        answer.pointee.type = V4L2_FRMIVAL_TYPE_DISCRETE.rawValue
        answer.pointee.discrete = v4l2_fract(
            numerator: 1, denominator: UInt32(format.rates[Int(answer.pointee.index)]))
        return 0
    }

    /// Takes what it has, and else what is nearest, as drivers do.
    static func setFormat(_ state: inout State, _ answer: UnsafeMutablePointer<v4l2_format>) -> Int32 {
        guard state.bufferCount == 0 else { return EBUSY }
        let script = state.script
        let isMultiplanar = answer.pointee.type == V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE.rawValue
        guard isMultiplanar == script.isMultiplanar else { return EINVAL }
        let pix = answer.pointee.fmt.pix
        let requested = isMultiplanar ? answer.pointee.fmt.pix_mp.pixelformat : pix.pixelformat
        let format = script.formats.first { $0.fourCC.rawValue == requested } ?? script.formats[0]
        var size = CaptureSize(width: Int(pix.width), height: Int(pix.height))
        if format.stepwise == nil, !format.sizes.contains(size) { size = format.sizes[0] }
        let layout = FrameLayout(format.fourCC)
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
    static func setRate(_ state: inout State, _ answer: UnsafeMutablePointer<v4l2_streamparm>) -> Int32 {
        let asked = answer.pointee.parm.capture.timeperframe
        guard let granted = state.granted,
            let format = state.script.formats.first(where: { $0.fourCC == granted.pixelFormat }), !format.rates.isEmpty
        else { return ENOTTY }
        let rate = Double(asked.denominator) / Double(max(1, asked.numerator))
        let nearest = format.rates.min { abs(Double($0) - rate) < abs(Double($1) - rate) } ?? 30
        answer.pointee.parm.capture.timeperframe = v4l2_fract(numerator: 1, denominator: UInt32(nearest))
        return 0
    }

    static func requestBuffers(
        _ state: inout State, _ answer: UnsafeMutablePointer<v4l2_requestbuffers>
    ) -> Int32 {
        if answer.pointee.count > 0 { answer.pointee.count = state.script.grantedBuffers ?? answer.pointee.count }
        if answer.pointee.count > 0 {
            _ = Glibc.close(state.memory)
            state.memory = newMemory()
        }
        state.bufferCount = Int(answer.pointee.count)
        (state.queued, state.done) = ([], [])
        return 0
    }

    static func buffer(
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
            let (index, frame) = state.done.removeFirst()
            answer.pointee.index = UInt32(index)
            answer.pointee.sequence = frame.sequence
            answer.pointee.flags = frame.flags
            if let timestamp = frame.timestamp {
                answer.pointee.flags |= UInt32(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC)
                answer.pointee.timestamp = timeval(
                    tv_sec: Int(timestamp / 1_000_000_000), tv_usec: Int(timestamp % 1_000_000_000 / 1000))
            }
            let used = UInt32(frame.bytesUsed ?? length)
            if isMultiplanar {
                answer.pointee.m.planes.pointee.bytesused = used
                answer.pointee.m.planes.pointee.data_offset = UInt32(frame.dataOffset)
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

    static func control(
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
