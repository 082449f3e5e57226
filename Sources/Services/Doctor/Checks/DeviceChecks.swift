internal import BoxConfiguration
internal import CameraModel
internal import ControlAPI
internal import ErrorCatalog
internal import Glibc
internal import Platform
internal import VideoCapture

extension DoctorCheck {
    static let deviceChecks: [DoctorCheck] = [DoctorCheck("devices", examine: devices)]

    /// Whether the devices of the cameras that are to run are there, are cameras, and may be opened by their units.
    private static func devices(_ context: CheckContext) async -> Finding {
        guard let settings = await context.settings() else {
            return .unknown("the configuration cannot be read", hint: "Run it with sudo")
        }
        let devices = settings.cameras.filter(\.value.active).sorted { $0.key < $1.key }.compactMap { id, camera in
            CameraConfiguration.Device.path(ofSource: camera.source).map { (id, $0) }
        }
        let environment = context.environment
        return await OwnThread.value {
            // Names and sysfs only: a device that is opened could be disturbed.
            let nodes = CaptureNodes.find(root: environment.root, isOpening: false)
            guard !devices.isEmpty else {
                let cameras = nodes.count { $0.isCamera }
                return .ok("no camera is set to a device of this machine; \(counted(cameras, "camera")) found")
            }
            return Finding.worst(
                of: devices.map { id, path in
                    CSICameras.isName(path)
                        ? csi(id, path: path, environment) : device(id, path: path, nodes, environment)
                }) ?? .ok("none")
        } ?? .unknown("no thread can be made", hint: "Free some memory, then run it again")
    }

    /// Whether there is what speaks to it. libcamera is not asked: it sets up the sensors that it lists, also one that another process streams from.
    static func csi(_ id: String, path: String, _ environment: Environment) -> Finding {
        guard SmallFile.exists(environment.path(MachineCalls.helper)) else {
            let error = CaptureError.noHelper(path: path)
            return .fail("\(id): \(error.what). \(error.why)", .csiUnavailable, hint: error.hint)
        }
        return .ok("\(id): \(path), through libcamera")
    }

    private static func device(
        _ id: String, path: String, _ nodes: [CaptureNode], _ environment: Environment
    ) -> Finding {
        let place = environment.path(path)
        guard SmallFile.exists(place) else {
            return .fail("\(id): nothing is at \(path)", .deviceMissing)
        }
        let name = (SmallFile.link(place) ?? path).split(separator: "/").last.map(String.init) ?? path
        guard let node = nodes.first(where: { $0.device == "/dev/\(name)" }) else {
            return .fail("\(id): \(path) is not a video device", .deviceUnusable)
        }
        if case .rejected(let rejection) = node.verdict {
            return .fail("\(id): \(path) is not a camera. \(rejection.what)", .deviceUnusable, hint: rejection.hint)
        }
        if let obstacle = obstacle(place) {
            return .fail("\(id): \(path) \(obstacle)", .deviceNotPermitted)
        }
        if let stable = node.stableID ?? node.stablePath, path == node.device {
            return .warn(
                "\(id): \(path) may be another camera after the next boot",
                hint:
                    "Give it the name that stays: watchboxctl camera edit \(id) --source \(ShellWord.quoted(CameraConfiguration.Device.source(ofPath: stable)))"
            )
        }
        return .ok("\(id): \(node.card) at \(node.device)")
    }

    /// What keeps the units of cameras, which are in group `video`, from a device.
    private static func obstacle(_ path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFCHR, let video = getgrnam("video") else {
            return nil
        }
        return obstacle(mode: status.st_mode, group: status.st_gid, video: video.pointee.gr_gid)
    }

    /// - Parameter video: the number of the group `video`.
    /// - Returns: what follows the path of a device in a message; nil when members of `video` may read and write it.
    static func obstacle(mode: mode_t, group: gid_t, video: gid_t) -> String? {
        let members: mode_t = S_IRGRP | S_IWGRP
        let everybody: mode_t = S_IROTH | S_IWOTH
        // The kernel looks at what others may only for those who are not in the group.
        if group == video {
            guard mode & members != members else { return nil }
            let octal = String(mode & 0o777, radix: 8)
            return "belongs to group video, but its mode (\(octal)) does not let the group read and write"
        }
        if mode & everybody == everybody { return nil }
        return "belongs to group \(group), and cameras' units are in group video"
    }
}
