internal import CameraModel
internal import ONVIF
internal import Platform
internal import Synchronization

extension ONVIFDevice {
    /// Asks for everything that is worth knowing (docs/ref/camera-notes.md, "Order of questions"), within a minute. What a device
    /// does not report, in time or at all, is left out and remarked upon; only without a connection or a login there is no description.
    public func describe() async throws(ONVIFError) -> DeviceDescription {
        try await describe(until: Clocks.boot + 60_000_000_000)
    }

    /// - Parameter deadline: of `Clocks.boot`.
    func describe(until deadline: UInt64) async throws(ONVIFError) -> DeviceDescription {
        state.withLock { $0.login?.beginRound() }
        let before = state.withLock { $0.requests }
        var description = DeviceDescription()
        try await prepareLogin(until: deadline)
        let services = try await services(until: deadline)
        // The first call that every device protects: here the login is found.
        if let answer = try await optional(DeviceInformation.request, until: deadline, &description) {
            let information = DeviceInformation(answer)
            description.device.manufacturer = information.manufacturer
            description.device.model = information.model
            description.device.firmware = information.firmware
            description.device.serial = DeviceIdentity(serial: information.serial).serial
        }
        async let network = outcome(DeviceInformation.networkRequest, at: serviceURL, until: deadline)
        async let endpoint = outcome(DeviceInformation.endpointRequest, at: serviceURL, .unproven, until: deadline)
        if let answer = try kept(await network, &description) {
            description.device.mac = DeviceInformation.hardwareAddress(answer)
        }
        // Seldom implemented: nothing to remark upon.
        if case .success(let answer) = await endpoint {
            description.device.endpoint = DeviceInformation.endpoint(answer)
        }
        let profiles = try await mediaProfiles(services, until: deadline, &description)
        description.device.profiles = profiles.map { profile in
            NetworkStatistics.Profile(profile, hasPTZ: services.ptz != nil && profile.ptzConfiguration != nil)
        }
        try await addURLs(of: profiles, services, until: deadline, &description)
        description.device.hasPTZ = description.device.profiles.contains { $0.hasPTZ }
        description.device.hasEvents = services.events != nil
        description.clock = knownClock
        state.withLock { state in
            description.login = state.login?.provenScheme ?? .none
            description.repairedAddresses += state.repaired
            description.requests = state.requests - before
        }
        return description
    }

    // MARK: calls that may fail

    private func outcome(
        _ request: ONVIFRequest, at url: String, _ protection: Protection = .protected, until deadline: UInt64
    ) async -> Result<XMLElement, ONVIFError> {
        do throws(ONVIFError) {
            return .success(try await call(request, at: url, protection, until: deadline))
        } catch {
            return .failure(error)
        }
    }

    private func optional(
        _ request: ONVIFRequest, until deadline: UInt64, _ description: inout DeviceDescription
    ) async throws(ONVIFError) -> XMLElement? {
        try kept(await outcome(request, at: serviceURL, until: deadline), &description)
    }

    /// Nil, and a remark, for what a device may leave out; everything else ends the description.
    private func kept(
        _ outcome: Result<XMLElement, ONVIFError>, _ description: inout DeviceDescription
    ) throws(ONVIFError) -> XMLElement? {
        switch outcome {
        case .success(let element): return element
        case .failure(let error):
            switch error {
            case .notSupported, .forbidden, .fault, .malformed, .timedOut, .notONVIF:
                if description.remarks.count < 64 { description.remarks.append("\(error)") }
                return nil
            case .unreachable, .loginNeeded, .loginRefused, .certificateChanged, .certificate, .invalidRequest,
                .cancelled, .unavailable:
                throw error
            }
        }
    }

    // MARK: services

    /// Asked once.
    func services(until deadline: UInt64 = .max) async throws(ONVIFError) -> DeviceServices {
        if let known = state.withLock({ $0.services }) { return known }
        var services = DeviceServices()
        var first: ONVIFError?
        do throws(ONVIFError) {
            services = DeviceServices(
                try await call(DeviceServices.request, at: serviceURL, .unproven, until: deadline))
        } catch {
            first = error
        }
        if services.isEmpty {
            if let first, !first.isOfOneCall { throw first }
            do throws(ONVIFError) {
                services = DeviceServices(
                    try await call(DeviceServices.oldRequest, at: serviceURL, .unproven, until: deadline))
            } catch {
                // One of the two is enough, and a device with neither may still serve everything at one address.
                guard error.isOfOneCall else { throw error }
                if let first, case .notONVIF = first { throw first }
            }
        }
        state.withLock { $0.services = services }
        return services
    }

    /// The address of a service, repaired; that of the device service when it gave none.
    func url(_ given: String?) -> String {
        guard let given, let reached = DeviceURL(serviceURL) else { return serviceURL }
        guard let used = AddressRepair(reached: reached).service(given) else {
            note(given, serviceURL)
            return serviceURL
        }
        note(given, used)
        return used
    }

    func url(of service: MediaService, _ services: DeviceServices) -> String {
        switch service {
        case .media: url(services.media)
        case .media2: url(services.media2)
        }
    }

    /// Both are shown to the operator, once.
    private func note(_ given: String, _ used: String) {
        guard let old = DeviceURL(given.isEmpty ? "-" : given), let new = DeviceURL(used),
            old.host != new.host || old.effectivePort != new.effectivePort
        else { return }
        state.withLock { state in
            let repaired = DeviceDescription.RepairedAddress(
                given: DeviceURL.shown(old.text), used: DeviceURL.shown(used))
            if state.repaired.count < 64, !state.repaired.contains(repaired) { state.repaired.append(repaired) }
        }
    }

    // MARK: profiles

    /// Media2 first, which has H.265; Media1 when that is missing, faulty, empty, or reports no encoder.
    func mediaProfiles(
        _ services: DeviceServices, until deadline: UInt64, _ description: inout DeviceDescription
    ) async throws(ONVIFError) -> [MediaProfile] {
        var profiles: [MediaProfile] = []
        if services.media2 != nil {
            let answer = await outcome(MediaService.media2.profilesRequest, at: url(services.media2), until: deadline)
            if let element = try kept(answer, &description) { profiles = MediaService.media2.profiles(element) }
        }
        if !profiles.contains(where: { $0.encoder != nil }), services.media != nil || services.media2 == nil {
            let answer = await outcome(MediaService.media.profilesRequest, at: url(services.media), until: deadline)
            if let element = try kept(answer, &description) {
                let old = MediaService.media.profiles(element)
                if profiles.isEmpty || old.contains(where: { $0.encoder != nil }) { profiles = old }
            }
        }
        state.withLock { $0.profiles = profiles }
        return profiles
    }

    /// For those who need profiles and no description.
    func mediaProfiles() async throws(ONVIFError) -> [MediaProfile] {
        if let known = state.withLock({ $0.profiles }) { return known }
        var description = DeviceDescription()
        return try await mediaProfiles(try await services(), until: .max, &description)
    }

    /// Two at a time, as many as a camera likes.
    private func addURLs(
        of profiles: [MediaProfile], _ services: DeviceServices, until deadline: UInt64,
        _ description: inout DeviceDescription
    ) async throws(ONVIFError) {
        guard let reached = DeviceURL(serviceURL) else { return }
        let repair = AddressRepair(reached: reached)
        var hasSnapshots = true
        for (index, profile) in profiles.enumerated() {
            guard Clocks.boot < deadline else {
                description.remarks.append(
                    "the camera is slow: streams from the \(index + 1). profile on were not asked for")
                return
            }
            let service = profile.service
            let address = url(of: service, services)
            async let stream = outcome(service.streamRequest(profile: profile.token), at: address, until: deadline)
            async let snapshot = snapshot(
                hasSnapshots, service.snapshotRequest(profile: profile.token), at: address, until: deadline)
            if let answer = try kept(await stream, &description), let given = service.address(answer) {
                description.device.profiles[index].url = repair.stream(given)
                if let used = description.device.profiles[index].url { note(given, used) }
            }
            switch await snapshot {
            case .success(let answer)?:
                let url = service.address(answer).flatMap { repair.service($0) }
                description.device.profiles[index].snapshotURL = url
            case .failure(.notSupported)?: hasSnapshots = false
            case .failure?, nil: break
            }
        }
    }

    private func snapshot(
        _ isNeeded: Bool, _ request: ONVIFRequest, at url: String, until deadline: UInt64
    ) async -> Result<XMLElement, ONVIFError>? {
        isNeeded ? await outcome(request, at: url, until: deadline) : nil
    }
}

extension ONVIFError {
    /// Another call may still be answered.
    fileprivate var isOfOneCall: Bool {
        switch self {
        case .notSupported, .forbidden, .fault, .malformed, .notONVIF: true
        case .unreachable, .timedOut, .loginNeeded, .loginRefused, .certificateChanged, .certificate, .invalidRequest,
            .cancelled, .unavailable:
            false
        }
    }
}

extension NetworkStatistics.Profile {
    init(_ profile: MediaProfile, hasPTZ: Bool) {
        self.init(
            token: profile.token, name: profile.name, service: profile.service.rawValue, codec: profile.encoder?.codec,
            width: profile.encoder?.size?.width, height: profile.encoder?.size?.height, rate: profile.encoder?.rate,
            bitrate: profile.encoder?.bitrate, gop: profile.encoder?.gop, hasPTZ: hasPTZ)
    }
}
