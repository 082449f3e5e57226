import Foundation

/// A key and a certificate that signs itself, as cameras have.
struct CertificateFiles {
    let certificate: String
    let key: String

    static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")

    init(_ name: String, in directory: TemporaryDirectory) throws {
        certificate = directory.path("\(name).pem")
        key = directory.path("\(name).key")
        let status = TestCamera.run(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=camera", "-keyout", key, "-out", certificate,
            ])
        guard status == 0 else { throw Failure(status: status) }
    }

    struct Failure: Error {
        var status: Int32
    }
}
