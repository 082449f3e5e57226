import BoxConfiguration
import Console
import Cryptography
import Glibc
import Platform
import Wire

/// What adopting a file writes outside WatchBox, and which units read it again. All paths are here.
enum AdoptionSystem {
    /// Below the root of the system.
    static let hostName = "etc/hostname"
    /// Of systemd-networkd.
    static let ethernet = "etc/systemd/network/40-watchbox-ethernet.network"
    static let wirelessInterface = "wlan0"
    static let wireless = "etc/wpa_supplicant/wpa_supplicant-\(wirelessInterface).conf"
    /// Of the user `admin`, where sshd has `AuthorizedKeysFile /etc/ssh/authorized_keys/%u`.
    static let administratorKeys = "etc/ssh/authorized_keys/admin"
    private static let machineID = "etc/machine-id"

    private static let note = "# Written by watchboxctl adopt, and again with the next file that is adopted.\n"

    /// In the order in which they are written.
    ///
    /// - Parameter root: directory that stands for `/`.
    static func files(of file: AdoptionFile, root: String) throws(CryptoError) -> [SystemFile] {
        var files: [SystemFile] = []
        if let name = file.name {
            files.append(SystemFile(hostName, "\(HostName.derived(from: name, suffix: suffix(root)))\n"))
        }
        if let ethernet = file.ethernet {
            files.append(SystemFile(Self.ethernet, text(ethernet), restarts: "systemd-networkd.service"))
        }
        // Before the objects that name them are taken.
        files += file.authorities.map { SystemFile(String($0.path.dropFirst()), $0.text) }
        if let wireless = file.wireless {
            files.append(
                SystemFile(
                    Self.wireless, try text(wireless), mode: 0o600,
                    restarts: "wpa_supplicant@\(wirelessInterface).service"))
        }
        if let keys = file.administratorKeys {
            let lines = keys.map { $0.line + "\n" }.joined()
            // sshd reads it again at each login; it runs only where there are keys.
            files.append(SystemFile(administratorKeys, note + lines, restarts: "ssh.service"))
        }
        return files
    }

    /// For systemd.network(5).
    static func text(_ settings: EthernetSettings) -> String {
        // A cable of the machine itself, not what programs make.
        // It stands before the image's own file for cables, and so says all that that says: the name on the local network, and that a
        // cable comes before Wi-Fi.
        var text = note + "[Match]\nType=ether\nKind=!*\n\n[Network]\nMulticastDNS=yes\n"
        if let address = settings.address {
            text += "Address=\(address)\n"
            if let gateway = settings.gateway { text += "Gateway=\(gateway)\n" }
        } else {
            text += "DHCP=yes\nLinkLocalAddressing=yes\n"
        }
        for server in settings.nameServers { text += "DNS=\(server)\n" }
        return text + (settings.address == nil ? "\n[DHCPv4]\nRouteMetric=100\n" : "")
    }

    /// For wpa_supplicant.conf(5). Names and keys are digits: whatever is in them, they are no syntax.
    static func text(_ settings: WirelessSettings) throws(CryptoError) -> String {
        let ssid = Array(settings.ssid.utf8)
        let key =
            WirelessSettings.isKey(settings.password)
            ? settings.password.lowercased()
            : Hexadecimal.encode(
                try PBKDF2.sha1(passphrase: Array(settings.password.utf8), salt: ssid, iterations: 4096, count: 32))
        return note + """
            ctrl_interface=DIR=/run/wpa_supplicant
            update_config=0
            country=\(settings.country)

            network={
            \tssid=\(Hexadecimal.encode(ssid))
            \(settings.isHidden ? "\tscan_ssid=1\n" : "")\tkey_mgmt=WPA-PSK WPA-PSK-SHA256
            \tieee80211w=1
            \tpsk=\(key)
            }

            """
    }

    /// Four digits that stay with this machine, and say nothing of its ID.
    private static func suffix(_ root: String) -> String {
        let identifier = SmallFile.line("\(root)/\(machineID)") ?? ""
        return String(Hexadecimal.encode(Digest.sha256(Array("watchbox host name \(identifier)".utf8))).prefix(4))
    }
}

/// A file of the system that an adoption writes.
struct SystemFile: Equatable, Sendable {
    /// Below the root, without a first slash.
    var path: String
    var text: String
    var mode: UInt32
    /// The unit that reads it; nil: it is read at the next start.
    var restarts: String?

    init(_ path: String, _ text: String, mode: UInt32 = 0o644, restarts: String? = nil) {
        self.path = path
        self.text = text
        self.mode = mode
        self.restarts = restarts
    }

    /// The old one or the new one, whenever power is lost. One that is the same already is left alone.
    func write(below root: String) throws(FileFailure) {
        let target = "\(root)/\(path)"
        let bytes = Array(text.utf8)
        guard !isThere(target, bytes) else { return }
        try makeDirectories(below: root)
        try DurableFile.replace(target, with: bytes, mode: mode)
    }

    private func isThere(_ target: String, _ bytes: [UInt8]) -> Bool {
        var status = stat()
        guard lstat(target, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o7777 == mode else {
            return false
        }
        return (try? SmallFile.whole(target, limit: 64 << 10)) == bytes
    }

    private func makeDirectories(below root: String) throws(FileFailure) {
        var directory = root
        for part in path.split(separator: "/").dropLast() {
            directory += "/\(part)"
            guard mkdir(directory, 0o755) != 0 else { continue }
            guard errno == EEXIST else { throw FileFailure(call: "mkdir", path: directory, number: errno) }
        }
    }
}
