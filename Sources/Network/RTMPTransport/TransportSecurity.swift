internal import Cryptography
internal import NIOCore
internal import NIOSSL
internal import Synchronization

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

    /// - Parameter pin: "sha256//" and the Base64 of `publicKeyPin`; nil for none.
    /// - Throws: `.tlsConfiguration` for a string that is not a pin.
    public init(authorityFile: String?, pin: String?) throws(RTMPTransportError) {
        self.init(authorityFile: authorityFile)
        guard let pin else { return }
        guard let digest = CertificatePin.digest(pin: pin) else {
            throw RTMPTransportError(.tlsConfiguration("the pin of its public key is not sha256//BASE64"))
        }
        publicKeyPin = digest
    }

    func makeHandler(serverName: String) throws(RTMPTransportError) -> NIOSSLClientHandler {
        do {
            let context = try makeContext()
            // SNI carries names only (RFC 6066 §3); an address is verified against the certificate's addresses.
            let name = Self.isAddress(serverName) ? nil : serverName
            return try NIOSSLClientHandler(context: context, serverHostname: name)
        } catch {
            throw RTMPTransportError(.tlsConfiguration("\(error)"))
        }
    }

    private static let system = Mutex(SystemTrust())

    /// A file of the operator's is small and is read each time: a new one counts at once.
    func makeContext() throws -> NIOSSLContext {
        guard let authorityFile else { return try Self.system.withLock { try $0.context(at: MonotonicClock.now) } }
        return try Self.makeContext(trusting: .certificates(NIOSSLCertificate.fromPEMFile(authorityFile)))
    }

    fileprivate static func makeContext(trusting roots: NIOSSLTrustRoots) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.certificateVerification = .fullVerification
        configuration.trustRoots = roots
        return try NIOSSLContext(configuration: configuration)
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

/// The system's authorities, well over a hundred: parsed once an hour instead of at each reconnect. An updated set
/// counts from then on.
struct SystemTrust {
    /// Nanoseconds.
    static let lifetime: UInt64 = 3_600_000_000_000

    private var kept: (context: NIOSSLContext, since: UInt64)?

    mutating func context(at now: UInt64) throws -> NIOSSLContext {
        // Another thread may have looked at its clock later and come first.
        if let kept, now < kept.since || now - kept.since < Self.lifetime { return kept.context }
        let context = try RTMPClientTLS.makeContext(trusting: .default)
        kept = (context, now)
        return context
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
