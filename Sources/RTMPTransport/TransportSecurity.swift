internal import Cryptography
internal import NIOCore
internal import NIOSSL

/// How a client trusts an `rtmps://` server. Verification of chain and host name cannot be turned off, and nothing
/// ever falls back to plain TCP.
public struct RTMPClientTLS: Equatable, Sendable {
    /// PEM file of the authorities to trust instead of the system's.
    public var authorityFile: String?
    /// SHA-256 of the server's SubjectPublicKeyInfo, 32 bytes; checked in addition to the chain.
    public var publicKeyPin: [UInt8]?

    public init(authorityFile: String? = nil, publicKeyPin: [UInt8]? = nil) {
        self.authorityFile = authorityFile
        self.publicKeyPin = publicKeyPin
    }

    func makeHandler(serverName: String) throws(RTMPTransportError) -> NIOSSLClientHandler {
        do {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.minimumTLSVersion = .tlsv12
            configuration.certificateVerification = .fullVerification
            if let authorityFile {
                configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(authorityFile))
            }
            let context = try NIOSSLContext(configuration: configuration)
            // SNI carries names only (RFC 6066 §3); an address is verified against the certificate's addresses.
            let name = Self.isAddress(serverName) ? nil : serverName
            return try NIOSSLClientHandler(context: context, serverHostname: name)
        } catch {
            throw RTMPTransportError(.tlsConfiguration("\(error)"))
        }
    }

    func accepts(_ certificate: NIOSSLCertificate?) -> Bool {
        guard let publicKeyPin else { return true }
        guard let certificate, let key = try? certificate.extractPublicKey().toSPKIBytes() else { return false }
        return Digest.sha256(key) == publicKeyPin
    }

    private static func isAddress(_ host: String) -> Bool {
        (try? SocketAddress(ipAddress: host, port: 0)) != nil
    }
}

/// A server's certificate chain and private key, as PEM files.
public struct RTMPServerTLS: Equatable, Sendable {
    public var certificateFile: String
    public var privateKeyFile: String

    public init(certificateFile: String, privateKeyFile: String) {
        self.certificateFile = certificateFile
        self.privateKeyFile = privateKeyFile
    }

    func makeContext() throws(RTMPTransportError) -> NIOSSLContext {
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(certificateFile).map {
                NIOSSLCertificateSource.certificate($0)
            }
            let key = try NIOSSLPrivateKey(file: privateKeyFile, format: .pem)
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain, privateKey: .privateKey(key))
            configuration.minimumTLSVersion = .tlsv12
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw RTMPTransportError(.tlsConfiguration("\(error)"))
        }
    }
}
