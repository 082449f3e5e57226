internal import CameraModel
internal import ControlAPI
internal import Discovery
internal import ErrorCatalog
internal import Logging
internal import RTSPIngest

extension NetworkTools {
    /// This machine's.
    static func system(logger: Logger) -> NetworkTools {
        NetworkTools(
            search: { request in try makeSearch(request, logger) },
            test: { request, progress in
                await StreamTest.run(
                    StreamTest.Subject(network: request.network, password: request.password), logger: logger,
                    progress: progress)
            },
            sightings: { near in await LookAround.sightings(near: near, logger: logger) },
            identity: { address in await LookAround.identity(at: address, logger: logger) },
            announcements: {
                let listener = AnnouncementListener(logger: logger)
                let heard = listener.announcements()
                // Whoever is slower than the network loses the oldest hints.
                let (stream, continuation) = AsyncStream.makeStream(
                    of: Announcement.self, bufferingPolicy: .bufferingNewest(64))
                let task = Task {
                    for await one in heard { continuation.yield(one) }
                    withExtendedLifetime(listener) { continuation.finish() }
                }
                continuation.onTermination = { _ in task.cancel() }
                return stream
            })
    }

    private static func makeSearch(_ request: DiscoveryRequest, _ logger: Logger) throws -> Search {
        var options = SearchOptions()
        options.multicast = request.multicast ?? true
        options.interfaces = request.interfaces
        options.allowsLarge = request.allowsLarge ?? false
        if let seconds = request.timeoutSeconds { options.timeout = .seconds(seconds) }
        if let ports = request.ports { options.ports = ports.compactMap { UInt16(exactly: $0) } }
        do throws(DiscoveryError) {
            for text in request.ranges ?? [] {
                options.ranges.append(try AddressRange(text, allowsLarge: options.allowsLarge))
            }
        } catch {
            throw CodedError(error)
        }
        // Each may be small enough, and all together are not.
        let count = options.ranges.reduce(0) { $0 + $1.count }
        let limit = options.allowsLarge ? AddressRange.limit : AddressRange.freeLimit
        guard count <= limit else {
            throw CodedError(
                .scanTooLarge, "the networks to search have \(count) addresses together",
                why: options.allowsLarge
                    ? "a search asks no more than \(limit)" : "more than \(limit) are asked only when that is confirmed"
            )
        }
        let chosen = options
        return { progress in
            do throws(DiscoveryError) {
                return try await Discovery.Search(chosen, logger: logger).run { now in
                    progress(
                        SearchProgress(
                            found: now.found.map { FoundCameraDocument($0) }, probed: now.probed, total: now.total,
                            remarks: now.problems))
                }.map { FoundCameraDocument($0) }
            } catch {
                throw CodedError(error)
            }
        }
    }
}

extension CodedError {
    init(_ error: DiscoveryError) {
        let code: ErrorCode =
            switch error {
            case .rangeNeedsConsent, .rangeTooLarge: .scanTooLarge
            case .invalidRange, .unknownInterface, .nothingToAsk: .badRequest
            case .noNetwork: .unreachable
            case .ranAlready, .system: .internalFault
            }
        self.init(code, "the network cannot be searched", why: "\(error)", hint: error.hint)
    }
}

extension FoundCameraDocument {
    init(_ device: FoundDevice) {
        self.init(
            kind: device.kind == .onvif ? .onvif : .rtsp, mark: device.needsLogin == true ? .needsLogin : .new,
            endpoint: device.endpoint, address: device.address, port: Int(device.port), name: device.name,
            manufacturer: device.manufacturer, hardware: device.hardware, location: device.location,
            firmware: device.firmware, serial: device.serial, rtspPorts: device.rtspPorts.map { Int($0) },
            urls: device.xaddrs,
            source: Self.plainSource(
                device.source, scheme: device.kind == .onvif ? "onvif" : "rtsp", address: device.address,
                port: Int(device.port)), networks: device.networks)
    }

    /// What is proposed for `camera add` is copied into shells. A path that the device made up with a character that
    /// means something there is left out: the address alone finds the device as well.
    static func plainSource(_ source: String, scheme: String, address: String, port: Int) -> String {
        let isPlain = source.utf8.allSatisfy { $0 > 32 && $0 < 127 && !ofShells.contains($0) }
        guard !isPlain else { return source }
        let host = address.contains(":") ? "[\(address)]" : address
        return scheme == "rtsp" ? "rtsp://\(host):\(port)/" : "\(scheme)://\(host)\(port == 80 ? "" : ":\(port)")"
    }

    private static let ofShells = Array(#";&$()'`"\<>|!*{}#^"#.utf8)
}
