import ArgumentParser
import BoxView
import Console
import FoundationEssentials
import KeyAccess
import KeyAccessServer

struct KASDeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "The device keys of publishers, without whose signature the KAS takes no registration of theirs.",
        discussion: """
            A stolen token alone then publishes nothing, and viewers can demand the device: watchboxctl play --publisher. \
            A publisher without a key here need not sign. To change a box's key: device next at the box, add it here, device \
            switch at the box, remove the old one here.
            """,
        subcommands: [KASDeviceAddCommand.self, KASDeviceListCommand.self, KASDeviceRemoveCommand.self])
}

/// Which publisher is meant.
struct KASHolderOptions: ParsableArguments {
    @Option(help: "Publisher: the sub of its tokens.")
    var subject: String

    @Option(help: "Issuer of the subject, when it is not the KAS itself.")
    var issuer: String = KeyAccessServerConfiguration.localIssuer

    var holder: AccessGrants.Holder { .init(issuer: issuer, subject: subject) }
}

struct KASDevicesDocument: Encodable {
    var schema = "watchbox.kas.devices/1"
    var devices: [RegisteredDevice]

    var table: Table {
        Table(
            [.init("SUBJECT"), .init("DEVICE KEY", isIdentifier: true), .init("SINCE", isIdentifier: true)],
            rows: devices.map { device in
                [
                    .init(
                        device.issuer == KeyAccessServerConfiguration.localIssuer
                            ? device.subject : "\(device.issuer) \(device.subject)"), .init(device.fingerprint),
                    .init(KASAccessDocument.date(device.addedAt)),
                ]
            })
    }
}

struct KASDeviceAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Register a device key for a publisher, which has to sign from now on.",
        discussion: """
            A running KAS knows it within seconds. A publisher has two keys at most.

              watchboxctl device key > box.pem        (at the box)
              watchboxctl kas device add --state DIR --subject box --key box.pem
            """)

    @OptionGroup var directory: KASStateOption
    @OptionGroup var publisher: KASHolderOptions

    @Option(help: "PEM file of the public key, as watchboxctl device key prints it; - for standard input.")
    var key: String

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try output.box.requireThisMachine()
        let fingerprint = try directory.register("no device was added") { register, now in
            try register.add(devicePEM: try Secret.given(file: key) ?? "", of: publisher.holder, now: now)
        }
        output.report(
            "\(publisher.subject) registers only what \(fingerprint) signed, within seconds.",
            Done(object: "kas.device.\(fingerprint)", action: "added"))
    }
}

struct KASDeviceListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "The device keys that are registered, by publisher and fingerprint.",
        discussion: "  watchboxctl kas device list --state DIR")

    @OptionGroup var directory: KASStateOption
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try output.box.requireThisMachine()
        let document = try directory.register("the devices cannot be listed") { register, _ in
            KASDevicesDocument(devices: register.registeredDevices)
        }
        output.show(document, rows: document.devices) { document.table }
    }
}

struct KASDeviceRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Take a device key away from a publisher. Without any it need not sign any more.",
        discussion: "  watchboxctl kas device remove --state DIR --subject box sha256//…")

    @Argument(help: "The key's fingerprint: watchboxctl kas device list.")
    var fingerprint: String

    @OptionGroup var directory: KASStateOption
    @OptionGroup var publisher: KASHolderOptions

    @Flag(help: "Also when it is the publisher's last: its token alone publishes again.")
    var last = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try output.box.requireThisMachine()
        let left = try directory.register("no device was removed") { register, _ in
            guard last || register.devices.keys(of: publisher.holder).count > 1 else {
                throw CommandFailure(
                    what: "no device was removed",
                    why: "it is the last one of \(publisher.subject): without it a stolen token publishes alone",
                    hint: "add the new one first, or say --last; against a thief: kas token revoke", status: .usage)
            }
            return try register.remove(deviceFingerprint: fingerprint, of: publisher.holder)
        }
        output.report(
            left > 0
                ? "What this device signs is refused within seconds."
                : "\(publisher.subject) need not sign any more, within seconds.",
            Done(object: "kas.device.\(fingerprint)", action: "removed"))
    }
}
