import BoxConfiguration
import Foundation
import Testing

@testable import BoxCommands

struct AdoptionSystemTests {
    static let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFnSZFcK3+GelpA+vB73nIzIrkJ6AGPpbRYa/Swj4WLg"

    private static func files(_ text: String) throws -> [SystemFile] {
        let file = try #require(AdoptionFile.read(Array(text.utf8)).file)
        return try AdoptionSystem.files(of: file, root: "/nowhere")
    }

    @Test func `a host name`() throws {
        let files = try Self.files("name = \"Front Door\"")
        #expect(files == [SystemFile("etc/hostname", "front-door\n", mode: 0o644)])
        // Without letters in it, one that stays: of no machine ID here.
        let other = try Self.files("name = \"日本\"")
        #expect(other.map(\.text) == ["watchbox-d939\n"])
    }

    @Test func `the authority of a server`() throws {
        let pem = "-----BEGIN CERTIFICATE-----\nMIIBfTCCASOg\n-----END CERTIFICATE-----\n"
        let files = try Self.files("[kas]\nurl = \"https://kas.lan/kas\"\nca = '''\n\(pem)'''")
        #expect(files == [SystemFile("etc/watchbox/ca-kas.pem", pem, mode: 0o644)])
    }

    @Test func `a fixed address on the cable`() throws {
        let files = try Self.files(
            """
            [network.ethernet]
            address = "192.168.1.20/24"
            gateway = "192.168.1.1"
            dns = ["192.168.1.1", "2001:db8::53"]
            """)
        #expect(files.map(\.path) == ["etc/systemd/network/40-watchbox-ethernet.network"])
        #expect(files.map(\.mode) == [0o644])
        #expect(files.map(\.restarts) == ["systemd-networkd.service"])
        #expect(
            files[0].text == """
                # Written by watchboxctl adopt, and again with the next file that is adopted.
                [Match]
                Type=ether
                Kind=!*

                [Network]
                MulticastDNS=yes
                Address=192.168.1.20/24
                Gateway=192.168.1.1
                DNS=192.168.1.1
                DNS=2001:db8::53

                """)
    }

    @Test func `an address of the router`() throws {
        #expect(
            try Self.files("network.ethernet = {}")[0].text == """
                # Written by watchboxctl adopt, and again with the next file that is adopted.
                [Match]
                Type=ether
                Kind=!*

                [Network]
                MulticastDNS=yes
                DHCP=yes
                LinkLocalAddressing=yes

                [DHCPv4]
                RouteMetric=100

                """)
    }

    @Test func `a wireless network, without its passphrase`() throws {
        let files = try Self.files("network.wifi = { ssid = \"IEEE\", password = \"password\", country = \"DE\" }")
        #expect(files.map(\.path) == ["etc/wpa_supplicant/wpa_supplicant-wlan0.conf"])
        #expect(files.map(\.mode) == [0o600])
        #expect(files.map(\.restarts) == ["wpa_supplicant@wlan0.service"])
        #expect(
            files[0].text == """
                # Written by watchboxctl adopt, and again with the next file that is adopted.
                ctrl_interface=DIR=/run/wpa_supplicant
                update_config=0
                country=DE

                network={
                \tssid=49454545
                \tkey_mgmt=WPA-PSK WPA-PSK-SHA256
                \tieee80211w=1
                \tpsk=f42c6fc52df0ebef9ebb4b90b38a5f902e83fe1b135a70e23aed762e9710a12e
                }

                """)
    }

    @Test func `a key of a wireless network passes, and what looks like syntax is digits`() throws {
        let key = String(repeating: "A0", count: 32)
        let files = try Self.files(
            "network.wifi = { ssid = \"a\\\"} #\", password = \"\(key)\", country = \"US\", hidden = true }")
        #expect(
            files[0].text.hasSuffix(
                """
                country=US

                network={
                \tssid=61227d2023
                \tscan_ssid=1
                \tkey_mgmt=WPA-PSK WPA-PSK-SHA256
                \tieee80211w=1
                \tpsk=\(key.lowercased())
                }

                """))
    }

    @Test func `who may log in`() throws {
        let files = try Self.files("admin_keys = [\"\(Self.key) me@laptop\", \"\(Self.key)\"]")
        #expect(files.map(\.path) == ["etc/ssh/authorized_keys/admin"])
        #expect(files.map(\.mode) == [0o644])
        #expect(files.map(\.restarts) == ["ssh.service"])
        #expect(
            files[0].text == """
                # Written by watchboxctl adopt, and again with the next file that is adopted.
                \(Self.key) me@laptop
                \(Self.key)

                """)
    }

    @Test func `what the file says nothing of is not written`() throws {
        #expect(try Self.files("kas.url = \"https://kas.example.net/kas\"") == [])
    }

    @Test func `a file is written with its mode, its directories are made, and the same one is left alone`() throws {
        let stage = try AdoptionStage()
        let file = SystemFile("etc/a/b/c.conf", "text\n", mode: 0o600)
        try file.write(below: stage.root)
        #expect(stage.text("root/etc/a/b/c.conf") == "text\n")
        #expect(stage.mode("root/etc/a/b/c.conf") == 0o600)
        #expect(stage.mode("root/etc/a/b").map { $0 & 0o022 } == 0)
        func inode() throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: "\(stage.root)/etc/a/b/c.conf")[.systemFileNumber] as? Int
        }
        let before = try inode()
        try file.write(below: stage.root)
        #expect(try inode() == before)
        // Another mode, or a link in its place, is not the same.
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644], ofItemAtPath: "\(stage.root)/etc/a/b/c.conf")
        try file.write(below: stage.root)
        #expect(stage.mode("root/etc/a/b/c.conf") == 0o600)
        try stage.write("text\n", to: "root/other")
        try FileManager.default.removeItem(atPath: "\(stage.root)/etc/a/b/c.conf")
        try FileManager.default.createSymbolicLink(
            atPath: "\(stage.root)/etc/a/b/c.conf", withDestinationPath: "\(stage.root)/other")
        try SystemFile("etc/a/b/c.conf", "new\n").write(below: stage.root)
        #expect(stage.text("root/other") == "text\n")
        #expect(stage.text("root/etc/a/b/c.conf") == "new\n")
    }
}
