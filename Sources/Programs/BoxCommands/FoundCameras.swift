import ArgumentParser
import BoxView
import Console
import ControlAPI
import ControlClient
import Glibc

/// Cameras of a search that become cameras of this box.
struct FoundCameras {
    let rows: [NetworkSearchView.Row]
    let user: String?
    let passwordFile: String?
    let output: OutputOptions

    /// A name of a camera has at most so many characters; a device says what it likes.
    private static let nameLimit = 64

    /// What fails at one of them keeps none of the others from being added.
    ///
    /// - Parameter addresses: none: a person chooses.
    func add(_ addresses: [String]) async throws {
        let asks = addresses.isEmpty
        var failures: [(source: String, failure: CommandFailure)] = []
        var chosen: [NetworkSearchView.Row] = []
        if asks {
            chosen = try choose()
        } else {
            for address in addresses {
                do throws(CommandFailure) {
                    let row = try row(at: address)
                    if !chosen.contains(row) { chosen.append(row) }
                } catch {
                    failures.append((address, error))
                    report(error)
                }
            }
        }
        let password = asks || chosen.isEmpty ? nil : try Secret.forUser(user, file: passwordFile, of: "the cameras")
        let known = try await output.client.get(
            CameraListDocument.self, APIPath.cameras(), or: "the cameras cannot be listed"
        ).cameras
        var taken = Set(known.map(\.id))
        var added: [CameraDocument] = []
        for row in chosen {
            do {
                let choice =
                    asks
                    ? try person(row, taken)
                    : Choice(id: Self.identifier(of: row, taken), user: user, password: password)
                added.append(try await add(row, choice))
                taken.insert(choice.id)
                if output.chosen == .table, !output.quiet {
                    StandardOutput.writeLine(Style.oneLine("Added \(choice.id): \(row.source)"))
                }
            } catch let failure as CommandFailure {
                failures.append((row.source, failure))
                report(failure)
                // The others are not needed then.
                if failure.status == .abortedByUser { break }
            }
        }
        if output.chosen != .table {
            let document = CameraAdditionsDocument(
                cameras: added,
                refused: failures.map {
                    .init(source: $0.source, what: $0.failure.what, why: $0.failure.why, hint: $0.failure.hint)
                })
            output.show(document, rows: document.cameras, isWell: failures.isEmpty) { CameraView.table(document.list) }
        }
        if let first = failures.first { throw ExitCode(first.failure.status.rawValue) }
    }

    /// In its turn, so that it stands with the steps of its test.
    private func report(_ failure: CommandFailure) {
        for line in failure.description.split(separator: "\n") {
            StandardError.writeLine(Style.oneLine(String(line)))
        }
    }

    /// What a person or the options say of one of them.
    private struct Choice {
        var id: String
        var user: String?
        var password: String?
    }

    private func add(_ row: NetworkSearchView.Row, _ choice: Choice) async throws -> CameraDocument {
        let isOnNetwork = CameraTesting.isOnNetwork(row.source)
        let request = CameraRequest(
            id: choice.id, name: Self.name(row.name), source: row.source,
            user: isOnNetwork ? choice.user : nil)
        let test = CameraTestRequest(source: row.source, user: choice.user, password: choice.password)
        return try await CameraAddition(
            id: choice.id, request: request, password: isOnNetwork ? choice.password : nil,
            test: isOnNetwork ? test : nil, output: output
        ).add()
    }

    /// As the configuration takes it; nil: none.
    private static func name(_ reported: String) -> String? {
        let name = reported.terminalSafe.prefix(nameLimit).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return name.isEmpty ? nil : name
    }

    // MARK: Choosing

    private func row(at address: String) throws(CommandFailure) -> NetworkSearchView.Row {
        let there = NetworkSearchView.rows(at: address, in: rows)
        guard let row = there.first else {
            throw CommandFailure(
                what: "\(address) was not added", why: "the search did not find it",
                hint:
                    "add it without a search: watchboxctl camera add NAME --source \(ShellWord.quoted("rtsp://\(address)/PATH"))",
                status: .notFound)
        }
        guard there.count == 1 else {
            throw CommandFailure(
                what: "\(address) was not added",
                why: "\(there.count) cameras are there: \(there.map(\.address).joined(separator: ", "))",
                hint: "name one of them", status: .usage)
        }
        guard row.mark != .added else {
            throw CommandFailure(
                what: "\(address) was not added", why: "it is \(row.camera ?? "a camera of this box") already",
                hint: "watchboxctl camera show \(row.camera ?? "ID")", status: .conflict)
        }
        return row
    }

    private func choose() throws(CommandFailure) -> [NetworkSearchView.Row] {
        guard rows.contains(where: { $0.mark != .added }) else {
            throw CommandFailure(
                what: "nothing was added", why: "the search found no camera that is new",
                hint: "ask every address: watchboxctl discover --scan 192.168.1.0/24 --add", status: .notFound)
        }
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure(
                what: "nothing was added", why: "there is no terminal to choose at",
                hint: "name the addresses: watchboxctl discover --add ADDRESS", status: .usage)
        }
        StandardError.write("Which of them, by their numbers (1 3)? Nothing: none. ")
        let words = (readLine() ?? "").split { $0 == " " || $0 == "," }
        guard !words.isEmpty else {
            throw CommandFailure(
                what: "nothing was added", why: "nothing was chosen", hint: "run it again", status: .abortedByUser)
        }
        var chosen: [NetworkSearchView.Row] = []
        for word in words {
            guard let number = Int(word), rows.indices.contains(number - 1) else {
                throw CommandFailure(
                    what: "nothing was added", why: "\(word) is not a number of the list", hint: "run it again",
                    status: .usage)
            }
            let row = rows[number - 1]
            guard row.mark != .added else {
                throw CommandFailure(
                    what: "nothing was added", why: "\(number) is \(row.camera ?? "a camera of this box") already",
                    hint: "run it again", status: .conflict)
            }
            if !chosen.contains(row) { chosen.append(row) }
        }
        return chosen
    }

    /// Asks for the ID, and for the login of a camera on the network.
    private func person(_ row: NetworkSearchView.Row, _ taken: Set<String>) throws(CommandFailure) -> Choice {
        StandardError.writeLine(Style.oneLine("\(row.kind) \(row.address) \(row.maker)"))
        let defaultValue = Self.identifier(of: row, taken)
        let id = Self.ask("  ID [\(defaultValue)]: ") ?? defaultValue
        guard CameraTesting.isOnNetwork(row.source) else { return Choice(id: id) }
        let prompt = user.map { "  User [\($0)]: " } ?? "  User (nothing: no login): "
        let name = Self.ask(prompt) ?? user
        return Choice(id: id, user: name, password: try Secret.forUser(name, file: passwordFile, of: id))
    }

    private static func ask(_ prompt: String) -> String? {
        StandardError.write(Style.oneLine(prompt))
        let line = (readLine() ?? "").split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return line.isEmpty ? nil : String(line.prefix(128))
    }

    /// Of its name, its model or its address; no other camera has it.
    static func identifier(of row: NetworkSearchView.Row, _ taken: Set<String>) -> String {
        let words = [row.name, row.maker == "-" ? "" : row.maker, row.address].first { !plain($0).isEmpty } ?? ""
        let base = plain(words).isEmpty ? "camera" : plain(words)
        guard taken.contains(base) else { return base }
        let short = plain(String(base.prefix(20)))
        return (2...999).lazy.map { "\(short)-\($0)" }.first { !taken.contains($0) } ?? short
    }

    /// As an ID may be.
    private static func plain(_ text: String) -> String {
        var id = ""
        for byte in text.lowercased().utf8 where id.utf8.count < 24 {
            let isPlain = (97...122).contains(byte) || (48...57).contains(byte)
            if isPlain { id.unicodeScalars.append(Unicode.Scalar(byte)) } else if id.last ?? "-" != "-" { id += "-" }
        }
        while id.last == "-" { id.removeLast() }
        return id
    }
}
