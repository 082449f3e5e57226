public import Media
internal import Platform
internal import VideoCodec

/// One frame as PNG: that of the latest key frame, written at the end, or the first one at once.
public final class SnapshotSink: MediaSink {
    private let path: String
    private let takesFirst: Bool
    private var format: VideoFormat?
    private var keyFrame: AccessUnit?

    public private(set) var isSatisfied = false

    /// - Parameter takesFirst: be satisfied with the first frame.
    public init(path: String, takesFirst: Bool) {
        self.path = path
        self.takesFirst = takesFirst
    }

    public func consume(_ event: MediaEvent, _ provenance: ViewerSession.Provenance?) throws(ViewerError) {
        switch event {
        case .videoFormat(let new): format = new
        case .audioFormat: break
        case .accessUnit(let unit):
            guard unit.track.isVideo, unit.isKeyFrame, !isSatisfied else { return }
            keyFrame = unit
            if takesFirst { try write() }
        }
    }

    public func finish() throws(ViewerError) {
        if !isSatisfied { try write() }
    }

    private func write() throws(ViewerError) {
        guard let format, let keyFrame else { throw .output("no video came that \(path) could show") }
        var png: [UInt8]?
        do {
            let decoder = try VideoDecoder(format)
            func keep(_ frame: borrowing VideoFrame, _: MediaTime) throws(VideoCodecError) {
                if png == nil { png = try PNGWriter.encode(frame) }
            }
            try decoder.decode(keyFrame, keep)
            try decoder.finish(keep)
        } catch {
            throw .output("the frame for \(path) cannot be decoded: \(error)")
        }
        guard let png else {
            throw .output("the frame for \(path) cannot be decoded: the key frame gives none")
        }
        do throws(FileFailure) {
            let file = try UnfinishedFile(path)
            try file.append(png[...])
            try file.finish(replaces: true)
        } catch {
            throw .output("\(path): \(error.reason)")
        }
        isSatisfied = true
    }
}
