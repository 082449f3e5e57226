internal import Wire

/// A media playlist of HTTP Live Streaming (RFC 8216), as profile P has it: version 7, complete, one key that FairPlay delivers.
public struct MediaPlaylist: Equatable, Sendable {
    public struct Segment: Equatable, Sendable {
        public var name: String
        /// In milliseconds.
        public var duration: Int

        public init(name: String, duration: Int) {
            self.name = name
            self.duration = duration
        }
    }

    /// What is wrong with a line; 0: with all of it.
    public struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
        public var line: Int
        public var reason: String

        public var description: String { line == 0 ? reason : "line \(line): \(reason)" }
    }

    static let keyFormat = "com.apple.streamingkeydelivery"
    private static let maxLineLength = 1024
    private static let independent = "#EXT-X-INDEPENDENT-SEGMENTS"

    /// What the key is asked for by: `skd://` and the asset's name.
    public var keyURI: String
    public var initName: String
    public var segments: [Segment]
    /// Each segment begins at a key frame, and needs none before it.
    public var isIndependent: Bool

    public init(assetID: String, initName: String, segments: [Segment], isIndependent: Bool = true) {
        keyURI = Self.keyURI(assetID)
        self.initName = initName
        self.segments = segments
        self.isIndependent = isIndependent
    }

    /// Seconds: durations, rounded to these, are at most this (§4.3.3.1).
    private var longest: Int { segments.map { ($0.duration + 500) / 1000 }.max() ?? 0 }

    public static func keyURI(_ assetID: String) -> String { "skd://\(assetID)" }

    public func encoded() -> [UInt8] {
        var lines = [
            "#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:\(max(1, longest))", "#EXT-X-MEDIA-SEQUENCE:0",
            "#EXT-X-PLAYLIST-TYPE:VOD",
        ]
        if isIndependent { lines.append(Self.independent) }
        lines += [
            "#EXT-X-MAP:URI=\"\(initName)\"",
            "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"\(keyURI)\",KEYFORMAT=\"\(Self.keyFormat)\",KEYFORMATVERSIONS=\"1\"",
        ]
        for segment in segments {
            let fraction = String(segment.duration % 1000 + 1000).dropFirst()
            lines += ["#EXTINF:\(segment.duration / 1000).\(fraction),", segment.name]
        }
        return Array((lines + ["#EXT-X-ENDLIST"]).joined(separator: "\n").utf8) + [UInt8(ascii: "\n")]
    }

    /// Reads one of profile P. Tags that change nothing of what a key is for, or of which file comes when, are passed over.
    public static func parse(_ bytes: [UInt8]) throws(Fault) -> MediaPlaylist {
        guard bytes.count <= PlayableContainer.maxHeadSize else {
            throw Fault(line: 0, reason: "\(bytes.count) bytes, at most \(PlayableContainer.maxHeadSize) are read")
        }
        var playlist = MediaPlaylist(assetID: "", initName: "", segments: [], isIndependent: false)
        var duration: Int?
        var target: Int?
        var version: Substring?
        var method: String?
        var isComplete = false
        var number = 0
        for raw in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            guard raw.count <= maxLineLength else { throw Fault(line: number, reason: "it is too long") }
            let line = String(decoding: raw.last == UInt8(ascii: "\r") ? raw.dropLast() : raw, as: UTF8.self)
            guard number > 1 || line == "#EXTM3U" else { throw Fault(line: 1, reason: "it is not #EXTM3U") }
            if line.isEmpty || number == 1 { continue }
            guard !isComplete else { throw Fault(line: number, reason: "it stands behind EXT-X-ENDLIST") }
            guard line.hasPrefix("#") else {
                guard let known = duration, PlayableContainer.isName(line) else {
                    throw Fault(line: number, reason: "a file without a duration, or not in the archive")
                }
                // Both are for what comes behind them: what is before is clear, or has no beginning.
                guard method != nil, !playlist.initName.isEmpty else {
                    throw Fault(line: number, reason: "a file before EXT-X-KEY or EXT-X-MAP")
                }
                guard playlist.segments.count < PlayableContainer.maxSegments else {
                    throw Fault(line: number, reason: "more than \(PlayableContainer.maxSegments) segments")
                }
                playlist.segments.append(Segment(name: line, duration: known))
                duration = nil
                continue
            }
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count == 2 ? parts[1] : ""
            switch parts[0] {
            case "#EXT-X-VERSION": version = value
            case independent: playlist.isIndependent = true
            case "#EXT-X-TARGETDURATION":
                guard target == nil, value.utf8.count <= 6, let known = UInt32(value) else {
                    throw Fault(line: number, reason: "it is no whole number, or there twice")
                }
                target = Int(known)
            case "#EXTINF":
                guard let known = milliseconds(value) else { throw Fault(line: number, reason: "it is no duration") }
                duration = known
            case "#EXT-X-MAP":
                guard playlist.initName.isEmpty, let name = attributes(value)["URI"], PlayableContainer.isName(name)
                else { throw Fault(line: number, reason: "a second map, or none of a file in the archive") }
                playlist.initName = name
            case "#EXT-X-KEY":
                let known = attributes(value)
                guard method == nil else { throw Fault(line: number, reason: "a second key") }
                method = known["METHOD"]
                guard method == "SAMPLE-AES", known["KEYFORMAT"] == keyFormat, let uri = known["URI"] else {
                    throw Fault(line: number, reason: "the key is not SAMPLE-AES of \(keyFormat)")
                }
                playlist.keyURI = uri
            case "#EXT-X-ENDLIST": isComplete = true
            case "#EXT-X-BYTERANGE", "#EXT-X-DISCONTINUITY", "#EXT-X-STREAM-INF", "#EXT-X-GAP":
                throw Fault(line: number, reason: "\(parts[0]) is not read here")
            default: break
            }
        }
        guard version.flatMap({ Int($0) }).map({ $0 >= 6 }) ?? false else {
            throw Fault(line: 0, reason: "no version from 6 on, which EXT-X-MAP needs")
        }
        guard method != nil else { throw Fault(line: 0, reason: "no EXT-X-KEY") }
        guard !playlist.initName.isEmpty else { throw Fault(line: 0, reason: "no EXT-X-MAP") }
        guard let target, target >= playlist.longest else {
            throw Fault(line: 0, reason: "no EXT-X-TARGETDURATION, or a segment is longer")
        }
        guard isComplete, duration == nil else { throw Fault(line: 0, reason: "no EXT-X-ENDLIST behind the last file") }
        return playlist
    }

    /// Of `EXTINF`: a decimal number up to the comma.
    private static func milliseconds(_ value: Substring) -> Int? {
        let number = value.prefix { $0 != "," }.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = number.first, whole.utf8.count <= 6, let seconds = UInt32(whole) else { return nil }
        guard number.count == 2 else { return Int(seconds) * 1000 }
        let digits = number[1].prefix(3)
        guard digits.allSatisfy(\.isASCII), let fraction = UInt32(digits) else { return nil }
        let scale = [1: 100, 2: 10, 3: 1][digits.count] ?? 1
        return Int(seconds) * 1000 + Int(fraction) * scale
    }

    /// An attribute list (§4.2): names, and values with or without quotes.
    private static func attributes(_ list: Substring) -> [String: String] {
        var found: [String: String] = [:]
        var rest = list
        while let equals = rest.firstIndex(of: "=") {
            let name = String(rest[..<equals])
            rest = rest[rest.index(after: equals)...]
            let isQuoted = rest.first == "\""
            if isQuoted { rest = rest.dropFirst() }
            let end = rest.firstIndex(of: isQuoted ? "\"" : ",") ?? rest.endIndex
            found[name] = String(rest[..<end])
            rest = rest[end...].drop { $0 == "\"" }
            if rest.first == "," { rest = rest.dropFirst() }
        }
        return found
    }
}
