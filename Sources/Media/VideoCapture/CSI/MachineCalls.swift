internal import CV4L2
internal import Platform
internal import Synchronization

/// The devices of this machine: the kernel's, and behind names that begin with `csi:` those that libcamera has.
public final class MachineCalls: DeviceCalls {
    /// Where the Debian package watchbox-libcamera puts it.
    public static let helper = "/usr/libexec/watchbox/watchbox-libcamera"

    private let kernel = KernelCalls()
    private let start: @Sendable (StopFlag) throws(CallFailure) -> LibcameraHelper
    private let isStopped = StopFlag()
    private let helpers = Mutex<[Int32: LibcameraHelper]>([:])

    /// - Parameter helper: the program that speaks to libcamera.
    public init(helper: String = MachineCalls.helper) {
        start = { (isStopped) throws(CallFailure) in
            let child: ChildProcess
            do throws(ChildProcess.Failure) {
                child = try ChildProcess(helper, [helper], connection: .messages(memory: nil), isSandboxed: true)
            } catch {
                throw CallFailure(errno: error.number == ENOENT ? ELIBACC : error.number)
            }
            return LibcameraHelper(socket: child.socket, child: child, isStopped)
        }
    }

    /// - Parameter connecting: a socket to what speaks as the program does; taken over.
    package init(connecting: @escaping @Sendable () -> Int32) {
        start = { (isStopped) throws(CallFailure) in LibcameraHelper(socket: connecting(), child: nil, isStopped) }
    }

    private func helper(_ descriptor: Int32) -> LibcameraHelper? { helpers.withLock { $0[descriptor] } }

    /// Of a CSI camera: a helper that has no camera yet (`CSICameras`). ELIBACC: it is not installed. ELIBBAD: it is of another
    /// version.
    public func open(_ path: String) throws(CallFailure) -> Int32 {
        guard CSICameras.isName(path) else { return try kernel.open(path) }
        let helper = try start(isStopped)
        try helper.greet()
        helpers.withLock { $0[helper.descriptor] = helper }
        return helper.descriptor
    }

    public func ioctl(
        _ descriptor: Int32, _ request: UInt, _ argument: UnsafeMutableRawPointer
    ) throws(CallFailure) {
        guard let helper = helper(descriptor) else { return try kernel.ioctl(descriptor, request, argument) }
        try helper.ioctl(request, argument)
    }

    public func map(
        _ descriptor: Int32, length: Int, offset: Int, margin: Int
    ) throws(CallFailure) -> UnsafeMutableRawPointer {
        guard let helper = helper(descriptor) else {
            return try kernel.map(descriptor, length: length, offset: offset, margin: margin)
        }
        return try helper.map(length: length, offset: offset, margin: margin)
    }

    public func unmap(_ memory: UnsafeMutableRawPointer, length: Int, margin: Int) {
        kernel.unmap(memory, length: length, margin: margin)
    }

    public func poll(_ descriptor: Int32, events: Int16, milliseconds: Int32) throws(CallFailure) -> Int16 {
        guard let helper = helper(descriptor) else {
            return try kernel.poll(descriptor, events: events, milliseconds: milliseconds)
        }
        return try helper.poll(milliseconds: milliseconds)
    }

    public func stop() { isStopped.set() }

    public func close(_ descriptor: Int32) {
        guard helpers.withLock({ $0.removeValue(forKey: descriptor) }) == nil else { return }
        kernel.close(descriptor)
    }
}
