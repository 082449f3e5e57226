public import CameraModel
public import ErrorCatalog

/// What a camera's process passes on to its camera on the network; closures, as `CameraUnitService.Camera`.
public struct NetworkCamera: Sendable {
    public var test: @Sendable () async -> StreamTestReport
    public var move: @Sendable (PTZCommand) async throws(CodedError) -> Void
    public var presets: @Sendable () async throws(CodedError) -> [PTZPreset]
    public var encoders: @Sendable () async throws(CodedError) -> [CameraEncoder]
    public var configure: @Sendable (CameraEncoder.Change) async throws(CodedError) -> Void
    /// See `NetworkSourceControl.announced`.
    public var announced:
        @Sendable (
            _ address: String, _ url: String?, _ evidence: NetworkStatistics.Move.Evidence, _ isKeyShared: Bool
        ) -> Void

    public init(
        test: @escaping @Sendable () async -> StreamTestReport,
        move: @escaping @Sendable (PTZCommand) async throws(CodedError) -> Void,
        presets: @escaping @Sendable () async throws(CodedError) -> [PTZPreset],
        encoders: @escaping @Sendable () async throws(CodedError) -> [CameraEncoder],
        configure: @escaping @Sendable (CameraEncoder.Change) async throws(CodedError) -> Void,
        announced:
            @escaping @Sendable (
                _ address: String, _ url: String?, _ evidence: NetworkStatistics.Move.Evidence, _ isKeyShared: Bool
            ) -> Void
    ) {
        self.test = test
        self.move = move
        self.presets = presets
        self.encoders = encoders
        self.configure = configure
        self.announced = announced
    }

    public init(_ control: any NetworkSourceControl) {
        self.init(
            test: { await control.test { _ in } },
            move: { (command) async throws(CodedError) in try await control.move(command) },
            presets: { () async throws(CodedError) in try await control.presets() },
            encoders: { () async throws(CodedError) in try await control.encoders() },
            configure: { (change) async throws(CodedError) in try await control.configure(change) },
            announced: { control.announced(address: $0, url: $1, evidence: $2, isKeyShared: $3) })
    }
}
