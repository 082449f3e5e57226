public import CameraModel
internal import ONVIF

extension ONVIFDevice {
    /// Every video encoder, and what it may be set to.
    public func encoders() async throws(ONVIFError) -> [CameraEncoder] {
        let (service, address, configurations) = try await encoderConfigurations()
        let profiles = try await mediaProfiles()
        var encoders: [CameraEncoder] = []
        for configuration in configurations {
            let options = await options(of: configuration, service, at: address)
            if let encoder = CameraEncoder(configuration, options: options, profiles: profiles) {
                encoders.append(encoder)
            }
        }
        return encoders
    }

    /// Changes an encoder inside the device; its stream may break off for a moment. Answers how it is set afterwards.
    ///
    /// - Throws: `.invalidRequest` for a value that the device says it does not take.
    @discardableResult
    public func setEncoder(_ change: CameraEncoder.Change) async throws(ONVIFError) -> CameraEncoder {
        let (service, address, configurations) = try await encoderConfigurations()
        let profiles = try await mediaProfiles()
        let ofProfile = profiles.first { $0.token == change.token }?.encoder?.token
        guard
            let old = configurations.first(where: { $0.token == change.token })
                ?? configurations.first(where: { $0.token == ofProfile })
        else {
            let tokens = configurations.map(\.token).joined(separator: ", ")
            throw .invalidRequest(reason: "the camera has no encoder \(change.token); it has: \(tokens)")
        }
        let options = await options(of: old, service, at: address)
        try Self.check(change, old, options)
        let element = old.changed(
            for: service, codec: change.codec, size: change.size.map { FrameSize($0) }, rate: change.rate,
            bitrate: change.bitrate, gop: change.gop)
        _ = try await call(service.setEncoderRequest(element), at: address)
        let new = try await encoderConfigurations().2.first { $0.token == old.token } ?? old
        guard let encoder = CameraEncoder(new, options: options, profiles: profiles) else {
            throw .malformed(operation: service.encodersRequest.operation, reason: "the encoder has no size any more")
        }
        return encoder
    }

    /// Of Media2 when it answers, else of Media1.
    private func encoderConfigurations() async throws(ONVIFError) -> (MediaService, String, [EncoderConfiguration]) {
        let services = try await services()
        var failure: ONVIFError?
        for service in [MediaService.media2, .media] where service == .media || services.media2 != nil {
            let address = url(of: service, services)
            do throws(ONVIFError) {
                let configurations = service.encoders(try await call(service.encodersRequest, at: address))
                if !configurations.isEmpty { return (service, address, configurations) }
            } catch {
                if failure == nil { failure = error }
            }
        }
        throw failure ?? .notSupported(operation: "GetVideoEncoderConfigurations: it reports no encoder")
    }

    /// Empty when the device does not say: then it decides by itself.
    private func options(
        of encoder: EncoderConfiguration, _ service: MediaService, at address: String
    ) async -> [EncoderOptions] {
        let request = service.encoderOptionsRequest(encoder: encoder.token)
        guard let answer = try? await call(request, at: address) else { return [] }
        return EncoderOptions.parse(answer)
    }

    private static func check(
        _ change: CameraEncoder.Change, _ old: EncoderConfiguration, _ options: [EncoderOptions]
    ) throws(ONVIFError) {
        let codec = change.codec ?? old.codec
        guard
            change.codec != nil || change.size != nil || change.rate != nil || change.bitrate != nil
                || change.gop != nil
        else { throw .invalidRequest(reason: "there is nothing to change") }
        if let rate = change.rate { try inside(rate, 0.1...1000, "rate", "frames per second") }
        if let bitrate = change.bitrate { try inside(bitrate, 1000...1_000_000_000, "bitrate", "bits per second") }
        if let gop = change.gop { try inside(gop, 1...100_000, "gop", "frames") }
        guard !options.isEmpty else { return }
        guard let allowed = options.first(where: { $0.codec == codec }) else {
            let codecs = options.map(\.codec).joined(separator: ", ")
            throw .invalidRequest(reason: "the encoder does not do \(codec); it does: \(codecs)")
        }
        if let size = change.size, !allowed.sizes.isEmpty, !allowed.sizes.contains(FrameSize(size)) {
            let sizes = allowed.sizes.prefix(20).map { "\($0.width)x\($0.height)" }.joined(separator: ", ")
            throw .invalidRequest(reason: "the encoder does not do \(size.width)x\(size.height); it does: \(sizes)")
        }
        if let rate = change.rate, let rates = allowed.rates { try inside(rate, rates, "rate", "frames per second") }
        if let bitrate = change.bitrate, let bitrates = allowed.bitrates {
            try inside(bitrate, bitrates, "bitrate", "bits per second")
        }
        if let gop = change.gop, let gops = allowed.gops { try inside(gop, gops, "gop", "frames") }
    }

    private static func inside<Number: Comparable>(
        _ value: Number, _ range: ClosedRange<Number>, _ name: String, _ unit: String
    ) throws(ONVIFError) {
        guard !range.contains(value) else { return }
        throw .invalidRequest(reason: "\(name) must be from \(range.lowerBound) to \(range.upperBound) \(unit)")
    }
}

extension CameraEncoder {
    /// Nil without a size.
    init?(_ configuration: EncoderConfiguration, options: [EncoderOptions], profiles: [MediaProfile]) {
        guard let size = configuration.size else { return nil }
        let present = options.first { $0.codec == configuration.codec }
        self.init(
            token: configuration.token, name: configuration.name,
            profiles: profiles.filter { $0.encoder?.token == configuration.token }.map(\.token),
            codec: configuration.codec, size: Size(size), rate: configuration.rate, bitrate: configuration.bitrate,
            gop: configuration.gop, codecs: options.map(\.codec), sizes: present?.sizes.map { Size($0) } ?? [],
            rates: present?.rates, bitrates: present?.bitrates, gops: present?.gops)
    }
}

extension CameraEncoder.Size {
    fileprivate init(_ size: FrameSize) { self.init(width: size.width, height: size.height) }
}

extension FrameSize {
    fileprivate init(_ size: CameraEncoder.Size) { self.init(width: size.width, height: size.height) }
}
