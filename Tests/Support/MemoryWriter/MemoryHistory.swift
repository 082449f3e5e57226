package import BoxMemory
internal import ONVIF

/// A history of a memory: its steps are numbered from 1, each is one call, and each leaves another state.
///
/// The writer makes it in a process that gets killed; the test makes it again, undisturbed, and compares.
package enum MemoryHistory {
    private static let cameras = (1...3).map { "00000000-0000-4000-8000-00000000000\($0)" }
    private static let source = "rtsp://192.0.2.1/main"

    /// Makes step `number` after all before it were made.
    package static func perform(_ number: Int, on memory: BoxMemory) throws(BoxMemoryError) {
        let camera = cameras[number % cameras.count]
        guard number > cameras.count else { return try memory.learned(reported(number), of: camera, at: source) }
        switch number % 8 {
        case 0: try memory.learned(LearnedCamera(profiles: profiles(number)), of: camera, at: source)
        case 1, 2: try memory.learned(LearnedCamera(firmware: "\(number)"), of: camera, at: source)
        case 3:
            try memory.append(
                StoredEvent(realtimeMicroseconds: Int64(number), topic: "camera.state", object: "a", text: "\(number)"))
        case 4: try memory.forget(camera)
        case 5:
            // The one that the step before forgot is back, so that there are always cameras to change.
            try memory.learned(reported(number), of: cameras[(number - 1) % cameras.count], at: source)
        case 6: try memory.setThumbnail(thumbnail(number), of: camera, at: source, taken: Int64(number))
        default: try memory.learned(LearnedCamera(lastConnected: Int64(number)), of: camera, at: source)
        }
    }

    /// Everything that the memory holds, as text.
    package static func state(of memory: BoxMemory) throws -> String {
        var text = ""
        for uuid in cameras {
            guard let camera = try memory.camera(uuid, at: source) else { continue }
            let thumbnail = try memory.thumbnail(of: uuid, at: source)
            text += "\(uuid) \(camera) \(thumbnail?.count ?? 0) \(thumbnail?.last ?? 0)\n"
        }
        for event in try memory.events(after: 0, limit: BoxMemory.eventLimit) { text += "\(event.id) \(event.text)\n" }
        return text
    }

    private static func reported(_ number: Int) -> LearnedCamera {
        LearnedCamera(
            manufacturer: "Example", model: "Model \(number)", identity: DeviceIdentity(serial: "S\(number % 3)"),
            address: "192.0.2.\(number % 200)", port: 554, profiles: profiles(number))
    }

    private static func profiles(_ number: Int) -> [StreamProfile] {
        (0...number % 3).map { index in
            StreamProfile(
                id: "profile-\(index)", name: "Profile \(number)", source: "rtsp://192.0.2.1/\(index)", width: 640,
                height: 360, rate: 25, codec: "h264")
        }
    }

    /// Some are larger than a page, so that a step has many frames in the log.
    private static func thumbnail(_ number: Int) -> [UInt8] {
        [0xff, 0xd8, 0xff] + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 100 + number * 700 % 20_000)
    }
}
