import Foundation
import Glibc
import Synchronization
package import VideoCapture

/// Nodes by name, in a tree of files that stands for sysfs and /dev; removed with its owner.
package final class ScriptedMachine: DeviceCalls {
    package let root: String
    private let nodes = Mutex<[String: ScriptedDevice]>([:])
    private let open = Mutex<[Int32: ScriptedDevice]>([:])

    package init() throws {
        root = "/tmp/wb-machine-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    package func write(_ path: String, _ text: String) throws { try write(path, bytes: Array(text.utf8)) }

    package func write(_ path: String, bytes: [UInt8]) throws {
        let url = URL(filePath: "\(root)/\(path)")
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: url)
    }

    package func link(_ path: String, to target: String) throws {
        let url = URL(filePath: "\(root)/\(path)")
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: url.path, withDestinationPath: target)
    }

    /// A node in sysfs, on a bus that has ports or not; what it answers when it is opened.
    package func add(
        _ number: Int, _ name: String, index: Int = 0, bus: String = "platform", port: String? = nil,
        serial: String? = nil, speed: Int? = nil, _ device: ScriptedDevice? = nil
    ) throws {
        let node = "sys/class/video4linux/video\(number)"
        try write("\(node)/name", name + "\n")
        try write("\(node)/index", "\(index)\n")
        try write("dev/video\(number)", "")
        if let port {
            let usb = "sys/devices/usb/\(port)"
            try write("\(usb)/\(port):1.0/bInterfaceNumber", "00\n")
            if let serial { try write("\(usb)/serial", serial + "\n") }
            if let speed { try write("\(usb)/speed", "\(speed)\n") }
            try? link("\(usb)/\(port):1.0/subsystem", to: "../../../../bus/\(bus)")
            try? link("\(usb)/\(port):1.0/driver", to: "../../../../bus/\(bus)/drivers/uvcvideo")
            try link("\(node)/device", to: "../../../devices/usb/\(port)/\(port):1.0")
        } else {
            try link("\(node)/device/subsystem", to: "../../../bus/\(bus)")
        }
        if let device { nodes.withLock { $0["\(root)/dev/video\(number)"] = device } }
    }

    /// A node without a device behind it, as v4l2loopback makes them.
    package func addVirtual(_ number: Int, _ name: String, _ device: ScriptedDevice) throws {
        try write("sys/class/video4linux/video\(number)/name", name + "\n")
        try write("dev/video\(number)", "")
        nodes.withLock { $0["\(root)/dev/video\(number)"] = device }
    }

    /// Another device under a number that is there already.
    package func replace(_ number: Int, by device: ScriptedDevice) {
        nodes.withLock { $0["\(root)/dev/video\(number)"] = device }
    }

    package func open(_ path: String) throws(CallFailure) -> Int32 {
        let real = realpath(path, nil)
        defer { free(real) }
        let name = real.map { String(cString: $0) } ?? path
        guard let device = nodes.withLock({ $0[name] }) else { throw CallFailure(errno: ENOENT) }
        let descriptor = try device.open(name)
        open.withLock { $0[descriptor] = device }
        return descriptor
    }

    private func device(_ descriptor: Int32) throws(CallFailure) -> ScriptedDevice {
        guard let device = open.withLock({ $0[descriptor] }) else { throw CallFailure(errno: EBADF) }
        return device
    }

    package func ioctl(_ descriptor: Int32, _ request: UInt, _ argument: UnsafeMutableRawPointer) throws(CallFailure) {
        try device(descriptor).ioctl(descriptor, request, argument)
    }

    package func map(
        _ descriptor: Int32, length: Int, offset: Int, margin: Int
    ) throws(CallFailure) -> UnsafeMutableRawPointer {
        try device(descriptor).map(descriptor, length: length, offset: offset, margin: margin)
    }

    package func unmap(_ memory: UnsafeMutableRawPointer, length: Int, margin: Int) {
        KernelCalls().unmap(memory, length: length, margin: margin)
    }

    package func poll(_ descriptor: Int32, events: Int16, milliseconds: Int32) throws(CallFailure) -> Int16 {
        try device(descriptor).poll(descriptor, events: events, milliseconds: milliseconds)
    }

    package func close(_ descriptor: Int32) {
        let device = open.withLock { $0.removeValue(forKey: descriptor) }
        device?.close(descriptor)
    }
}
