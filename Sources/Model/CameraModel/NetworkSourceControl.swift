public import ErrorCatalog

/// A camera on the network that runs: what can be asked of it besides its frames. From any thread.
public protocol NetworkSourceControl: AnyObject, Sendable {
    /// Tries everything from the first packet to the first key frame, with the settings and the password of this
    /// camera, on a connection of its own.
    func test(_ progress: @escaping @Sendable (StreamTestReport) -> Void) async -> StreamTestReport

    /// - Throws: WB-2118 when the camera has no PTZ or refuses, else as any request to it.
    func move(_ command: PTZCommand) async throws(CodedError)
    func presets() async throws(CodedError) -> [PTZPreset]

    /// What each of the camera's encoders may be set to.
    func encoders() async throws(CodedError) -> [CameraEncoder]
    /// Changes an encoder inside the camera; its stream may break off for a moment.
    func configure(_ encoder: CameraEncoder.Change) async throws(CodedError)

    /// Who hears of motion, tampering and inputs as the camera reports them, and of motion that lasts already when its reports begin;
    /// on the threads of the source, which it must not block.
    func observeSensors(_ observer: @escaping @Sendable (SensorEvent) -> Void)

    /// A device that may be the camera is at this address. While the camera is away it is followed there if a
    /// certificate's key that was known before proves it; else the move is reported (`NetworkStatistics.moves`), and that
    /// device gets nothing.
    ///
    /// - Parameters:
    ///   - url: of its ONVIF device service, as announced.
    ///   - evidence: what it has in common with the camera.
    ///   - isKeyShared: another camera shows the same key, which proves nothing then.
    func announced(address: String, url: String?, evidence: NetworkStatistics.Move.Evidence, isKeyShared: Bool)
}

extension NetworkSourceControl {
    /// Of a camera whose key no other shows.
    public func announced(address: String, url: String?, evidence: NetworkStatistics.Move.Evidence) {
        announced(address: address, url: url, evidence: evidence, isKeyShared: false)
    }
}
