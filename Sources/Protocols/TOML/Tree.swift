/// A document while it is read. Nodes stand in one array, parents before their children; how a table came about decides
/// what may still be added to it (TOML 1.0, "Table", "Inline Table" and "Array of Tables").
struct Tree {
    /// One part of a dotted key.
    struct Key {
        var name: String
        var position: TOMLPosition
    }

    enum Kind {
        /// Complete, as the two below.
        case value(TOMLValue)
        case array
        case inlineTable
        /// On the way to the table that a header names. May be defined once, by a header or by dotted keys.
        case passing
        /// By `[name]`, or one of `[[name]]`.
        case header
        /// By a key with dots. More such keys may follow; tables below it may have headers.
        case dotted
        /// By `[[name]]`. Grows with each such header; the others mean its last table.
        case tables
    }

    private struct Node {
        var key: String?
        var parent: Int
        var depth: Int
        var kind: Kind
        var keyPosition: TOMLPosition
        var position: TOMLPosition
        var children: [Int] = []
    }

    private struct Step: Hashable {
        var parent: Int
        var key: ExactText
    }

    static let root = 0

    private var nodes: [Node]
    private var steps: [Step: Int] = [:]
    private let keyLimit: Int

    init(keyLimit: Int) {
        self.keyLimit = keyLimit
        let begin = TOMLPosition(line: 1, column: 1)
        nodes = [Node(key: nil, parent: 0, depth: 0, kind: .header, keyPosition: begin, position: begin)]
    }

    // MARK: Headers

    /// `[a.b.c]`: the table that the lines below it fill.
    mutating func header(_ path: [Key]) throws(TOMLError) -> Int {
        let (parent, key) = try parent(path)
        guard let node = child(parent, key) else { return try make(key, in: parent, .header) }
        guard case .passing = nodes[node].kind else { throw redefined(node, key) }
        nodes[node].kind = .header
        nodes[node].position = key.position
        return node
    }

    /// `[[a.b.c]]`: the same, as one more table of a list.
    mutating func arrayHeader(_ path: [Key]) throws(TOMLError) -> Int {
        let (parent, key) = try parent(path)
        let list: Int
        if let node = child(parent, key) {
            guard case .tables = nodes[node].kind else { throw redefined(node, key) }
            list = node
        } else {
            list = try make(key, in: parent, .tables)
        }
        let table = try element(of: list, at: key.position)
        nodes[table].kind = .header
        return table
    }

    /// The table that holds what the last part of a header names.
    private mutating func parent(_ path: [Key]) throws(TOMLError) -> (node: Int, key: Key) {
        guard let last = path.last else { preconditionFailure("a header without a name: a fault of the parser") }
        var table = Self.root
        for key in path.dropLast() {
            guard let node = child(table, key) else {
                table = try make(key, in: table, .passing)
                continue
            }
            switch nodes[node].kind {
            case .passing, .header, .dotted: table = node
            case .tables: table = nodes[node].children.last ?? node
            case .value, .array, .inlineTable: throw complete(node, key)
            }
        }
        return (table, last)
    }

    // MARK: Keys and values

    /// `a.b.c =`: the place of the value, which must be set.
    mutating func entry(_ path: [Key], in table: Int) throws(TOMLError) -> Int {
        guard let last = path.last else { preconditionFailure("a key without a name: a fault of the parser") }
        var table = table
        for key in path.dropLast() {
            guard let node = child(table, key) else {
                table = try make(key, in: table, .dotted)
                continue
            }
            switch nodes[node].kind {
            case .dotted: break
            case .passing: nodes[node].kind = .dotted
            case .header, .tables: throw redefined(node, key)
            case .value, .array, .inlineTable: throw complete(node, key)
            }
            table = node
        }
        if let node = child(table, last) { throw redefined(node, last) }
        return try make(last, in: table, .array)
    }

    /// The place of one more value of a list.
    mutating func element(of list: Int, at position: TOMLPosition) throws(TOMLError) -> Int {
        try append(Node(parent: list, depth: 0, kind: .array, keyPosition: position, position: position))
    }

    mutating func begin(_ node: Int, at position: TOMLPosition) { nodes[node].position = position }

    mutating func set(_ node: Int, _ kind: Kind) { nodes[node].kind = kind }

    // MARK: Nodes

    private func child(_ parent: Int, _ key: Key) -> Int? { steps[Step(parent: parent, key: ExactText(key.name))] }

    private mutating func make(_ key: Key, in parent: Int, _ kind: Kind) throws(TOMLError) -> Int {
        let node = try append(
            Node(
                key: key.name, parent: parent, depth: 0, kind: kind, keyPosition: key.position, position: key.position))
        steps[Step(parent: parent, key: ExactText(key.name))] = node
        return node
    }

    private mutating func append(_ node: Node) throws(TOMLError) -> Int {
        var node = node
        node.depth = nodes[node.parent].depth + 1
        guard node.depth <= TOMLReader.depthLimit else {
            throw TOMLError(position: node.position, reason: .tooDeep(limit: TOMLReader.depthLimit))
        }
        guard nodes.count <= keyLimit else {
            throw TOMLError(position: node.position, reason: .tooManyKeys(limit: keyLimit))
        }
        nodes[node.parent].children.append(nodes.count)
        nodes.append(node)
        return nodes.count - 1
    }

    private func redefined(_ node: Int, _ key: Key) -> TOMLError {
        TOMLError(position: key.position, reason: .redefined(path: path(node)))
    }

    private func complete(_ node: Int, _ key: Key) -> TOMLError {
        TOMLError(position: key.position, reason: .complete(path: path(node)))
    }

    private func path(_ node: Int) -> [String] {
        var path: [String] = []
        var node = node
        while node != Self.root {
            if let key = nodes[node].key { path.append(key) }
            node = nodes[node].parent
        }
        return path.reversed()
    }

    // MARK: The result

    func table() -> TOMLTable { table(Self.root) }

    // Recurses as deep as the tree is.
    private func table(_ node: Int) -> TOMLTable {
        TOMLTable(
            nodes[node].children.map { child in TOMLTable.Entry(key: nodes[child].key ?? "", node: result(child)) })
    }

    private func result(_ node: Int) -> TOMLNode {
        let value: TOMLValue =
            switch nodes[node].kind {
            case .value(let value): value
            case .array, .tables: .array(nodes[node].children.map(result))
            case .inlineTable, .passing, .header, .dotted: .table(table(node))
            }
        return TOMLNode(value: value, position: nodes[node].position, keyPosition: nodes[node].keyPosition)
    }
}
