import CV4L2
import VideoCapture

/// A node that is one stage of a camera pipeline, taken for a camera: where libcamera has set the pipeline up before, its last stage gives the
/// same frames to the kernel's own calls, and what the way through libcamera costs can be measured.
final class PipelineStage: DeviceCalls {
    private let machine = MachineCalls()

    func open(_ path: String) throws(CallFailure) -> Int32 { try machine.open(path) }

    func ioctl(_ descriptor: Int32, _ request: UInt, _ argument: UnsafeMutableRawPointer) throws(CallFailure) {
        try machine.ioctl(descriptor, request, argument)
        guard request == watchbox_VIDIOC_QUERYCAP else { return }
        // What a product must not look over: an unset pipeline gives no frame, or another camera's.
        argument.assumingMemoryBound(to: v4l2_capability.self).pointee.device_caps &= ~UInt32(V4L2_CAP_IO_MC)
    }

    func map(
        _ descriptor: Int32, length: Int, offset: Int, margin: Int
    ) throws(CallFailure) -> UnsafeMutableRawPointer {
        try machine.map(descriptor, length: length, offset: offset, margin: margin)
    }

    func unmap(_ memory: UnsafeMutableRawPointer, length: Int, margin: Int) {
        machine.unmap(memory, length: length, margin: margin)
    }

    func poll(_ descriptor: Int32, events: Int16, milliseconds: Int32) throws(CallFailure) -> Int16 {
        try machine.poll(descriptor, events: events, milliseconds: milliseconds)
    }

    func close(_ descriptor: Int32) { machine.close(descriptor) }

    func stop() { machine.stop() }
}
