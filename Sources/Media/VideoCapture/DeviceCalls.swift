internal import CV4L2

/// What the kernel answered instead of doing what it was asked.
public struct CallFailure: Error, Equatable, Sendable {
    /// A positive errno.
    public var errno: Int32
    /// Where a helper process stands for a driver: why it is of no use any more. Nil: the number says all.
    public var reason: String?

    public init(errno: Int32, reason: String? = nil) {
        self.errno = errno
        self.reason = reason
    }
}

/// The calls that a video device is asked through: the kernel, or a stand-in in tests.
public protocol DeviceCalls: Sendable {
    /// For reading, writing and mapping, and without waiting. The descriptor is the caller's to close.
    func open(_ path: String) throws(CallFailure) -> Int32
    /// Repeated when a signal came between. `argument` is the request's own structure.
    func ioctl(_ descriptor: Int32, _ request: UInt, _ argument: UnsafeMutableRawPointer) throws(CallFailure)
    /// Shared memory of the device, for reading and writing, at the offset that VIDIOC_QUERYBUF named.
    ///
    /// - Parameter margin: bytes behind the buffer's last page that can be read as well, and are zero.
    func map(
        _ descriptor: Int32, length: Int, offset: Int, margin: Int
    ) throws(CallFailure) -> UnsafeMutableRawPointer
    /// - Parameters: as they were mapped.
    func unmap(_ memory: UnsafeMutableRawPointer, length: Int, margin: Int)
    /// The events (POLLIN, POLLPRI, POLLERR, POLLHUP) that are there within `milliseconds`; none when the time ran out
    /// or a signal came.
    func poll(_ descriptor: Int32, events: Int16, milliseconds: Int32) throws(CallFailure) -> Int16
    func close(_ descriptor: Int32)
    /// Whatever waits gives up, for good. From any thread.
    func stop()
}

extension DeviceCalls {
    // No call of the kernel's waits.
    public func stop() {}
}

/// The kernel itself.
public struct KernelCalls: DeviceCalls {
    public init() {}

    public func open(_ path: String) throws(CallFailure) -> Int32 {
        let descriptor = watchbox_v4l2_open(path)
        guard descriptor >= 0 else { throw CallFailure(errno: -descriptor) }
        return descriptor
    }

    public func ioctl(
        _ descriptor: Int32, _ request: UInt, _ argument: UnsafeMutableRawPointer
    ) throws(CallFailure) {
        let number = watchbox_v4l2_ioctl(descriptor, request, argument)
        guard number == 0 else { throw CallFailure(errno: number) }
    }

    public func map(
        _ descriptor: Int32, length: Int, offset: Int, margin: Int
    ) throws(CallFailure) -> UnsafeMutableRawPointer {
        // The margin is reserved together with the buffer, which then takes the first part of it: nothing else can come to
        // lie between. Pages that are only read are the kernel's page of zeros and cost no memory.
        let whole = MappedPages.count(length) + MappedPages.count(margin)
        guard let memory = mmap(nil, whole, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
            Int(bitPattern: memory) != -1
        else { throw CallFailure(errno: watchbox_errno()) }
        let buffer = mmap(
            memory, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor, off_t(offset))
        guard buffer == memory else {
            let number = watchbox_errno()
            // The kernel may have taken the first part away before the driver refused, and another thread's memory may lie
            // there by now: it is left alone. What stays of it, if anything, is an address and no memory.
            munmap(memory + MappedPages.count(length), MappedPages.count(margin))
            throw CallFailure(errno: number)
        }
        return memory
    }

    public func unmap(_ memory: UnsafeMutableRawPointer, length: Int, margin: Int) {
        munmap(memory, MappedPages.count(length) + MappedPages.count(margin))
    }

    public func poll(
        _ descriptor: Int32, events: Int16, milliseconds: Int32
    ) throws(CallFailure) -> Int16 {
        let result = watchbox_v4l2_poll(descriptor, events, milliseconds)
        guard result >= 0 else { throw CallFailure(errno: -result) }
        return Int16(truncatingIfNeeded: result)
    }

    public func close(_ descriptor: Int32) {
        _ = CV4L2.close(descriptor)
    }
}

/// The kernel maps whole pages, and a driver's buffer ends with one.
enum MappedPages {
    private static let size = max(1, Int(sysconf(Int32(_SC_PAGESIZE))))

    /// Bytes of the pages that hold `bytes`.
    static func count(_ bytes: Int) -> Int { (bytes + size - 1) / size * size }
}
