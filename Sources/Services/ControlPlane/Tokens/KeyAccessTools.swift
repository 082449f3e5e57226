internal import KeyAccessClient
internal import Settings

/// What control asks a key access server; a test brings its own.
struct KeyAccessTools: Sendable {
    typealias Answer = Result<AccessTokenRenewer.Renewed, KeyAccessError>

    var renew: @Sendable (_ kas: KASConfiguration, _ token: String) async -> Answer
    /// A token for one stream alone, to publish it.
    var narrow: @Sendable (_ kas: KASConfiguration, _ token: String, _ stream: String) async -> Answer

    static let system = KeyAccessTools(
        renew: { kas, token in
            do throws(KeyAccessError) {
                return .success(try await AccessTokenRenewer(configuration: kas).renew(token))
            } catch {
                return .failure(error)
            }
        },
        narrow: { kas, token, stream in
            do throws(KeyAccessError) {
                return .success(try await AccessTokenRenewer(configuration: kas).narrow(token, stream: stream))
            } catch {
                return .failure(error)
            }
        })
}
