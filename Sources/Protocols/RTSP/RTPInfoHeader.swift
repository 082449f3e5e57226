/// The RTP-Info header (RFC 2326 §12.33): `url=rtsp://…;seq=1;rtptime=2, url=…`.
enum RTPInfoHeader {
    struct Entry: Equatable, Sendable {
        var url: String?
        var sequence: UInt16?
        var timestamp: UInt32?
    }

    static func parse(_ text: String) -> [Entry] {
        // An address may hold commas of its own: an entry begins where `url=` or a parameter does that the last one
        // has.
        var entries: [Entry] = []
        for part in HeaderParameters.split(text, at: UInt8(ascii: ",")).prefix(2 * SessionDescription.maxMedia) {
            let parameters = HeaderParameters(part)
            let isEntry = ["url", "seq", "rtptime"].contains(parameters.items.first?.name ?? "")
            guard isEntry, entries.count < SessionDescription.maxMedia else {
                if let last = entries.indices.last { entries[last].fill(from: parameters, continuing: part) }
                continue
            }
            entries.append(
                Entry(
                    url: parameters["url"],
                    sequence: parameters["seq"].flatMap { CameraText.number($0, as: UInt16.self) },
                    timestamp: parameters["rtptime"].flatMap { CameraText.number($0, as: UInt32.self) }))
        }
        return entries
    }

    /// Which medium each entry means: by its address, else by its end, else by its place. Entries that say nothing are
    /// left out.
    static func assign(_ entries: [Entry], to tracks: [(media: Int, url: String, control: String?)])
        -> [PlayInformation]
    {
        var free = tracks
        var found: [PlayInformation] = []
        for (place, entry) in entries.enumerated() {
            var index: Int?
            if let url = entry.url, !url.isEmpty {
                index =
                    free.firstIndex { $0.url == url }
                    ?? free.firstIndex { track in track.control.map { !$0.isEmpty && url.hasSuffix($0) } ?? false }
            }
            if index == nil, entries.count == tracks.count, place < tracks.count {
                index = free.firstIndex { $0.media == tracks[place].media }
            }
            guard let index else { continue }
            let track = free.remove(at: index)
            if entry.sequence == nil, entry.timestamp == nil { continue }
            found.append(PlayInformation(media: track.media, sequence: entry.sequence, timestamp: entry.timestamp))
        }
        return found
    }
}

extension RTPInfoHeader.Entry {
    fileprivate mutating func fill(from parameters: HeaderParameters, continuing part: String) {
        if let url, let rest = part.split(separator: ";", maxSplits: 1).first { self.url = url + "," + rest }
        sequence = sequence ?? parameters["seq"].flatMap { CameraText.number($0, as: UInt16.self) }
        timestamp = timestamp ?? parameters["rtptime"].flatMap { CameraText.number($0, as: UInt32.self) }
    }
}
