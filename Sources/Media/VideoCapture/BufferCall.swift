internal import CV4L2

extension DeviceCalls {
    /// A request with its own structure.
    func perform<T>(_ descriptor: Int32, _ request: UInt, _ argument: inout T) throws(CallFailure) {
        try withUnsafeMutablePointer(to: &argument) { (pointer) throws(CallFailure) in
            try ioctl(descriptor, request, UnsafeMutableRawPointer(pointer))
        }
    }
}

/// What a driver says of one buffer; none of it is checked.
struct BufferAnswer {
    var index: Int
    /// Bytes of the whole buffer.
    var length: Int
    /// For mmap.
    var offset: Int
    /// Where the frame begins, and its end.
    var dataOffset: Int
    var bytesUsed: Int
    var flags: UInt32
    var sequence: UInt32
    var seconds: Int
    var microseconds: Int
    /// How often a helper has copied the frame; a driver's own word for this is always 0.
    var copies: Int
}

/// VIDIOC_QUERYBUF, QBUF and DQBUF in both interfaces, with one plane.
struct BufferCall {
    var index: Int
    var isMultiplanar: Bool

    static func type(isMultiplanar: Bool) -> UInt32 {
        (isMultiplanar ? V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE : V4L2_BUF_TYPE_VIDEO_CAPTURE).rawValue
    }

    @discardableResult
    func perform(
        _ calls: any DeviceCalls, _ descriptor: Int32, _ request: UInt
    ) throws(CallFailure) -> BufferAnswer {
        var buffer = v4l2_buffer()
        buffer.index = UInt32(index)
        buffer.type = Self.type(isMultiplanar: isMultiplanar)
        buffer.memory = V4L2_MEMORY_MMAP.rawValue
        var plane = v4l2_plane()
        if isMultiplanar {
            try withUnsafeMutablePointer(to: &plane) { (pointer) throws(CallFailure) in
                buffer.m.planes = pointer
                buffer.length = 1
                try calls.perform(descriptor, request, &buffer)
            }
        } else {
            try calls.perform(descriptor, request, &buffer)
        }
        return BufferAnswer(
            index: Int(buffer.index),
            length: Int(isMultiplanar ? plane.length : buffer.length),
            offset: Int(isMultiplanar ? plane.m.mem_offset : buffer.m.offset),
            dataOffset: isMultiplanar ? Int(plane.data_offset) : 0,
            bytesUsed: Int(isMultiplanar ? plane.bytesused : buffer.bytesused),
            flags: buffer.flags, sequence: buffer.sequence,
            seconds: Int(buffer.timestamp.tv_sec), microseconds: Int(buffer.timestamp.tv_usec),
            copies: Int(min(buffer.reserved2, 1)))
    }
}
