import ArgumentParser
import Console
import Platform
import RTMP
import RTMPTransport

struct RelayKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Show the publish key that the relay on this machine made for itself.",
        discussion: """
            Prints a secret: send it to a file that only its owner reads, and publish to rtmp://HOST/live/STREAM?key=KEY.

              watchboxctl relay key
            """)

    @Option(help: "State directory of the relay.")
    var state = "/var/lib/private/watchbox-relay"

    @Flag(help: "Print a JSON document.")
    var json = false

    @OptionGroup(visibility: .hidden) var box: HostOption

    private struct Document: Encodable {
        var schema = "watchbox.relay.key/1"
        /// `*`: for every stream.
        var stream = "*"
        var key: String
    }

    func run() async throws {
        try box.requireThisMachine()
        let line: String
        do {
            line = try TextFile.firstLine(of: state + "/publish-keys")
        } catch {
            throw CommandFailure(
                what: "there is no key to show",
                why:
                    "\(state) holds none that you may read; a relay makes one when other machines reach it, and it has no publish_keys and is not open",
                hint: "run it as root, after relay_server was enabled", status: .notFound)
        }
        guard line.hasPrefix("* = ") else {
            throw CommandFailure(
                what: "there is no key to show", why: "\(state)/publish-keys was not made by the relay",
                hint: "read that file itself", status: .notFound)
        }
        let key = String(line.dropFirst(4))
        StandardOutput.show(Document(key: key), json: json, [key])
    }
}

struct RelayLinkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link",
        abstract: "Make a link that begins to play one stream until it expires.",
        discussion: """
            The relay has to know the same secret (play_link_secret). Whoever has the link may play, so it is a secret as well.

              watchboxctl relay link rtmp://relay.example.net/live/door --secret-file links.secret --hours 8
            """)

    @Argument(help: "rtmp[s]://host/app/stream, as it is played without a link.")
    var url: String

    @Option(help: "File that holds the secret.")
    var secretFile: String

    @Option(help: "Hours that the link is good for, 1 to 8784.")
    var hours = 24

    @Flag(help: "Print a JSON document.")
    var json = false

    private struct Document: Encodable {
        var schema = "watchbox.relay.link/1"
        var url: String
        /// Seconds since 1970.
        var expiresAt: Int64
    }

    func validate() throws {
        guard (1...8784).contains(hours) else { throw ValidationError("--hours is 1 to 8784.") }
        if url.contains("@") || url.contains("?") {
            throw ValidationError("Name the URL without user, password and query.")
        }
    }

    func run() async throws {
        guard let address = try? RTMPURL(url), !address.streamName.isEmpty else {
            throw CommandFailure(
                what: "no link was made", why: "the URL is not understood",
                hint: "use rtmp://host/app/stream or rtmps://host/app/stream", status: .usage)
        }
        guard let secret = PlayLinkSecret(try TextFile.firstLine(of: secretFile)) else {
            throw CommandFailure(
                what: "no link was made", why: "the secret has fewer than \(PlayLinkSecret.minLength) characters",
                hint: "make one: openssl rand -hex 32 > FILE", status: .usage)
        }
        let expires = Clocks.wallSeconds + Int64(hours) * 3600
        let link = url + "?" + secret.query(path: "\(address.app)/\(address.streamName)", expires: expires)
        StandardOutput.show(Document(url: link, expiresAt: expires), json: json, [link])
    }
}
