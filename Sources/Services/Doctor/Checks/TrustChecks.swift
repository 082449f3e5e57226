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

    private static func certificates(_ knowledge: Knowledge) async -> Finding {
        guard let settings = await knowledge.settings() else {
            return .unknown("no configuration can be read", next: "Run it with sudo")
        }
        // All that some process reads: what is switched off may name a file that is not there yet.
        var named = settings.relays.values.map(\.caFile) + [settings.kas?.caFile]
        named += settings.hooks.values.filter(\.enabled).map(\.caFile)
        let (relay, kas) = (settings.relayServer, settings.kasServer)
        if relay.enabled { named += [relay.tlsCertificate, relay.forwardCAFile] }
        if kas.enabled { named.append(kas.tlsCertificate) }
        let files = Set(named.compactMap(\.self))
        guard !files.isEmpty else { return .ok("no file is set; the system's authorities are trusted") }
        let (paths, surroundings) = (files.sorted(), knowledge.surroundings)
        return await OwnThread.value {
            let findings = paths.map { certificate($0, surroundings, now: Clocks.wallSeconds) }
            return Finding.worst(of: findings) ?? .ok("none")
        } ?? .unknown("no thread can be made")
    }

    static func certificate(_ path: String, _ surroundings: Surroundings, now: Int64) -> Finding {
        let bytes: [UInt8]
        do throws(SmallFile.Failure) {
            bytes = try SmallFile.read(surroundings.path(path), atMost: CertificateValidity.textLimit + 1)
        } catch {
            return error.isPermission
                ? .unknown("\(path): this user may not read it")
                : .fail(
                    "\(path): \(error)", .unreadableFile,
                    next: "Put the certificate there, or correct the configuration")
        }
        let validities: [CertificateValidity]
        do throws(CertificateValidity.Failure) { validities = try CertificateValidity.all(pem: bytes) } catch {
            return .fail(
                "\(path): \(error)", .invalidValue, next: "Put the certificate there, or correct the configuration")
        }
        let (begin, end) = (validities.map(\.begin).max() ?? .min, validities.map(\.end).min() ?? .max)
        let days = (end - now) / 86_400
        if begin > now {
            return .fail(
                "\(path) is not valid before \(counted(Int((begin - now + 86_399) / 86_400), "day")) from now",
                .certificateRefused, next: "Check the clock, and the certificate")
        }
        if end <= now { return .fail("\(path) has ended \(counted(Int(-days), "day")) ago", .certificateExpires) }
        return days < 30
            ? .warn("\(path) ends in \(counted(Int(days), "day"))", .certificateExpires) : .ok("\(path) \(days) d")
    }

    private static func secrets(_ knowledge: Knowledge) async -> Finding {
        let surroundings = knowledge.surroundings
        var protection: CredentialStore.Protection?
        if case .success(let status) = await knowledge.status() {
            protection = CredentialStore.Protection(rawValue: status.secretProtection)
        }
        let told = protection
        return await OwnThread.value {
            if let path = openToOthers(surroundings) {
                return .fail(
                    "others may read \(path)", next: "Run: chmod o= \(path), and replace the secrets that were in it")
            }
            return word(told ?? guess(surroundings))
        } ?? .unknown("no thread can be made")
    }

    /// What the store would use if it were opened now: opening it would make its directories.
    private static func guess(_ surroundings: Surroundings) -> CredentialStore.Protection {
        let socket = surroundings.path("/run/systemd/io.systemd.Credentials")
        guard CredentialEncryption(socketPath: socket).isAvailable else { return .deviceKeyFile }
        return SmallFile.exists(surroundings.path("/sys/class/tpmrm/tpmrm0")) ? .systemdTPM : .systemdHostKey
    }

    private static func word(_ protection: CredentialStore.Protection) -> Finding {
        switch protection {
        case .systemdTPM: .ok("encrypted by systemd with this box's key and its TPM")
        case .systemdHostKey:
            .warn(
                "encrypted by systemd, but its key is on the same card (no TPM): who steals the card has the secrets",
                next: "Keep the box where nobody takes its card, or add a TPM")
        case .deviceKeyFile:
            .warn(
                "sealed with a key in a file beside them: who steals the card, or a backup of it, has the secrets",
                next: "systemd 256 or newer protects them better; keep the box where nobody takes its card")
        }
    }

    private static func openToOthers(_ surroundings: Surroundings) -> String? {
        let state = surroundings.stateDirectory
        for path in ["\(state)/device.key", "\(state)/sealed", "\(state)/credstore", "\(state)/kas"] {
            guard let status = SmallFile.status(surroundings.path(path)) else { continue }
            if status.st_mode & 0o007 != 0 { return path }
        }
        return nil
    }
}
