internal import BoxConfiguration
internal import ErrorCatalog
internal import Glibc
internal import Platform

extension DoctorCheck {
    static let networkCameraChecks: [DoctorCheck] = [DoctorCheck("ipcameras", examine: networkCameras)]

    /// Whether something answers where the network cameras that are to run are; no login is tried.
    private static func networkCameras(_ context: CheckContext) async -> Finding {
        guard let settings = await context.settings() else {
            return .unknown("the configuration cannot be read", hint: "Run it with sudo")
        }
        let active = settings.cameras.filter { $0.value.active && $0.value.isNetworkCamera }
            .sorted { $0.key < $1.key }.map { (id: $0.key, source: $0.value.source) }
        guard !active.isEmpty else { return .ok("no camera of the network is set") }
        guard !context.environment.isOffline else { return CheckContext.Absence.offline.finding }
        let findings = await withTaskGroup(of: (String, Finding).self) { group in
            for camera in active {
                group.addTask { (camera.id, await reach(camera.id, camera.source)) }
            }
            var findings: [(String, Finding)] = []
            for await finding in group { findings.append(finding) }
            return findings
        }
        return Finding.worst(of: findings.sorted { $0.0 < $1.0 }.map(\.1)) ?? .ok("none")
    }

    private static func reach(_ id: String, _ source: String) async -> Finding {
        guard let endpoint = Endpoint(source) else { return .fail("\(id): its source has no host", .invalidValue) }
        let outcome = await OwnThread.result { () throws(Reachability.Failure) in
            try Reachability.connect(endpoint.host, endpoint.port)
        }
        let place = "\(endpoint.host):\(endpoint.port)"
        switch outcome {
        case .success(let times)?: return .ok("\(id) \(place): TCP \(times.connect.tenths) ms")
        case .failure(.name(let why, _))?:
            return .fail("\(id): \(endpoint.host) is not found: \(why)", .cameraUnreachable)
        case .failure(.port(let why, _))?:
            // Makers put ONVIF at several ports: the camera's process tries them all.
            if source.hasPrefix("onvif:"), why == SystemMessage.text(ECONNREFUSED) {
                return .ok("\(id) \(endpoint.host) is there")
            }
            return .fail("\(id): \(place) does not answer: \(why)", .cameraUnreachable)
        case nil: return .unknown("\(id): no thread can be made")
        }
    }
}
