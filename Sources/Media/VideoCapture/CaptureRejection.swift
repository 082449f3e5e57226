extension CaptureNode {
    /// What a node is that is not a camera.
    public enum Rejection: Sendable, Equatable, CaseIterable {
        /// Encodes or decodes frames that it is given.
        case codec
        /// Scales or converts frames that it is given, or is one end of an image processor.
        case imageProcessor
        /// Gives a sensor's raw samples only.
        case rawBayer
        /// One stage of a camera that must be set up first (V4L2_CAP_IO_MC).
        case mediaController
        /// Describes the frames of another node.
        case metadata
        /// Shows frames.
        case output
        case radioOrTouch
        /// Gives no frames through memory that can be shared.
        case noStreaming
        /// Names no format at all.
        case noFormats
        /// No node of V4L2.
        case notVideo

        /// What it is and what to do, in one sentence each.
        public var reason: String { "\(what) \(hint)" }

        /// What it is.
        public var what: String {
            switch self {
            case .codec: "It is a video codec, which encodes or decodes frames that it is given."
            case .imageProcessor: "It is an image processor, which works on frames that it is given."
            case .rawBayer:
                "It is the receiver of a CSI camera and gives the sensor's raw samples (Bayer), which need an image processor."
            case .mediaController: "It is one stage of a camera pipeline that must be set up first."
            case .metadata: "It describes the frames of another node and has none of its own."
            case .output: "It shows frames and takes none."
            case .radioOrTouch: "It is a tuner, a touch panel, or something else without frames."
            case .noStreaming: "Its driver does not share its buffers (no streaming through mmap)."
            case .noFormats: "Its driver names no frame format."
            case .notVideo: "It is not a V4L2 device."
            }
        }

        /// What to do.
        public var hint: String {
            switch self {
            case .rawBayer, .mediaController:
                "Such cameras go through libcamera: install the Debian package watchbox-libcamera, and use the source csi:, as "
                    + "\"watchboxctl discover\" lists it."
            case .metadata: "Use the first node of the same camera; \"watchboxctl discover\" lists it."
            case .codec, .imageProcessor, .output, .radioOrTouch, .notVideo:
                "Choose one of the cameras that \"watchboxctl discover\" lists."
            case .noStreaming, .noFormats:
                "Use another camera, or a newer kernel whose driver for this one can."
            }
        }
    }
}
