internal import ErrorCatalog
internal import RTMP
public import Settings
internal import TOML
internal import Wire

extension AdoptionFile {
    /// - Parameter name: of the file, for issues.
    /// - Returns: the file, nil when something of it is refused; and all that is wrong with it or incomplete, by line.
    public static func read(
        _ bytes: [UInt8], name: String = "watchbox.toml"
    ) -> (file: AdoptionFile?, issues: [ConfigurationIssue]) {
        var reader = AdoptionReader(name)
        reader.read(bytes)
        return reader.finish()
    }
}

/// Takes out of a file what only an adoption file has, and leaves the objects to the configuration's own reader.
struct AdoptionReader {
    private static let name = "name"
    private static let keys = "admin_keys"
    private static let network = "network"
    /// Where what belongs elsewhere belongs, by its key; for who writes it below the wrong line in brackets.
    private static let homes: [(keys: [String], home: String)] = [
        ([name, keys, network], "Write it at the top of the file, before the first line in brackets"),
        (
            ["ssid", "country", "wifi_password"],
            "It belongs in network.wifi = { ssid = \"…\", password = \"…\", country = \"…\" }"
        ),
        (["address", "gateway", "dns"], "It belongs in network.ethernet = { … }"),
    ]

    private var reading = Reading()
    private var place: Place
    private let fileName: String
    private var file = AdoptionFile()

    init(_ name: String) {
        fileName = name
        place = Place(file: KeyText.shownFile(name))
    }

    mutating func read(_ bytes: [UInt8]) {
        guard let text = text(bytes), let document = reading.document(SourceFile(name: fileName, text: text), place)
        else { return }
        if document.entries.allSatisfy({ $0.key == "version" }) {
            return report("", "says nothing", "Write what the box is to be, such as name = \"Porch\"")
        }
        // First, since the object `box` takes it over.
        for entry in document.entries where entry.key == Self.name {
            let at = place.at(entry.node)
            take(KeyTable.box.key(Self.name), WrittenValue(entry.node.value), at)
        }
        for entry in document.entries where entry.key != "version" && entry.key != Self.name {
            let at = place.at(entry.node)
            let value = WrittenValue(entry.node.value)
            switch entry.key {
            case Self.keys: takeKeys(value, at)
            case Self.network: takeNetwork(entry, at)
            case let key where KeyTable.object(key) != nil: takeObject(entry)
            default: reportUnknown(entry.key, at)
            }
        }
        if let name = file.name, document["box"] == nil {
            reading.add(StoredPart(object: "box", settings: [Self.name: .string(name)]), number: 0)
        }
    }

    func finish() -> (file: AdoptionFile?, issues: [ConfigurationIssue]) {
        var (reading, file) = (reading, file)
        let (settings, issues) = reading.finish()
        guard let settings else { return (nil, issues) }
        file.objects = settings
        file.secrets.sort { $0.key < $1.key }
        file.authorities.sort { $0.key < $1.key }
        return (file, issues)
    }

    // MARK: Text

    private mutating func text(_ bytes: [UInt8]) -> String? {
        let saving = "Save it as UTF-8; in Notepad: Save as, Encoding: UTF-8"
        if bytes.count > AdoptionFile.sizeLimit {
            report(
                .unreadableFile, "is longer than \(AdoptionFile.sizeLimit >> 10) KiB", "Check that it is the right file"
            )
        } else if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            report(.unreadableFile, "is saved as UTF-16", saving)
        } else if let text = String(validating: bytes, as: UTF8.self) {
            return text
        } else {
            let position = TOMLPosition(line: ConfigurationFiles.lineOfFirstInvalid(bytes), column: 1)
            reading.report(.unreadableFile, place, at: position, "", "is not UTF-8 in this line", saving)
        }
        return nil
    }

    private mutating func report(_ code: ErrorCode, _ reason: String, _ hint: String) {
        reading.report(code, place, "", reason, hint)
    }

    private mutating func report(_ key: String, _ reason: String, _ hint: String) {
        reading.report(.invalidValue, place, key, reason, hint)
    }

    // MARK: Keys at the top

    private mutating func reportUnknown(_ key: String, _ at: Place) {
        let names = [Self.name, Self.network, Self.keys] + KeyTable.objects.map(\.name) + ["version"]
        let (reason, hint) = Self.unknown(key, among: names)
        reading.report(.unknownKey, at, at: at.position(), KeyText.shown(key), reason, hint)
    }

    /// What is said of a key that is not known where it stands.
    private static func unknown(_ key: String, among names: [String]) -> (reason: String, hint: String) {
        if let home = homes.first(where: { $0.keys.contains(key) }), !names.contains(key) {
            return ("is not known here", home.home)
        }
        let meant = NearestName.nearest(key, in: names)
        let table = KeyTable.objects.first {
            $0.key(key) != nil || ClearSecretKey.of($0.name).contains { $0.name == key }
        }
        let hint =
            meant.map { "Write `\($0)`" } ?? table.map { "It belongs in a table, such as [\($0.title)]" }
            ?? "Use one of \(names.joined(separator: ", "))"
        return ("is not known\(meant.map { ", did you mean `\($0)`?" } ?? "")", hint)
    }

    private mutating func take(_ definition: KeyDefinition?, _ value: WrittenValue, _ at: Place) {
        do {
            guard case .string(let name)? = try definition?.check(value, of: "box") else { return }
            file.name = name
        } catch {
            reading.report(.invalidValue, at, at: at.position(), Self.name, error.reason, error.hint)
        }
    }

    private mutating func takeKeys(_ value: WrittenValue, _ at: Place) {
        guard case .array(let elements) = value else {
            return reading.report(
                .invalidValue, at, at: at.position(), Self.keys, "is \(value.kind), but must be a list of strings",
                "Use [\"ssh-ed25519 AAAA… you@laptop\"], with one key in each pair of quotes")
        }
        guard elements.count <= SSHPublicKey.countLimit else {
            return reading.report(
                .invalidValue, at, at: at.position(), Self.keys, "has more than \(SSHPublicKey.countLimit) keys",
                "Take some out")
        }
        var keys: [SSHPublicKey] = []
        for (index, element) in elements.enumerated() {
            do throws(Finding) {
                guard case .string(let line) = element else {
                    throw Finding("is \(element.kind), but must be a string", SSHPublicKey.hint)
                }
                keys.append(try SSHPublicKey(line))
            } catch {
                reading.report(
                    .invalidValue, at, at: at.position(), "\(Self.keys)[\(index + 1)]", error.reason, error.hint)
            }
        }
        file.administratorKeys = keys
    }

    // MARK: Network

    private mutating func takeNetwork(_ entry: TOMLTable.Entry, _ at: Place) {
        guard case .table(let tables) = entry.node.value else {
            return reading.report(
                .invalidValue, at, at: at.position(), Self.network,
                "is \(WrittenValue(entry.node.value).kind), but must be a table",
                "Write network.ethernet = { … } or network.wifi = { … }")
        }
        for table in tables.entries {
            let at = at.at(table.node)
            let object = "\(Self.network).\(KeyText.shown(table.key))"
            guard ["ethernet", "wifi"].contains(table.key) else {
                let (reason, hint) = Self.unknown(table.key, among: ["ethernet", "wifi"])
                reading.report(.unknownKey, at, at: at.position(), object, reason, hint)
                continue
            }
            guard case .table(let nodes) = WrittenValue(table.node.value) else {
                reading.report(
                    .invalidValue, at, at: at.position(), object,
                    "is \(WrittenValue(table.node.value).kind), but must be a table", "Write \(object) = { … }")
                continue
            }
            var keys = NetworkTable(object: object, place: at, nodes: nodes)
            if table.key == "ethernet" {
                file.ethernet = keys.ethernet(&reading)
            } else {
                file.wireless = keys.wireless(&reading)
            }
            for key in nodes.keys.sorted() where !keys.known.contains(key) {
                let (reason, hint) = Self.unknown(key, among: keys.known)
                reading.report(
                    .unknownKey, at, at: at.position(key), "\(object).\(KeyText.shown(key))", reason, hint)
            }
        }
    }

    // MARK: Objects

    private mutating func takeObject(_ entry: TOMLTable.Entry) {
        var secrets: [ObjectSecret] = []
        var authorities: [AdoptionAuthority] = []
        let name = file.name
        reading.add(entry, place) { candidate, nodes in
            var complaints = Self.takeSecrets(candidate, &nodes, &secrets)
            if Self.hasAuthority(candidate.definition), let node = nodes[AdoptionAuthority.name] {
                do throws(Finding) {
                    guard nodes[AdoptionAuthority.reference] == nil else {
                        throw Finding("is there beside `\(AdoptionAuthority.reference)`", "Take one of them out")
                    }
                    let authority = try AdoptionAuthority(of: candidate.object, node)
                    nodes[AdoptionAuthority.name] = nil
                    nodes[AdoptionAuthority.reference] = .string(authority.path)
                    authorities.append(authority)
                } catch {
                    complaints[AdoptionAuthority.name] = (.invalidValue, error)
                }
            }
            if candidate.definition.name == "box", let name {
                if nodes[Self.name] != nil {
                    complaints[Self.name] = (
                        .invalidValue,
                        Finding("is there twice: `name` at the top says it as well", "Take one of them out")
                    )
                } else {
                    nodes[Self.name] = .string(name)
                }
            }
            return complaints
        }
        file.secrets += secrets
        file.authorities += authorities
    }

    private static func hasAuthority(_ definition: ObjectDefinition) -> Bool {
        definition.key(AdoptionAuthority.reference) != nil
    }

    /// Moves what is secret from the object into the list; the object names it from then on, as after `relay add`.
    private static func takeSecrets(
        _ candidate: Candidate, _ nodes: inout [String: WrittenValue], _ secrets: inout [ObjectSecret]
    ) -> [String: (code: ErrorCode, finding: Finding)] {
        let definition = candidate.definition
        let clear = ClearSecretKey.of(definition.name)
        var complaints: [String: (code: ErrorCode, finding: Finding)] = [:]
        var names = definition.keys.map(\.name) + clear.map(\.name)
        if hasAuthority(definition) { names.append(AdoptionAuthority.name) }
        for key in nodes.keys where !names.contains(key) {
            let (reason, hint) = unknown(key, among: names)
            complaints[key] = (.unknownKey, Finding(reason, hint))
        }
        for (key, value) in nodes {
            guard case .string(let text) = value, text.contains(where: { "@?#".contains($0) }),
                let advice = advice(definition.name, key), let known = definition.key(key)
            else { continue }
            do throws(Finding) { _ = try known.check(value, of: candidate.object) } catch {
                complaints[key] = (.invalidValue, Finding(error.reason, advice))
            }
        }
        for key in clear {
            guard let node = nodes[key.name] else { continue }
            do throws(Finding) {
                let secret = ObjectSecret(key.place(candidate.id), try key.check(node))
                guard key.name != "password" || nodes["user"] != nil else {
                    throw Finding("has no `user` beside it", "Write the name of the login at the camera as `user`")
                }
                secrets.append(secret)
                nodes[key.name] = nil
            } catch {
                complaints[key.name] = (.invalidValue, error)
            }
            if let reference = key.reference, nodes[reference.key] == nil {
                let isNamed = definition.isNamed
                nodes[reference.key] = .string(isNamed ? reference.prefix + candidate.id : reference.prefix)
            }
        }
        return complaints
    }

    /// What to do with a secret that stands in a place of the configuration.
    private static func advice(_ table: String, _ key: String) -> String? {
        switch (table, key) {
        case ("relay", "url"), ("hook", "url"):
            "Write it as `secret_url` instead of `url`: then it is encrypted on the box"
        case ("kas", "url"): "Take it out, and write the token as `token` beside it"
        case ("camera", "source"): "Take it out, and write the login as `user` and `password` beside it"
        default: nil
        }
    }
}

extension ClearSecretKey {
    /// The secret itself; what is wrong with it is said without a part of it.
    fileprivate func check(_ node: WrittenValue) throws(Finding) -> String {
        let hint = isURL ? "Use the whole URL in quotes" : "Use it in quotes, as it was given to you"
        guard case .string(let text) = node else { throw Finding("is \(node.kind), but must be a string", hint) }
        guard (1...4096).contains(text.utf8.count) else { throw Finding("is empty or longer than 4096 bytes", hint) }
        guard ShownText.isPrintable(text) else { throw Finding("has control characters", hint) }
        guard name == "password" || !text.contains(where: \.isWhitespace) else {
            throw Finding("has white space", hint)
        }
        guard isURL else { return text }
        if table == "relay" {
            guard (try? RTMPURL(server: text, streamName: "a")) != nil else {
                throw Finding("is not a relay's URL", "Use \"rtmps://host/application\" with all that belongs to it")
            }
        } else {
            guard let scheme = text.firstRange(of: "://"), ["https", "http"].contains(text[..<scheme.lowerBound]),
                text[scheme.upperBound...].first.map({ $0 != "/" }) == true
            else { throw Finding("is not an https:// URL", "Use \"https://host/path\" with all that belongs to it") }
        }
        return text
    }
}
