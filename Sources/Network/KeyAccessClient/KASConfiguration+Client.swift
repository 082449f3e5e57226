public import HTTPClient
public import Settings

extension KASConfiguration {
    /// `base` without its `/kas`: where WatchBox's own endpoints are.
    var root: String {
        base.hasSuffix("/kas") ? String(base.dropLast(4)) : base
    }

    /// One client for all requests to this KAS, so that they share connections.
    public func makeHTTPClient() -> HTTPClient {
        HTTPClient(
            configuration: HTTPClient.Configuration(
                certificateAuthorityFile: certificateAuthorityFile, publicKeyPin: publicKeyPin))
    }
}
