package import CameraStore
internal import Foundation
internal import Settings

/// A history of a store: its steps are numbered from 1, each is one call, and each leaves another state.
///
/// The writer makes it in a process that gets killed; the test makes it again, undisturbed, and compares.
package enum StoreHistory {
    package static let cameras = ["front", "garage", "back-door"]

    /// Makes step `number` after all before it were made.
    package static func perform(_ number: Int, on store: CameraStore) throws(CameraStoreError) {
        let id = cameras[number % cameras.count]
        guard number > cameras.count else {
            return try store.add(camera(id, number), profiles: profiles(id, number))
        }
        switch number % 8 {
        case 0: try store.setProfiles(profiles(id, number), of: id)
        case 1, 2: try store.put(StoredObject(kind: "relay", name: "main", json: #"{"step":\#(number)}"#))
        case 3:
            try store.append(
                StoredEvent(realtimeMicroseconds: Int64(number), topic: "camera.state", object: id, text: "\(number)"))
        case 4:
            try store.remove(id)
        case 5:
            // The one that the step before removed is back, so that there are always cameras to change.
            let missing = cameras[(number - 1) % cameras.count]
            try store.add(camera(missing, number), profiles: profiles(missing, number))
        case 6: try store.setThumbnail(thumbnail(number), of: id)
        default: try store.setConnected(id, at: Int64(number))
        }
    }

    /// Everything that the store holds, as text.
    package static func state(of store: CameraStore) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        var text = ""
        for record in try store.records() {
            let camera = record.camera
            text += String(decoding: try encoder.encode(record), as: UTF8.self) + "\n"
            let thumbnail = try store.thumbnail(of: camera.id)
            text += "\(camera.id) \(camera.revision) \(camera.lastConnected ?? 0) "
            text += "\(thumbnail?.count ?? 0) \(thumbnail?.last ?? 0)\n"
        }
        for object in try store.objects(kind: "relay") { text += "\(object.name) \(object.revision) \(object.json)\n" }
        for event in try store.events(after: 0, limit: CameraStore.eventLimit) { text += "\(event.id) \(event.text)\n" }
        return text
    }

    private static func camera(_ id: String, _ number: Int) -> Camera {
        var digits = String(number, radix: 16)
        digits = String(repeating: "0", count: 12 - digits.count) + digits
        return Camera(
            id: id, uuid: "00000000-0000-4000-8000-\(digits)", name: "Camera \(number)",
            source: "rtsp://192.0.2.\(number % 200)/main", gridPosition: number, added: Int64(number),
            settings: ["rate": .integer(Int64(number)), "audio": .boolean(true)])
    }

    private static func profiles(_ id: String, _ number: Int) -> [StreamProfile] {
        (0...number % 3).map { index in
            StreamProfile(
                id: "profile-\(index)", camera: id, name: "Profile \(number)", source: "rtsp://192.0.2.1/\(index)",
                width: 640, height: 360, rate: 25, codec: "h264", isDefault: index == 0)
        }
    }

    /// Some are larger than a page, so that a step has many frames in the log.
    private static func thumbnail(_ number: Int) -> [UInt8] {
        [0xff, 0xd8, 0xff] + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 100 + number * 700 % 20_000)
    }
}
