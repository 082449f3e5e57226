internal import BoxConfiguration
internal import ControlAPI
internal import CredentialStore
internal import Cryptography
internal import ErrorCatalog
internal import Glibc
internal import Platform
internal import Systemd

extension DoctorCheck {
    static let trustChecks: [DoctorCheck] = [
        DoctorCheck("certificates", examine: certificates),
        DoctorCheck("secrets", examine: secrets),
    ]

    private static func certificates(_ context: CheckContext) async -> Finding {
        guard let settings = await context.settings() else {
            return .unknown("no configuration can be read", hint: "Run it with sudo")
        }
        // All that some process reads: what is switched off may name a file that is not there yet.
        var named = settings.relays.values.map(\.caFile) + [settings.kas?.caFile]
        named += settings.hooks.values.filter(\.enabled).map(\.caFile)
        let (relay, kas) = (settings.relayServer, settings.kasServer)
        if relay.enabled { named += [relay.tlsCertificate, relay.forwardCAFile] }
        if kas.enabled { named.append(kas.tlsCertificate) }
        let files = Set(named.compactMap(\.self))
        guard !files.isEmpty else { return .ok("no file is set; the system's authorities are trusted") }
        let (paths, environment) = (files.sorted(), context.environment)
        return await OwnThread.value {
            let findings = paths.map { certificate($0, environment, now: Clocks.wallSeconds) }
            return Finding.worst(of: findings) ?? .ok("none")
        } ?? .unknown("no thread can be made")
    }

    static func certificate(_ path: String, _ environment: Environment, now: Int64) -> Finding {
        let bytes: [UInt8]
        do throws(SmallFile.Failure) {
            bytes = try SmallFile.read(environment.path(path), atMost: CertificateValidity.textLimit + 1)
        } catch {
            return error.isPermission
                ? .unknown("\(path): this user may not read it")
                : .fail(
                    "\(path): \(error)", .unreadableFile,
                    hint: "Put the certificate there, or correct the configuration")
        }
        let validities: [CertificateValidity]
        do throws(CertificateValidity.Failure) { validities = try CertificateValidity.all(pem: bytes) } catch {
            return .fail(
                "\(path): \(error)", .invalidValue, hint: "Put the certificate there, or correct the configuration")
        }
        let (begin, end) = (validities.map(\.begin).max() ?? .min, validities.map(\.end).min() ?? .max)
        let days = (end - now) / 86_400
        if begin > now {
            return .fail(
                "\(path) is not valid before \(counted(Int((begin - now + 86_399) / 86_400), "day")) from now",
                .certificateRefused, hint: "Check the clock, and the certificate")
        }
        if end <= now { return .fail("\(path) has ended \(counted(Int(-days), "day")) ago", .certificateExpires) }
        return days < 30
            ? .warn("\(path) ends in \(counted(Int(days), "day"))", .certificateExpires) : .ok("\(path) \(days) d")
    }

    private static func secrets(_ context: CheckContext) async -> Finding {
        let environment = context.environment
        var protection: CredentialStore.Protection?
        if case .success(let status) = await context.status() {
            protection = CredentialStore.Protection(rawValue: status.secretProtection)
        }
        let reported = protection
        return await OwnThread.value {
            if let path = openToOthers(environment) {
                return .fail(
                    "others may read \(path)", hint: "Run: chmod o= \(path), and replace the secrets that were in it")
            }
            return word(reported ?? guess(environment))
        } ?? .unknown("no thread can be made")
    }

    /// What the store would use if it were opened now: opening it would make its directories.
    private static func guess(_ environment: Environment) -> CredentialStore.Protection {
        let socket = environment.path("/run/systemd/io.systemd.Credentials")
        guard CredentialEncryption(socketPath: socket).isAvailable else { return .deviceKeyFile }
        return SmallFile.exists(environment.path("/sys/class/tpmrm/tpmrm0")) ? .systemdTPM : .systemdHostKey
    }

    private static func word(_ protection: CredentialStore.Protection) -> Finding {
        switch protection {
        case .systemdTPM: .ok("encrypted by systemd with this box's key and its TPM")
        case .systemdHostKey:
            .warn(
                "encrypted by systemd, but its key is on the same card (no TPM): whoever steals the card has the secrets",
                hint: "Keep the box where no one can take its card, or add a TPM")
        case .deviceKeyFile:
            .warn(
                "sealed with a key in a file beside them: whoever steals the card, or a backup of it, has the secrets",
                hint: "systemd 256 or newer protects them better; keep the box where no one can take its card")
        }
    }

    private static func openToOthers(_ environment: Environment) -> String? {
        let state = environment.stateDirectory
        for path in ["\(state)/device.key", "\(state)/sealed", "\(state)/credstore", "\(state)/kas"] {
            guard let status = SmallFile.status(environment.path(path)) else { continue }
            if status.st_mode & 0o007 != 0 { return path }
        }
        return nil
    }
}
