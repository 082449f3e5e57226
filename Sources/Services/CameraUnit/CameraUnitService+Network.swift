internal import CameraModel
internal import ControlAPI
internal import ErrorCatalog
internal import Wire

// Routes of cameras on the network. Who may connect to this socket is control and health; a person asks control.

extension CameraUnitService {
    var networkRoutes: [APIRoute] {
        [
            APIRoute(
                .post, APIPath.test(),
                "Try everything from the first packet to the first key frame, on a second connection next to the one that publishes.",
                response: "StreamTestReport"
            ) { _ in .document(try await self.test()) },
            APIRoute(.post, APIPath.ptz(), "Move a camera that has PTZ.", request: "PTZCommand") { request in
                let command = try request.decode(PTZCommand.self)
                try Self.check { () throws(ConfigurationError) in try command.validate() }
                try await self.network().move(command)
                return .noContent
            },
            APIRoute(
                .get, APIPath.presets(), "Positions that the camera has stored.", response: "PTZPresetListDocument",
                isForAdministrators: true
            ) { _ in .document(PTZPresetListDocument(presets: try await self.network().presets())) },
            APIRoute(
                .get, APIPath.encoders(), "Encoders inside the camera, and what they may be set to.",
                response: "CameraEncoderListDocument", isForAdministrators: true
            ) { _ in .document(CameraEncoderListDocument(encoders: try await self.network().encoders())) },
            APIRoute(
                .patch, APIPath.encoders(),
                "Change an encoder inside the camera; its stream may break off for a moment.",
                request: "CameraEncoder.Change"
            ) { request in
                let change = try request.decode(CameraEncoder.Change.self)
                try Self.check { () throws(ConfigurationError) in try change.validate() }
                try await self.network().configure(change)
                return .noContent
            },
            APIRoute(
                .post, APIPath.announced(),
                "A device that may be this camera is at an address; it has to prove that it is, or a person decides.",
                request: "AnnouncedRequest"
            ) { request in
                let announcement = try request.decode(AnnouncedRequest.self)
                try Self.check(announcement)
                try self.network().announced(
                    address: announcement.address, url: announcement.url, evidence: announcement.evidence ?? .endpoint,
                    isKeyShared: announcement.isKeyShared ?? false)
                return .noContent
            },
        ]
    }

    private func network() throws(CodedError) -> any NetworkSourceControl {
        guard let network = camera.network else {
            throw CodedError(
                .badRequest, "this camera is not on the network", why: "its source is of this machine",
                hint: "Ask this of a camera whose source is rtsp:// or onvif://")
        }
        return network
    }

    /// One at a time: cameras have few streams to give, and the one that publishes holds one already.
    private func test() async throws(CodedError) -> StreamTestReport {
        let network = try network()
        guard tests.begin() else {
            throw CodedError(.busy, "a test of this camera is running", hint: "Wait for it: it takes 20 s at most")
        }
        defer { tests.end() }
        return await network.test { _ in }
    }

    private static func check(_ body: () throws(ConfigurationError) -> Void) throws(CodedError) {
        do {
            try body()
        } catch {
            let problem = error.problems[0]
            throw CodedError(
                .invalidValue, "\(problem.field) \(problem.reason)", hint: problem.hint)
        }
    }

    /// Both came over the network from anybody.
    private static func check(_ announcement: AnnouncedRequest) throws(CodedError) {
        guard announcement.address.utf8.count >= 2, Names.isPlain(announcement.address, limit: 64, signs: ".:%-_")
        else {
            throw CodedError(.invalidValue, "address is not an IP address", hint: "Give the announcement's sender")
        }
        guard let url = announcement.url else { return }
        let isWeb = url.hasPrefix("http://") || url.hasPrefix("https://")
        guard isWeb, url.utf8.count <= 2048, url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), !url.contains("@")
        else {
            throw CodedError(
                .invalidValue, "url is not the address of a device service",
                hint: "Give http://… or https://… as announced, or leave it out")
        }
    }
}
