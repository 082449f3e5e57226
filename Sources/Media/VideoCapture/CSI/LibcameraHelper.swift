internal import CSandbox
internal import CV4L2
internal import Glibc
internal import Platform
internal import Synchronization

/// A running watchbox-libcamera, which is asked as a driver is: libcamera's own code, whose binary interface differs in each release, and
/// which may crash or hang, stays out of the process that holds keys.
///
/// Calls and frames belong to one thread, the one that made it: it ends with that. A buffer may be given back by any.
final class LibcameraHelper: Sendable {
    private struct State {
        var dialogue: LibcameraDialogue
        /// Memory of the stream's buffers, by index.
        var buffers: [Int: Int32] = [:]
        /// Frames wait for whatever is asked.
        var isStreaming = false
        /// Why it is of no use any more.
        var ending: String?
    }

    /// Its socket, and what it is known by.
    let descriptor: Int32
    /// For the thread of calls alone.
    nonisolated(unsafe) private let child: ChildProcess?
    private let isStopped: StopFlag
    private let state: Mutex<State>

    /// Nanoseconds. At the first one libraries are loaded, from a cold card, and the machine's cameras looked at.
    private static let firstTimeout: UInt64 = 15_000_000_000
    private static let timeout: UInt64 = 4_000_000_000
    /// While it streams: less than a camera may be without frames.
    private static let streamingTimeout: UInt64 = 1_000_000_000
    /// For the end of a stream whose source is stopped.
    private static let endTimeout: UInt64 = 1_000_000_000
    /// Places of buffers in what would be the device's memory: no page belongs to two.
    private static let placeLength = 1 << 16

    /// What a driver is asked and the helper answers. Others have pointers in them, or are not for cameras like these.
    private static let calls: Set<UInt> = [
        watchbox_VIDIOC_QUERYCAP, watchbox_VIDIOC_ENUM_FMT, watchbox_VIDIOC_ENUM_FRAMESIZES,
        watchbox_VIDIOC_ENUM_FRAMEINTERVALS, watchbox_VIDIOC_G_FMT, watchbox_VIDIOC_S_FMT, watchbox_VIDIOC_G_PARM,
        watchbox_VIDIOC_S_PARM, watchbox_VIDIOC_REQBUFS, watchbox_VIDIOC_QUERYBUF, watchbox_VIDIOC_STREAMON,
        watchbox_VIDIOC_STREAMOFF, watchbox_VIDIOC_QUERY_EXT_CTRL, watchbox_VIDIOC_QUERYMENU, watchbox_VIDIOC_G_CTRL,
        watchbox_VIDIOC_S_CTRL, watchbox_WATCHBOX_LIBCAMERA_HELLO, watchbox_WATCHBOX_LIBCAMERA_CAMERA,
        watchbox_WATCHBOX_LIBCAMERA_OPEN,
    ]

    /// - Parameter child: owns the socket; nil: this object does.
    init(socket: Int32, child: ChildProcess?, _ isStopped: StopFlag) {
        descriptor = socket
        self.child = child
        self.isStopped = isStopped
        state = Mutex(State(dialogue: LibcameraDialogue(at: Clocks.monotonic)))
    }

    deinit {
        state.withLock { Self.forget(&$0.buffers) }
        if child == nil { Glibc.close(descriptor) }
    }

    /// The first call: agrees on the version.
    ///
    /// - Throws: ELIBBAD: it is of another one.
    func greet() throws(CallFailure) {
        var hello = watchbox_libcamera_hello()
        let wanted = UInt32(WATCHBOX_LIBCAMERA_VERSION)
        hello.version = wanted
        do throws(CallFailure) {
            try withUnsafeMutablePointer(to: &hello) { (pointer) throws(CallFailure) in
                try call(watchbox_WATCHBOX_LIBCAMERA_HELLO, UnsafeMutableRawPointer(pointer), Self.firstTimeout)
            }
            guard hello.version == wanted else { throw CallFailure(errno: EPROTO) }
        } catch {
            guard error.errno == EPROTO, error.reason == nil else { throw error }
            throw CallFailure(errno: ELIBBAD)
        }
    }

    // MARK: - Calls

    func ioctl(_ request: UInt, _ argument: UnsafeMutableRawPointer) throws(CallFailure) {
        switch request {
        case watchbox_VIDIOC_DQBUF: try dequeue(argument)
        case watchbox_VIDIOC_QBUF: try queue(argument)
        case watchbox_VIDIOC_EXPBUF: try export(argument)
        default:
            guard Self.calls.contains(request) else { throw CallFailure(errno: ENOTTY) }
            try call(request, argument, Self.timeout)
        }
    }

    /// It ends a stream, or what is left of one: that is done in order also when the source is stopped.
    private static func isRelease(_ request: UInt, _ argument: UnsafeMutableRawPointer) -> Bool {
        request == watchbox_VIDIOC_STREAMOFF
            || (request == watchbox_VIDIOC_REQBUFS
                && argument.assumingMemoryBound(to: v4l2_requestbuffers.self).pointee.count == 0)
    }

    private func call(_ request: UInt, _ argument: UnsafeMutableRawPointer, _ time: UInt64) throws(CallFailure) {
        do throws(CallFailure) {
            try exchange(request, argument, time)
        } catch {
            throw explained(error)
        }
    }

    private func exchange(_ request: UInt, _ argument: UnsafeMutableRawPointer, _ time: UInt64) throws(CallFailure) {
        let number = UInt32(request)
        let length = LibcameraDialogue.length(of: number)
        let structure = Array(UnsafeRawBufferPointer(start: argument, count: length))
        let begin = Clocks.monotonic
        let isHurried = state.withLock { $0.isStreaming } && !Self.isRelease(request, argument)
        let time = isHurried ? min(time, Self.streamingTimeout) : time
        let deadline = begin &+ time
        // Not longer than its unit has to stop.
        let stoppedDeadline = Self.isRelease(request, argument) ? begin &+ Self.endTimeout : begin
        try locked { state throws(CallFailure) in
            try self.send(state.dialogue.call(number, structure), &state)
            // They are the driver's to make again, and this is when it does.
            if request == watchbox_VIDIOC_REQBUFS { Self.forget(&state.buffers) }
        }
        while true {
            let now = Clocks.monotonic
            let isOver = isStopped.isSet && now >= stoppedDeadline
            guard now < deadline, !isOver else {
                let reason = isOver ? "it is stopped" : "it did not answer for \(time / 1_000_000_000) s"
                throw try locked { self.end(reason, &$0) }
            }
            let left = min((deadline - now) / 1_000_000 + 1, Self.lookMilliseconds)
            guard watchbox_v4l2_poll(descriptor, Int16(POLLIN), Int32(left)) != 0 else { continue }
            let answer = try locked { state throws(CallFailure) in
                try self.nextAnswer(&state)
            }
            guard let answer else { continue }
            argument.copyMemory(from: answer.structure, byteCount: length)
            if answer.error != 0 { throw CallFailure(errno: answer.error) }
            if request == watchbox_VIDIOC_STREAMON { state.withLock { $0.isStreaming = true } }
            if Self.isRelease(request, argument) { state.withLock { $0.isStreaming = false } }
            return
        }
    }

    /// Between two looks whether it has been stopped.
    private static let lookMilliseconds: UInt64 = 100

    /// Nil when another message came, or none.
    private func nextAnswer(_ state: inout State) throws(CallFailure) -> LibcameraDialogue.Answer? {
        guard let message = try receive(&state) else { return nil }
        guard case .answered(var answer) = message.event else { return nil }
        guard message.memory >= 0 else { return answer }
        do throws(CallFailure) {
            try keep(message.memory, of: &answer.structure, &state)
        } catch {
            Glibc.close(message.memory)
            throw error
        }
        return answer
    }

    /// The memory of one buffer, which must be as long as it says and stay so: what is read beyond its end would end this process.
    private func keep(_ memory: Int32, of structure: inout [UInt8], _ state: inout State) throws(CallFailure) {
        var buffer = structure.withUnsafeBytes { $0.loadUnaligned(as: v4l2_buffer.self) }
        let index = Int(buffer.index)
        guard index < LibcameraDialogue.maxFrames, state.buffers[index] == nil else {
            throw end("it gave buffer \(index) twice, or gave one that cannot be", &state)
        }
        let size = wb_lasting_memory(memory)
        guard size >= Int(buffer.length) else {
            throw end(
                size < 0 ? "it gave memory that it could take away" : "it gave less memory than it said", &state)
        }
        state.buffers[index] = memory
        buffer.m.offset = UInt32(index * Self.placeLength)
        structure = withUnsafeBytes(of: &buffer) { Array($0) }
    }

    private func dequeue(_ argument: UnsafeMutableRawPointer) throws(CallFailure) {
        try locked { state throws(CallFailure) in
            guard let frame = state.dialogue.takeFrame() else {
                throw CallFailure(errno: state.dialogue.failure ?? EAGAIN)
            }
            argument.copyMemory(from: frame, byteCount: frame.count)
            let index = Int(argument.assumingMemoryBound(to: v4l2_buffer.self).pointee.index)
            if let memory = state.buffers[index] { watchbox_begin_reading(memory) }
        }
    }

    private func queue(_ argument: UnsafeMutableRawPointer) throws(CallFailure) {
        let index = Int(argument.assumingMemoryBound(to: v4l2_buffer.self).pointee.index)
        let structure = Array(UnsafeRawBufferPointer(start: argument, count: MemoryLayout<v4l2_buffer>.size))
        try locked { state throws(CallFailure) in
            if let memory = state.buffers[index] { watchbox_end_reading(memory) }
            try self.send(state.dialogue.statement(UInt32(watchbox_VIDIOC_QBUF), structure), &state)
        }
    }

    private func export(_ argument: UnsafeMutableRawPointer) throws(CallFailure) {
        let request = argument.assumingMemoryBound(to: v4l2_exportbuffer.self)
        let index = Int(request.pointee.index)
        request.pointee.fd = try locked { state throws(CallFailure) in
            guard let memory = state.buffers[index] else { throw CallFailure(errno: EINVAL) }
            let copy = fcntl(memory, F_DUPFD_CLOEXEC, 0)
            guard copy >= 0 else { throw CallFailure(errno: watchbox_errno()) }
            return copy
        }
    }

    /// - Parameter offset: as VIDIOC_QUERYBUF's answer has it.
    func map(length: Int, offset: Int, margin: Int) throws(CallFailure) -> UnsafeMutableRawPointer {
        let memory = try locked { state throws(CallFailure) in
            guard let memory = state.buffers[offset / Self.placeLength] else { throw CallFailure(errno: EINVAL) }
            return memory
        }
        return try KernelCalls().map(memory, length: length, offset: 0, margin: margin)
    }

    // MARK: - Waiting

    /// As `DeviceCalls.poll`: POLLIN when a frame is there, POLLERR when the stream broke.
    func poll(milliseconds: Int32) throws(CallFailure) -> Int16 {
        let deadline = Clocks.monotonic &+ UInt64(max(0, milliseconds)) * 1_000_000
        while true {
            let found: Int16
            do throws(CallFailure) {
                found = try locked { state throws(CallFailure) in try self.look(&state) }
            } catch {
                throw explained(error)
            }
            let now = Clocks.monotonic
            if found != 0 || now >= deadline || isStopped.isSet { return found }
            let left = min((deadline - now) / 1_000_000 + 1, Self.lookMilliseconds)
            _ = watchbox_v4l2_poll(descriptor, Int16(POLLIN), Int32(left))
        }
    }

    private func look(_ state: inout State) throws(CallFailure) -> Int16 {
        // An end to it: more frames than buffers, a second failure and a second answer are faults.
        while let message = try receive(&state) {
            if message.memory >= 0 { Glibc.close(message.memory) }
        }
        if !state.dialogue.frames.isEmpty { return Int16(POLLIN) }
        if let failure = state.dialogue.failure {
            if failure == ENODEV { throw CallFailure(errno: ENODEV) }
            return Int16(POLLERR)
        }
        let question: [UInt8]?
        do throws(LibcameraDialogue.Fault) {
            question = try state.dialogue.timePassed(at: Clocks.monotonic)
        } catch {
            throw end("\(error)", &state)
        }
        if let question { try send(question, &state) }
        return 0
    }

    // MARK: - Messages

    /// Runs `body`, and refuses when the helper is of no use any more.
    private func locked<T>(_ body: (inout State) throws(CallFailure) -> T) throws(CallFailure) -> T {
        let result: Result<T, CallFailure> = state.withLock { state in
            if let ending = state.ending { return .failure(CallFailure(errno: ENODEV, reason: ending)) }
            do throws(CallFailure) { return .success(try body(&state)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    private func send(_ message: [UInt8], _ state: inout State) throws(CallFailure) {
        var count = -1
        repeat {
            count = Glibc.send(descriptor, message, message.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
        } while count < 0 && watchbox_errno() == EINTR
        guard count != message.count else { return }
        // One that reads has room: it never has more to read than a call and its buffers.
        throw end(watchbox_errno() == EAGAIN ? "it reads nothing any more" : Self.hungUp, &state)
    }

    /// Nil: no message is there. What came with it is the caller's to close.
    private func receive(
        _ state: inout State
    ) throws(CallFailure) -> (event: LibcameraDialogue.Event, memory: Int32)? {
        var memory: Int32 = -1
        var buffer = [UInt8](repeating: 0, count: Self.maxLength)
        let count = wb_receive(descriptor, &buffer, buffer.count, &memory)
        if count == -Int(EAGAIN) { return nil }
        guard count > 0 else {
            let isOver = count == 0 || count == -Int(ECONNRESET)
            throw end(isOver ? Self.hungUp : "its message cannot be read", &state)
        }
        do throws(LibcameraDialogue.Fault) {
            return (try state.dialogue.received(buffer[..<count], hasDescriptor: memory >= 0), memory)
        } catch {
            if memory >= 0 { Glibc.close(memory) }
            throw end("\(error)", &state)
        }
    }

    /// Head and structure of the longest call that is known here.
    private static let maxLength =
        LibcameraDialogue.headLength + (calls.map { LibcameraDialogue.length(of: UInt32($0)) }.max() ?? 0)
    private static let hungUp = "it closed its socket"

    /// From now on it is of no use.
    private func end(_ reason: String, _ state: inout State) -> CallFailure {
        state.ending = reason
        Self.forget(&state.buffers)
        return CallFailure(errno: ENODEV, reason: reason)
    }

    /// On the thread of calls: one that is of no use is ended, and how one ended by itself is said.
    private func explained(_ failure: CallFailure) -> CallFailure {
        guard failure.reason != nil, let child else { return failure }
        guard failure.reason == Self.hungUp else {
            child.kill()
            return failure
        }
        guard let status = child.ending(within: .milliseconds(500), hasHungUp: true) else { return failure }
        let reason = "it ended with \(status)"
        state.withLock { $0.ending = reason }
        return CallFailure(errno: failure.errno, reason: reason)
    }

    private static func forget(_ buffers: inout [Int: Int32]) {
        for memory in buffers.values { Glibc.close(memory) }
        buffers = [:]
    }
}

/// Set once, by any thread.
final class StopFlag: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .relaxed) }

    func set() { flag.store(true, ordering: .relaxed) }
}
