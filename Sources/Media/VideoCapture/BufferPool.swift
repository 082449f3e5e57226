internal import CV4L2
internal import Synchronization

/// The buffers of one stream: mapped when it starts, unmapped when neither the stream nor a frame needs them.
///
/// A frame may end on any thread, long after the stream stopped or the device was closed: `end` and each return of a
/// buffer exclude each other, and after `end` the descriptor, which may be another file's by then, is not touched.
final class BufferPool: Sendable {
    struct Mapping {
        var memory: UnsafeMutableRawPointer
        var length: Int
        var margin: Int

        /// From its first byte to where nothing can be read any more.
        var readable: Int { MappedPages.count(length) + MappedPages.count(margin) }
    }

    private struct State {
        var isEnded = false
        /// By index: whether the buffer is with the driver.
        var isQueued: [Bool]
        var queued: Int { isQueued.count { $0 } }
        /// Buffers that the driver would not take back, to be offered again.
        var refused: [Int] = []
    }

    let descriptor: Int32
    let isMultiplanar: Bool
    private let calls: any DeviceCalls
    private let mappings: [Mapping]
    private let state: Mutex<State>

    /// Takes the mappings over; what happens to them is this object's business from now on.
    init(descriptor: Int32, isMultiplanar: Bool, calls: any DeviceCalls, mappings: [Mapping]) {
        self.descriptor = descriptor
        self.isMultiplanar = isMultiplanar
        self.calls = calls
        self.mappings = mappings
        state = Mutex(State(isQueued: [Bool](repeating: false, count: mappings.count)))
    }

    deinit {
        for mapping in mappings { calls.unmap(mapping.memory, length: mapping.length, margin: mapping.margin) }
    }

    var count: Int { mappings.count }
    /// Buffers that the driver may fill or has filled.
    var queued: Int { state.withLock { $0.queued } }

    func mapping(_ index: Int) -> Mapping { mappings[index] }

    /// From now on nothing is given back to the driver.
    func end() {
        state.withLock { $0.isEnded = true }
    }

    /// Gives a buffer to the driver; does nothing after the end.
    func queue(_ index: Int) throws(CallFailure) {
        let failure = state.withLock { queue(index, &$0) }
        if let failure { throw failure }
    }

    /// Gives a frame's buffer back. What the driver does not take is offered again by `queueRefused`.
    func giveBack(_ index: Int) {
        state.withLock { state in
            if queue(index, &state) != nil { state.refused.append(index) }
        }
    }

    /// - Throws: What the driver says when it has no buffer at all and takes none.
    func queueRefused() throws(CallFailure) {
        let failure: CallFailure? = state.withLock { state in
            if state.refused.isEmpty { return nil }
            let refused = state.refused
            state.refused = []
            var last: CallFailure?
            for index in refused {
                if let failure = queue(index, &state) {
                    last = failure
                    state.refused.append(index)
                }
            }
            return state.queued == 0 ? last : nil
        }
        if let failure { throw failure }
    }

    private func queue(_ index: Int, _ state: inout State) -> CallFailure? {
        if state.isEnded { return nil }
        do throws(CallFailure) {
            try BufferCall(index: index, isMultiplanar: isMultiplanar)
                .perform(calls, descriptor, watchbox_VIDIOC_QBUF)
            state.isQueued[index] = true
            return nil
        } catch {
            return error
        }
    }

    /// Takes the next filled buffer; nil when there is none now. Its index is not checked: see `accept`.
    func dequeue() throws(CallFailure) -> BufferAnswer? {
        do throws(CallFailure) {
            return try BufferCall(index: 0, isMultiplanar: isMultiplanar)
                .perform(calls, descriptor, watchbox_VIDIOC_DQBUF)
        } catch {
            if error.errno == EAGAIN { return nil }
            throw error
        }
    }

    /// False for the index of no buffer, or of one that the driver does not have.
    func accept(_ index: Int) -> Bool {
        state.withLock { state in
            guard state.isQueued.indices.contains(index), state.isQueued[index] else { return false }
            state.isQueued[index] = false
            return true
        }
    }

    func exportDMABUF(_ index: Int) throws(CaptureError) -> Int32 {
        let result: Result<Int32, CallFailure> = state.withLock { state in
            if state.isEnded { return .failure(CallFailure(errno: ENODEV)) }
            var request = v4l2_exportbuffer()
            request.type = BufferCall.type(isMultiplanar: isMultiplanar)
            request.index = UInt32(index)
            request.flags = UInt32(O_CLOEXEC | O_RDWR)
            do throws(CallFailure) {
                try calls.perform(descriptor, watchbox_VIDIOC_EXPBUF, &request)
                return .success(request.fd)
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(let exported):
            guard exported >= 0 else { throw .badAnswer("VIDIOC_EXPBUF gave the descriptor \(exported).") }
            return exported
        case .failure(let failure):
            switch failure.errno {
            case ENODEV, ENXIO: throw .disconnected
            case ENOTTY, EINVAL, EOPNOTSUPP: throw .unsupported(call: "VIDIOC_EXPBUF")
            default: throw .refused(call: "VIDIOC_EXPBUF", errno: failure.errno)
            }
        }
    }
}

// The mappings never change after init, and their memory is handed out one lease at a time.
extension BufferPool.Mapping: @unchecked Sendable {}

/// One filled buffer; its end gives it back.
final class BufferLease: Sendable {
    private let pool: BufferPool
    private let index: Int
    private let offset: Int
    let count: Int

    init(pool: BufferPool, index: Int, offset: Int, count: Int) {
        self.pool = pool
        self.index = index
        self.offset = offset
        self.count = count
    }

    deinit {
        pool.giveBack(index)
    }

    var start: UnsafeMutableRawPointer { pool.mapping(index).memory + offset }

    /// From the frame's first byte to where nothing can be read any more.
    var capacity: Int { max(count, pool.mapping(index).readable - offset) }

    func exportDMABUF() throws(CaptureError) -> Int32 { try pool.exportDMABUF(index) }
}
