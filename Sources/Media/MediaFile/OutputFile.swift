internal import CAVCodec
internal import Glibc
internal import Platform
internal import Synchronization

/// Where a muxer's bytes go: a descriptor or memory, behind libavformat's AVIOContext. Used by one thread at a time.
final class OutputFile {
    /// −1: into memory.
    private let descriptor: CInt
    private var collected: [UInt8] = []
    private let isOwned: Bool
    private let abandonment: WriteAbandonment
    let isSeekable: Bool
    private(set) var context: UnsafeMutablePointer<AVIOContext>?
    private(set) var bytesWritten = 0
    /// The reader closed its end, or was given up: no more is needed, which is not a failure.
    private(set) var isReaderGone = false
    /// What is written is there already, and is passed over.
    var isRepeating = false
    /// errno of the write that failed; 0 while all is well.
    private(set) var failure: CInt = 0

    private static let bufferSize: CInt = 64 << 10

    /// Creates or empties a file. A new one is its owner's only: what is written may have been sealed for a reason.
    static func create(_ path: String, _ abandonment: WriteAbandonment) throws(MediaWriterError) -> OutputFile {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .cannotCreate(path: path, reason: SystemMessage.text(errno))
        }
        return OutputFile(descriptor, isOwned: true, abandonment)
    }

    /// Writes to a descriptor that stays its owner's.
    static func borrowing(_ descriptor: CInt, _ abandonment: WriteAbandonment) -> OutputFile {
        OutputFile(descriptor, isOwned: false, abandonment)
    }

    /// Collects what is written until it is taken.
    static func memory(_ abandonment: WriteAbandonment) -> OutputFile {
        OutputFile(-1, isOwned: false, abandonment)
    }

    private init(_ descriptor: CInt, isOwned: Bool, _ abandonment: WriteAbandonment) {
        self.descriptor = descriptor
        self.isOwned = isOwned
        self.abandonment = abandonment
        isSeekable = descriptor >= 0 && lseek(descriptor, 0, SEEK_CUR) >= 0
    }

    /// What was collected since the last call.
    func take() -> [UInt8] {
        guard !collected.isEmpty else { return [] }
        let taken = collected
        collected = []
        // The next fragment is about as long as this one: growing to that would copy it several times over.
        collected.reserveCapacity(taken.count + taken.count / 4)
        return taken
    }

    /// The same, in memory that is used again for what comes next.
    func drain<Failure: Error>(_ body: (ArraySlice<UInt8>) throws(Failure) -> Void) throws(Failure) {
        guard !collected.isEmpty else { return try body([]) }
        defer { collected.removeAll(keepingCapacity: true) }
        try body(collected[...])
    }

    deinit {
        if context != nil {
            wb_av_freep(&context!.pointee.buffer)
            wb_avio_context_free(&context)
        }
        if isOwned { close(descriptor) }
    }

    /// The context for a muxer; libavformat must be loaded. It points at this object, which must outlive the muxer.
    func openContext() throws(MediaWriterError) -> UnsafeMutablePointer<AVIOContext> {
        guard let buffer = wb_av_malloc(Int(Self.bufferSize)) else {
            throw .failed(call: "av_malloc", message: "out of memory")
        }
        let seek: (@convention(c) (UnsafeMutableRawPointer?, Int64, CInt) -> Int64)? =
            isSeekable ? { opaque, offset, whence in OutputFile.from(opaque)?.seek(offset, whence) ?? -1 } : nil
        context = wb_avio_alloc_writer(
            buffer.assumingMemoryBound(to: UInt8.self), Self.bufferSize,
            Unmanaged.passUnretained(self).toOpaque(),
            { opaque, bytes, count in
                guard let file = OutputFile.from(opaque), let bytes else { return wb_averror(EINVAL) }
                return file.write(UnsafeRawBufferPointer(start: bytes, count: Int(max(count, 0))))
            }, seek)
        guard let context else {
            wb_av_free(buffer)
            throw .failed(call: "avio_alloc_context", message: "out of memory")
        }
        return context
    }

    private static func from(_ opaque: UnsafeMutableRawPointer?) -> OutputFile? {
        opaque.map { Unmanaged<OutputFile>.fromOpaque($0).takeUnretainedValue() }
    }

    private func seek(_ offset: Int64, _ whence: CInt) -> Int64 {
        // Files only: the size is never asked for of anything else.
        guard whence & AVSEEK_SIZE == 0 else {
            var status = stat()
            return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : Int64(wb_averror(errno))
        }
        let position = lseek(descriptor, Int(offset), whence & ~AVSEEK_FORCE)
        return position >= 0 ? Int64(position) : Int64(wb_averror(errno))
    }

    private func write(_ bytes: UnsafeRawBufferPointer) -> CInt {
        guard failure == 0, let base = bytes.baseAddress else { return wb_averror(failure == 0 ? EINVAL : failure) }
        if descriptor < 0 {
            collected.append(contentsOf: bytes)
            bytesWritten += bytes.count
            return CInt(bytes.count)
        }
        let code =
            isRepeating
            ? (lseek(descriptor, bytes.count, SEEK_CUR) >= 0 ? 0 : errno)
            : abandonment.write(bytes, at: base, to: descriptor, blocks: !isSeekable)
        guard code == 0 else {
            failure = code
            isReaderGone = code == EPIPE || code == ECANCELED
            return wb_averror(code)
        }
        bytesWritten += bytes.count
        return CInt(bytes.count)
    }
}

/// Lets another thread end a write that waits for a reader which does not read.
public final class WriteAbandonment: Sendable {
    /// What always fits into a pipe that has room at all (pipe(7)), so that a write after `poll` does not block.
    private static let step = 4096
    /// Milliseconds between two looks at `isRequested`.
    private static let look: CInt = 50
    /// Looks in a row without room after which the reader is given up.
    private static let maxLooks = 8

    private let isRequested = Atomic(false)

    public init() {}

    /// From any thread: from now on a write is given up when its reader takes nothing for 400 ms.
    public func request() { isRequested.store(true, ordering: .relaxed) }

    /// Writes all of it to a descriptor that may be shared with others, so its flags stay as they are.
    ///
    /// - Returns: 0, or errno: EPIPE when the reader has gone, ECANCELED when it was given up.
    public func write(_ bytes: [UInt8], to descriptor: CInt) -> CInt {
        bytes.withUnsafeBytes { bytes in
            bytes.baseAddress.map { write(bytes, at: $0, to: descriptor, blocks: lseek(descriptor, 0, SEEK_CUR) < 0) }
                ?? 0
        }
    }

    /// - Parameter blocks: false for a file, which needs no one to make room.
    fileprivate func write(
        _ bytes: UnsafeRawBufferPointer, at base: UnsafeRawPointer, to descriptor: CInt, blocks: Bool
    ) -> CInt {
        var done = 0
        while done < bytes.count {
            if blocks, !waitForRoom(descriptor) { return ECANCELED }
            let count = blocks ? min(bytes.count - done, Self.step) : bytes.count - done
            let result = BrokenPipe.withoutSignal { Glibc.write(descriptor, base + done, count) }
            if result >= 0 {
                done += result
            } else if errno == EAGAIN {
                if !waitForRoom(descriptor) { return ECANCELED }
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }

    private func waitForRoom(_ descriptor: CInt) -> Bool {
        var looks = 0
        while true {
            var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            // Anything but "no room": the write shows what it is.
            guard poll(&wait, 1, Self.look) == 0 else { return true }
            if isRequested.load(ordering: .relaxed) { looks += 1 }
            if looks >= Self.maxLooks { return false }
        }
    }
}

/// Writing to a pipe without a reader raises SIGPIPE, which ends the process unless someone ignores it. A library does
/// not change how its process handles signals, so the signal is held back on this thread and taken away again.
private enum BrokenPipe {
    static func withoutSignal(_ body: () -> Int) -> Int {
        var pipe = sigset_t()
        var before = sigset_t()
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        guard pthread_sigmask(SIG_BLOCK, &pipe, &before) == 0 else { return body() }
        let result = body()
        let code = errno
        if result < 0, code == EPIPE, sigismember(&before, SIGPIPE) == 0 {
            var zero = timespec()
            while sigtimedwait(&pipe, nil, &zero) < 0, errno == EINTR {}
        }
        pthread_sigmask(SIG_SETMASK, &before, nil)
        errno = code
        return result
    }
}
