internal import Console
public import ControlAPI

/// Cameras of the network and of this machine in one list, numbered.
public enum NetworkSearchView {
    /// One row of the list.
    public struct Row: Equatable, Sendable {
        public var kind: String
        public var address: String
        /// The address without a port; that of a device of this machine is its name.
        public var host: String
        public var maker: String
        public var name: String
        /// For `camera add --source`.
        public var source: String
        public var mark: FoundCameraDocument.Mark
        /// ID of the camera that it is already.
        public var camera: String?
    }

    /// In the order of their numbers, which begin with 1.
    public static func rows(_ document: DiscoveryDocument) -> [Row] {
        let network = (document.network?.found ?? []).map { found in
            let maker = [found.manufacturer, found.hardware].compactMap(\.self).joined(separator: " ")
            let defaultValue = found.kind == .onvif ? 80 : 554
            return Row(
                kind: found.kind.rawValue,
                address: found.port == defaultValue
                    ? found.address : NetworkText.endpoint(found.address, found.port),
                host: found.address,
                maker: maker.isEmpty ? "-" : maker, name: found.name ?? "", source: found.source, mark: found.mark,
                camera: found.camera)
        }
        let local = document.nodes.filter { $0.kind == .camera }.map { node in
            Row(
                kind: node.bus == "csi" ? "csi" : "v4l2", address: node.device, host: node.device, maker: node.name,
                name: "",
                source: node.source,
                mark: node.camera == nil ? .new : .added, camera: node.camera)
        }
        return network + local
    }

    /// Those that somebody may mean by an address: the one that has it letter by letter, as address or as source; else
    /// all at that address, whatever their ports.
    public static func rows(at address: String, in rows: [Row]) -> [Row] {
        if let exact = rows.first(where: { $0.address == address || $0.source == address }) { return [exact] }
        return rows.filter { $0.host == address }
    }

    /// The command that adds a source. The device wrote the source.
    static func addition(of source: String) -> String {
        "watchboxctl camera add NAME --source \(ShellWord.quoted(source))"
    }

    public static func lines(_ document: DiscoveryDocument, style: Style, header: Bool = true) -> [String] {
        let rows = rows(document)
        var lines: [String] = []
        if rows.isEmpty {
            lines.append("No camera was found.")
        } else {
            lines += table(rows).lines(style, header: header)
        }
        if let network = document.network {
            switch network.state {
            case .cancelled: lines.append(style.paint("The search was ended early; there may be more.", .warning))
            case .failed:
                let why = network.problem.map { ": \($0.code) \($0.detail)" } ?? ""
                lines.append(style.paint("The search of the network failed\(why)", .bad))
                if let next = network.problem?.hint {
                    lines.append("  Next: \(style.paint(NextStep.text(next), .strong))")
                }
            case .running: lines.append(style.paint("The search goes on.", .warning))
            case .done: break
            }
        }
        lines += (document.network?.remarks ?? []).map { style.paint($0, .warning) }
        if let first = rows.first(where: { $0.mark != .added }) {
            let user = first.mark == .needsLogin ? " --user USER" : ""
            lines.append(
                "Add one: \(style.paint(addition(of: first.source) + user, .strong))")
        }
        return lines
    }

    private static func table(_ rows: [Row]) -> Table {
        var table = Table([
            .init("#", .right), .init("KIND"), .init("ADDRESS", isIdentifier: true), .init("MAKER/MODEL"),
            .init("NAME"), .init("STATE", minimum: 14),
        ])
        for (index, row) in rows.enumerated() {
            let state: Table.Cell =
                switch row.mark {
                case .new: .init("○ new", .plain)
                case .needsLogin: .init("○ new, needs a login", .warning)
                case .added: .init("● added" + (row.camera.map { ": \($0)" } ?? ""), .good)
                }
            table.rows.append([
                .init("\(index + 1)"), .init(row.kind), .init(row.address), .init(row.maker), .init(row.name), state,
            ])
        }
        let new = rows.count { $0.mark != .added }
        table.footer = "\(Quantity.count(rows.count, "camera")), \(new) new"
        return table
    }
}
