import CSandbox
import CV4L2
import Glibc
import Synchronization
import VideoCapture

/// What watchbox-libcamera would say for cameras that are `ScriptedDevice`s: over a real socket, with real memory, on a thread of its own.
package final class ScriptedHelper: Sendable {
    package struct Script {
        /// libcamera's identifiers and models, in its order.
        package var cameras = [(identifier: "/base/soc/i2c0mux/i2c@1/imx708@1a", model: "imx708")]
        /// Of the process that has the camera, and its number.
        package var holder: Int32?
        package var version = UInt32(WATCHBOX_LIBCAMERA_VERSION)
        /// Those that are not its own.
        package var refusesVersions = true
        /// How often it copies each frame.
        package var copies: UInt32 = 0
        /// It reads nothing any more.
        package var isHanging = false
        /// The memory of its buffers can be made smaller.
        package var isMemoryLoose = false
        /// Called with each of its messages, which it may change.
        package var distortion: (@Sendable (inout [UInt8]) -> Void)?

        package init() {}
    }

    private struct State {
        var script = Script()
        var hasEnded = false
        var hasReleased = false
        var opened: Set<String> = []
        var descriptors: [Int: Int32] = [:]
        var mappings: [Int: (memory: UnsafeMutableRawPointer, length: Int)] = [:]
        /// How often each was asked.
        var counts: [UInt32: Int] = [:]
    }

    package let device: ScriptedDevice
    private let state: Mutex<State>
    private let own: Int32

    /// - Returns: and the socket that watchboxd's side has.
    package static func start(
        _ device: ScriptedDevice, _ change: (inout Script) -> Void = { _ in }
    ) -> (helper: ScriptedHelper, socket: Int32) {
        var ends: [Int32] = [-1, -1]
        socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends)
        var script = Script()
        change(&script)
        let helper = ScriptedHelper(device, ends[1], script)
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(helper)
        pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<ScriptedHelper>.fromOpaque(argument).takeRetainedValue().serve()
                return nil
            }, argument.toOpaque())
        pthread_detach(thread)
        return (helper, ends[0])
    }

    private init(_ device: ScriptedDevice, _ own: Int32, _ script: Script) {
        self.device = device
        self.own = own
        state = Mutex(State(script: script))
    }

    deinit {
        state.withLock { state in
            for memory in state.descriptors.values { Glibc.close(memory) }
            for mapping in state.mappings.values { munmap(mapping.memory, mapping.length) }
        }
        Glibc.close(own)
    }

    /// Its camera is free for the next one.
    package var hasReleased: Bool { state.withLock { $0.hasReleased } }

    package func change(_ change: (inout Script) -> Void) { state.withLock { change(&$0.script) } }
    package func calls(of request: UInt) -> Int { state.withLock { $0.counts[UInt32(request)] ?? 0 } }

    /// As if it had crashed.
    package func end() {
        release()
        shutdown(own, Int32(SHUT_RDWR))
    }

    /// As a broken stream is told; ENODEV: the camera is gone.
    package func tellFailure(_ number: Int32) { send(UInt32(watchbox_VIDIOC_STREAMOFF), 0, number, Self.nothing) }

    private static let nothing = [UInt8](repeating: 0, count: MemoryLayout<CInt>.size)
    private static let headLength = MemoryLayout<watchbox_libcamera_head>.size

    /// What a process leaves to the kernel when it ends: once, and before anybody can know that it has.
    private func release() {
        let isFirst = state.withLock { state in
            defer { state.hasEnded = true }
            return !state.hasEnded
        }
        guard isFirst else { return }
        var type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        try? device.ioctl(-1, watchbox_VIDIOC_STREAMOFF, &type)
        var request = v4l2_requestbuffers()
        request.type = type
        try? device.ioctl(-1, watchbox_VIDIOC_REQBUFS, &request)
        state.withLock { $0.hasReleased = true }
    }

    private func serve() {
        defer { release() }
        var buffer = [UInt8](repeating: 0, count: 1 << 15)
        while true {
            var entry = pollfd(fd: own, events: Int16(POLLIN), revents: 0)
            Glibc.poll(&entry, 1, 2)
            if Int32(entry.revents) & Int32(POLLHUP) != 0 { return }
            if state.withLock(\.script.isHanging) {
                usleep(2000)
                continue
            }
            if entry.revents != 0 {
                let count = recv(own, &buffer, buffer.count, 0)
                guard count >= Self.headLength else { return }
                answer(Array(buffer[..<count]))
            }
            pushFrames()
        }
    }

    private func answer(_ message: [UInt8]) {
        let head = message.withUnsafeBytes { $0.loadUnaligned(as: watchbox_libcamera_head.self) }
        var structure = Array(message.dropFirst(Self.headLength))
        state.withLock { $0.counts[head.request, default: 0] += 1 }
        var memory: Int32?
        let number: Int32 = structure.withUnsafeMutableBytes { bytes in
            guard let argument = bytes.baseAddress else { return EINVAL }
            switch UInt(head.request) {
            case watchbox_WATCHBOX_LIBCAMERA_HELLO:
                let hello = argument.assumingMemoryBound(to: watchbox_libcamera_hello.self)
                let (version, refuses) = state.withLock { ($0.script.version, $0.script.refusesVersions) }
                defer { hello.pointee.version = version }
                return hello.pointee.version == version || !refuses ? 0 : EPROTO
            case watchbox_WATCHBOX_LIBCAMERA_CAMERA:
                return list(argument.assumingMemoryBound(to: watchbox_libcamera_camera.self))
            case watchbox_WATCHBOX_LIBCAMERA_OPEN:
                return open(argument.assumingMemoryBound(to: watchbox_libcamera_open.self))
            default:
                do throws(CallFailure) {
                    try device.ioctl(-1, UInt(head.request), argument)
                } catch {
                    return error.errno
                }
                if UInt(head.request) == watchbox_VIDIOC_REQBUFS { forget() }
                if UInt(head.request) == watchbox_VIDIOC_QUERYBUF {
                    memory = share(argument.assumingMemoryBound(to: v4l2_buffer.self).pointee)
                }
                return 0
            }
        }
        if UInt(head.request) != watchbox_VIDIOC_QBUF { send(head.request, head.serial, number, structure, memory) }
    }

    private func list(_ answer: UnsafeMutablePointer<watchbox_libcamera_camera>) -> Int32 {
        let cameras = state.withLock(\.script.cameras)
        guard answer.pointee.index < cameras.count else { return EINVAL }
        let camera = cameras[Int(answer.pointee.index)]
        withUnsafeMutableBytes(of: &answer.pointee.id) { ScriptedDevice.write(camera.identifier, to: $0) }
        withUnsafeMutableBytes(of: &answer.pointee.model) { ScriptedDevice.write(camera.model, to: $0) }
        return 0
    }

    private func open(_ answer: UnsafeMutablePointer<watchbox_libcamera_open>) -> Int32 {
        let identifier = withUnsafeBytes(of: &answer.pointee.id) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return state.withLock { state in
            if let holder = state.script.holder {
                answer.pointee.holder = holder
                return EBUSY
            }
            return state.script.cameras.contains { $0.identifier == identifier } ? 0 : ENODEV
        }
    }

    private func forget() {
        state.withLock { state in
            for memory in state.descriptors.values { Glibc.close(memory) }
            for mapping in state.mappings.values { munmap(mapping.memory, mapping.length) }
            (state.descriptors, state.mappings) = ([:], [:])
        }
    }

    /// Memory for one buffer, as frames are copied into where a DMA-BUF will not do.
    private func share(_ buffer: v4l2_buffer) -> Int32? {
        let length = Int(buffer.length)
        // An ordinary file can be made smaller.
        let memory =
            state.withLock(\.script.isMemoryLoose) ? ScriptedDevice.newMemory() : wb_sealed_memory(length)
        guard memory >= 0 else { return nil }
        return state.withLock { state in
            guard length > 0, let place = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0),
                Int(bitPattern: place) != -1
            else { return memory }
            state.descriptors[Int(buffer.index)] = memory
            state.mappings[Int(buffer.index)] = (place, length)
            return memory
        }
    }

    private func pushFrames() {
        while device.isStreaming {
            var buffer = v4l2_buffer()
            buffer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
            buffer.memory = V4L2_MEMORY_MMAP.rawValue
            guard (try? device.ioctl(-1, watchbox_VIDIOC_DQBUF, &buffer)) != nil else { return }
            buffer.reserved2 = state.withLock(\.script.copies)
            state.withLock { state in
                guard let mapping = state.mappings[Int(buffer.index)] else { return }
                device.copyFrame(
                    Int(buffer.index), into: UnsafeMutableRawBufferPointer(start: mapping.memory, count: mapping.length)
                )
            }
            send(UInt32(watchbox_VIDIOC_DQBUF), 0, 0, withUnsafeBytes(of: &buffer) { Array($0) })
        }
    }

    private func send(
        _ request: UInt32, _ serial: UInt32, _ number: Int32, _ structure: [UInt8], _ memory: Int32? = nil
    ) {
        var head = watchbox_libcamera_head()
        (head.request, head.serial, head.error) = (request, serial, number)
        var message = withUnsafeBytes(of: &head) { Array($0) } + structure
        state.withLock(\.script.distortion)?(&message)
        sendDescriptors(memory == nil ? 0 : 1, memory ?? -1, with: message)
    }

    /// A message with so many of one descriptor, which is standard input where none is named.
    package func sendDescriptors(_ count: Int, _ descriptor: Int32 = STDIN_FILENO, with message: [UInt8]) {
        // Behind the head of a control message: CMSG_LEN and CMSG_SPACE on 64-bit machines.
        let headLength = 16
        let length = headLength + count * MemoryLayout<Int32>.size
        var control = [UInt8](repeating: 0, count: (length + 7) / 8 * 8)
        control.withUnsafeMutableBytes { bytes in
            var header = cmsghdr()
            (header.cmsg_len, header.cmsg_level, header.cmsg_type) = (length, SOL_SOCKET, Int32(SCM_RIGHTS))
            withUnsafeBytes(of: &header) { bytes.copyBytes(from: $0.prefix(headLength)) }
            for index in 0..<count {
                bytes.storeBytes(of: descriptor, toByteOffset: headLength + index * 4, as: Int32.self)
            }
        }
        var message = message
        message.withUnsafeMutableBytes { bytes in
            control.withUnsafeMutableBytes { control in
                var part = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
                withUnsafeMutablePointer(to: &part) { part in
                    var header = msghdr()
                    (header.msg_iov, header.msg_iovlen) = (part, 1)
                    if count > 0 { (header.msg_control, header.msg_controllen) = (control.baseAddress, control.count) }
                    _ = sendmsg(own, &header, Int32(MSG_NOSIGNAL))
                }
            }
        }
    }
}

extension ScriptedDevice {
    /// What the driver wrote into one of its buffers.
    func copyFrame(_ index: Int, into bytes: UnsafeMutableRawBufferPointer) {
        pread(memoryDescriptor, bytes.baseAddress, min(bytes.count, Self.pitch), off_t(index * Self.pitch))
    }
}
