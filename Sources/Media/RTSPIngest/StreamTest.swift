public import CameraModel
public import Logging
internal import Platform

/// Tries a network camera from the first packet to the first key frame, and says step by step what it found.
public enum StreamTest {
    public struct Subject: Sendable {
        /// Its `passwordFile` and `memoryFile` are not looked at.
        public var network: CameraConfiguration.Network
        public var password: String?
        /// With no pin: take whatever certificate is shown, and report its pin; else TLS without a pin is refused.
        public var trustsFirstCertificate = true
        /// What its process learned of it: where its ONVIF service is, and the certificates that were shown.
        var memory: CameraCache?

        public init(network: CameraConfiguration.Network, password: String?, trustsFirstCertificate: Bool = true) {
            self.network = network
            self.password = password
            self.trustsFirstCertificate = trustsFirstCertificate
        }
    }

    /// - Parameters:
    ///   - deadline: for all of it.
    ///   - progress: the report so far, after each step; from another thread.
    /// - Returns: the whole report; what was cancelled says so.
    public static func run(
        _ subject: Subject, deadline: Duration = .seconds(20), logger: Logger,
        progress: @escaping @Sendable (StreamTestReport) -> Void
    ) async -> StreamTestReport {
        let test = StreamTestRun(subject, deadline: deadline, logger: logger, progress: progress)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isStarted = OwnThread.start(stackBytes: OwnThread.codingStackBytes) {
                    continuation.resume(returning: test.run())
                }
                if !isStarted { continuation.resume(returning: test.withoutThread()) }
            }
        } onCancel: {
            test.cancel()
        }
    }
}
