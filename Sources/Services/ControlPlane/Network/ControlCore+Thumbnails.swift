internal import BoxConfiguration
internal import BoxMemory
internal import ControlAPI
internal import ErrorCatalog

extension ControlCore {
    /// Of one camera.
    static let thumbnailPeriod = Duration.seconds(60)
    /// How often one goes to the disk: a memory card wears out by writing.
    private static let thumbnailStorePeriod = Duration.seconds(900)
    static let thumbnailBytes = 256 << 10
    private static let thumbnailWidth = 320

    /// Begins to take the thumbnail that is due, of one network camera that is live; never two at a time.
    func observeThumbnails(_ streams: [StreamDocument]) {
        guard thumbnailTask == nil else { return }
        let now = clock.sinceBoot()
        let due = streams.filter { stream in
            guard stream.state == .live, current.settings.cameras[stream.camera]?.isNetworkCamera == true,
                speaksOfItsSource(stream)
            else { return false }
            return network[stream.camera]?.thumbnailAt.map { now - $0 >= Self.thumbnailPeriod } ?? true
        }
        // The one that waits for longest.
        func order(_ stream: StreamDocument) -> Duration { network[stream.camera]?.thumbnailAt ?? .zero }
        guard let id = due.min(by: { order($0) < order($1) })?.camera else { return }
        network[id, default: NetworkMemory()].thumbnailAt = now
        let (arrival, source) = (arrivals[id], current.settings.cameras[id]?.source)
        thumbnailTask = Task {
            let frame: [UInt8]?
            if let user = try? await self.user(of: id) {
                frame = try? await self.processes.snapshot(
                    of: id, user: user, width: Self.thumbnailWidth, limit: Self.thumbnailBytes)
            } else {
                frame = nil
            }
            self.took(frame, of: id, arrival: arrival, source: source)
        }
    }

    private func took(_ frame: [UInt8]?, of id: String, arrival: Int?, source: String?) {
        thumbnailTask = nil
        guard let frame, frame.count <= Self.thumbnailBytes, let camera = current.settings.cameras[id],
            arrivals[id] == arrival, camera.source == source
        else { return }
        thumbnails[id] = frame
        // In clear on the disk only for an owner who wants that.
        guard current.settings.previews else { return }
        let now = clock.sinceBoot()
        guard network[id]?.thumbnailStoredAt.map({ now - $0 >= Self.thumbnailStorePeriod }) ?? true,
            let stored = rememberedCamera(id)
        else { return }
        network[id, default: NetworkMemory()].thumbnailStoredAt = now
        // A full disk costs a thumbnail.
        try? memory?.setThumbnail(frame, of: stored.uuid, at: stored.source, taken: clock.seconds)
    }

    /// The newest thumbnail, also of a camera that is away.
    func thumbnail(_ id: String) throws -> [UInt8] {
        _ = try requireCamera(id)
        if let frame = thumbnails[id] { return frame }
        if current.settings.previews, let camera = rememberedCamera(id),
            let frame = try? memory?.thumbnail(of: camera.uuid, at: camera.source)
        {
            return frame
        }
        throw CodedError(
            .notFound, "there is no thumbnail of \(id) yet", why: "one is taken once a minute while it is live",
            hint: "Run: watchboxctl camera snapshot \(id) --output FILE", object: id)
    }
}
