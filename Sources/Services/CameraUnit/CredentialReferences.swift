public import CameraModel
public import ErrorCatalog
internal import Settings
public import Systemd

/// `credential:NAME` in a camera's settings stands for a file that systemd decrypted for this unit alone.
public enum CredentialReferences {
    /// The settings with paths in place of the references. The camera's own secret comes before the box's; the plain
    /// ones are of boxes whose systemd cannot encrypt for an unprivileged process (before 256).
    ///
    /// The password of a network camera may be missing: then the camera is what says so, and the box shows it as every
    /// other refusal of a login.
    ///
    /// - Throws: `WB-1009` that names the secret.
    public static func resolve(
        _ configuration: CameraConfiguration, in directory: CredentialDirectory
    ) throws(CodedError) -> CameraConfiguration {
        var configuration = configuration
        let id = configuration.id
        if let file = configuration.relay.urlFile {
            configuration.relay.urlFile = try path(file, camera: id, in: directory)
        }
        if case .file(let file) = configuration.kas.token {
            configuration.kas.token = .file(try path(file, camera: id, in: directory))
        }
        if let file = configuration.kas.signingKeyFile {
            configuration.kas.signingKeyFile = try path(file, camera: id, in: directory)
        }
        if case .network(var network) = configuration.source, let file = network.passwordFile {
            network.passwordFile = try? path(file, camera: id, in: directory)
            configuration.source = .network(network)
        }
        return configuration
    }

    private static func path(
        _ reference: String, camera: String, in directory: CredentialDirectory
    ) throws(CodedError) -> String {
        guard let name = CredentialReference.name(in: reference) else { return reference }
        for scope in ["camera-\(camera)", "box", "plain-camera-\(camera)", "plain-box"] {
            if let path = directory.path("\(scope)_\(name)") { return path }
        }
        throw CodedError(
            .missingSecret, "the secret \"\(name)\" is not there",
            why: "systemd gave this unit no credential of that name", object: camera)
    }
}
