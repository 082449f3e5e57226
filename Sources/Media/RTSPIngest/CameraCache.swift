internal import CameraModel
internal import Cryptography
internal import FoundationEssentials
internal import Glibc
internal import Platform
internal import Wire

/// What a camera's process learned of its camera, from one start to the next. Nothing in it is a secret, and nothing in
/// it is needed: without it, or with a damaged one, all is learned again.
struct CameraCache: Codable, Equatable, Sendable {
    /// The configured URL that all this is about: of another camera nothing is believed.
    var url: String
    /// Digest of the settings that it was learned under (see `digest(of:)`); nil: unknown.
    var settings: String?
    /// Of the stream's certificate, as `CameraConfiguration.Network.pin`.
    var pin: String?
    /// Of the ONVIF service's certificate, which may be another one.
    var servicePin: String?
    /// Which of the camera's clocks its logins go by, as ONVIFClient names it.
    var clock: String?
    /// How it was logged in last, as ONVIFClient names it.
    var scheme: String?
    /// Of the ONVIF device service: as configured, or where the camera proved to be itself by its certificate's key.
    var serviceURL: String?
    /// Of the stream of an `rtsps://` camera that moved and proved to be itself by its certificate's key.
    var movedURL: String?
    /// IP address where it was reached last.
    var address: String?
    /// URL of the stream by profile (its token).
    var streams: [String: String] = [:]
    /// Of the ONVIF device, once it is known.
    var serial: String?
    var mac: String?
    var endpoint: String?
    /// Sources to which it seemed to have moved last: under one that a person accepts the keys stay known.
    var proposed: [String]?

    static let maxFileSize = 64 << 10
    private static let maxTextLength = 4096
    private static let maxStreams = 64

    init(url: String) {
        self.url = url
    }

    /// What the file says of this camera. A file that is not there, cannot be read, or is about something else says
    /// nothing.
    static func load(_ path: String?, url: String) -> CameraCache {
        guard let memory = read(path), memory.url == url else { return CameraCache(url: url) }
        return memory
    }

    private static func read(_ path: String?) -> CameraCache? {
        guard let path, let bytes = try? SmallFile.whole(path, limit: maxFileSize),
            let memory = try? JSONDecoder().decode(CameraCache.self, from: Data(bytes)), memory.isPlausible
        else { return nil }
        return memory
    }

    /// What the file says of the camera of these settings. It says nothing when it was written under another address,
    /// user or pin: a camera that was removed may have had the same ID. Under an address that was proposed for the
    /// camera, keys and identity stay: who accepts a move has not accepted another certificate.
    static func load(_ path: String?, for network: CameraConfiguration.Network) -> CameraCache {
        let settings = digest(of: network)
        var new = CameraCache(url: network.url)
        new.settings = settings
        guard let memory = read(path) else { return new }
        if memory.url == network.url, memory.settings == settings { return memory }
        var former = network
        former.url = memory.url
        guard memory.settings == digest(of: former), memory.proposed?.contains(network.url) == true else { return new }
        (new.pin, new.servicePin, new.clock) = (memory.pin, memory.servicePin, memory.clock)
        (new.serial, new.mac, new.endpoint) = (memory.serial, memory.mac, memory.endpoint)
        return new
    }

    /// Makes the file one of these settings: what was learned under others is gone before anyone reads it.
    ///
    /// - Returns: why it could not be done; then the file is not to be read. Nil when it is done.
    static func prepare(_ network: CameraConfiguration.Network) -> String? {
        guard let path = network.memoryFile else { return nil }
        let memory = load(path, for: network)
        guard memory != read(path) else { return nil }
        guard let reason = memory.store(path) else { return nil }
        // A file that is not there does no harm.
        return unlink(path) == 0 || errno == ENOENT ? nil : reason
    }

    /// Of what must be the same for the memory to be believed: URL, user and pin. Nothing in it is a secret.
    static func digest(of network: CameraConfiguration.Network) -> String {
        var bytes: [UInt8] = []
        for text in [network.url, network.user, network.pin] {
            // With the length no two lists are one text; without it an empty text would be as none.
            bytes += Array((text.map { "\($0.utf8.count):\($0);" } ?? "-;").utf8)
        }
        return Hexadecimal.encode(Digest.sha256(bytes))
    }

    /// - Returns: why it could not be written; nil when it was.
    func store(_ path: String) -> String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        guard isPlausible, let data = try? encoder.encode(self), data.count <= Self.maxFileSize else {
            return "\(path): more than \(Self.maxFileSize) bytes"
        }
        do throws(FileFailure) {
            // Flushed: after a power cut the pin must be the one that was seen first, and not an empty file.
            try DurableFile.replace(path, with: [UInt8](data))
            return nil
        } catch {
            return "\(error)"
        }
    }

    private var isPlausible: Bool {
        let texts = [settings, pin, servicePin, clock, scheme, serviceURL, movedURL, address, serial, mac, endpoint]
            .compactMap {
                $0
            }
        return streams.count <= Self.maxStreams && proposed?.count ?? 0 <= Self.maxStreams
            && (texts + (proposed ?? []) + streams.keys + streams.values).allSatisfy { text in
                text.utf8.count <= Self.maxTextLength && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
            }
    }
}
