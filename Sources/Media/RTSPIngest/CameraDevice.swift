internal import CameraModel
internal import ErrorCatalog
internal import HTTPClient
internal import Logging
internal import ONVIF
internal import ONVIFClient
internal import RTSP

/// A camera's ONVIF side: where it is, what it offers, and which of its streams is meant.
final class CameraDevice: Sendable {
    let device: ONVIFDevice
    let serviceURL: String

    init(_ access: ONVIFDevice.Access, logger: Logger) {
        serviceURL = access.url
        device = ONVIFDevice(access, logger: logger)
    }

    /// The profile that is meant.
    ///
    /// - Parameter requested: a token, or `main` or `sub` for the largest or smallest frame; nil: `main`.
    static func profile(
        _ requested: String?, of profiles: [NetworkStatistics.Profile]
    ) throws(PullFault) -> NetworkStatistics.Profile {
        let usable = profiles.filter { profile in
            guard profile.url != nil else { return false }
            return profile.codec.map { ["h264", "hevc", "h265", "mjpeg", "jpeg"].contains($0) } ?? true
        }
        if let exact = profiles.first(where: { $0.token == requested }) {
            guard exact.url != nil else {
                throw PullFault(.noSuchStream, "the camera reports no address for its profile \(exact.token)")
            }
            return exact
        }
        guard !usable.isEmpty else {
            throw PullFault(
                .unsupportedCodec, "the camera reports no profile with a stream that can be published", ending: .person
            )
        }
        func size(_ profile: NetworkStatistics.Profile) -> Int {
            let (area, overflow) = (profile.width ?? 0).multipliedReportingOverflow(by: profile.height ?? 0)
            return overflow ? 0 : area
        }
        switch requested ?? "main" {
        case "main":
            // Of two of one size the first: cameras list their main stream first.
            var best = usable[0]
            for profile in usable where size(profile) > size(best) { best = profile }
            return best
        case "sub":
            var best = usable[0]
            for profile in usable where size(profile) > 0 && (size(profile) < size(best) || size(best) == 0) {
                best = profile
            }
            return best
        default:
            let names = profiles.map(\.token).joined(separator: ", ")
            throw PullFault(
                .noSuchStream, "the camera has no profile of the configured name; it has \(names)",
                hint: "Choose one: watchboxctl camera edit ID --profile TOKEN", ending: .person)
        }
    }

    /// An address of the camera's without the passwords that it may have written into it; nil for one that is too long
    /// to be shown.
    static func shown(_ url: String?) -> String? {
        guard let url, url.utf8.count <= NetworkStatistics.maxURLLength else { return nil }
        return DeviceURL.shown(url)
    }

    /// For the camera store and for people: bounded, and without the passwords that cameras write into their own
    /// addresses.
    static func shown(_ device: NetworkStatistics.Device, keeping used: String? = nil) -> NetworkStatistics.Device {
        var result = device
        for index in result.profiles.indices {
            result.profiles[index].url = shown(result.profiles[index].url)
            result.profiles[index].snapshotURL = shown(result.profiles[index].snapshotURL)
        }
        return result.bounded(keeping: used)
    }
}
