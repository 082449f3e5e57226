/// The grammar of keys, headers, lists and inline tables.
struct Parser {
    private var cursor: Cursor
    private var tree: Tree

    init(_ text: String, keyLimit: Int) {
        cursor = Cursor(text)
        tree = Tree(keyLimit: keyLimit)
    }

    mutating func document() throws(TOMLError) -> TOMLTable {
        var table = Tree.root
        while true {
            try cursor.skipSpace()
            guard cursor.next != nil else { return tree.table() }
            if cursor.next == .openBracket {
                table = try header()
            } else {
                try keyValue(in: table)
            }
            try cursor.endLine()
        }
    }

    // MARK: Keys

    private mutating func header() throws(TOMLError) -> Int {
        cursor.advance()
        let isArray = cursor.take(.openBracket)
        cursor.skipBlanks()
        let path = try keyPath()
        for _ in 0..<(isArray ? 2 : 1) {
            guard cursor.take(.closeBracket) else { throw cursor.fault(.headerNotClosed) }
        }
        return isArray ? try tree.arrayHeader(path) : try tree.header(path)
    }

    private mutating func keyValue(in table: Int) throws(TOMLError) {
        let path = try keyPath()
        guard cursor.take(.equals) else { throw cursor.fault(.equalsMissing) }
        let node = try tree.entry(path, in: table)
        cursor.skipBlanks()
        try value(of: node)
    }

    /// A key with its dots, and the blanks behind it. How deep it leads is for the tree to decide.
    private mutating func keyPath() throws(TOMLError) -> [Tree.Key] {
        var path: [Tree.Key] = []
        while true {
            let position = cursor.position
            path.append(Tree.Key(name: try keyPart(), position: position))
            cursor.skipBlanks()
            guard cursor.take(.dot) else { return path }
            cursor.skipBlanks()
        }
    }

    private mutating func keyPart() throws(TOMLError) -> String {
        if let mark = cursor.next, mark == .quote || mark == .apostrophe {
            guard cursor.peek(1) != mark || cursor.peek(2) != mark else { throw cursor.fault(.keyOfSeveralLines) }
            return try cursor.string()
        }
        let begin = cursor.index
        while let byte = cursor.next, byte.isBareKey { cursor.advance() }
        guard cursor.index > begin else { throw cursor.fault(.keyMissing) }
        return String(decoding: cursor.bytes[begin..<cursor.index], as: UTF8.self)
    }

    // MARK: Values

    /// Recurses as deep as the tree may be.
    private mutating func value(of node: Int) throws(TOMLError) {
        tree.begin(node, at: cursor.position)
        switch cursor.next {
        case .quote, .apostrophe: tree.set(node, .value(.string(try cursor.string())))
        case .openBracket: try array(node)
        case .openBrace: try inlineTable(node)
        default: tree.set(node, .value(try PlainValue.read(&cursor)))
        }
    }

    private mutating func array(_ node: Int) throws(TOMLError) {
        tree.set(node, .array)
        cursor.advance()
        while true {
            try cursor.skipSpace()
            if cursor.take(.closeBracket) { return }
            try value(of: try tree.element(of: node, at: cursor.position))
            try cursor.skipSpace()
            if cursor.take(.closeBracket) { return }
            guard cursor.take(.comma) else { throw cursor.fault(.arrayNotContinued) }
        }
    }

    private mutating func inlineTable(_ node: Int) throws(TOMLError) {
        tree.set(node, .inlineTable)
        cursor.advance()
        cursor.skipBlanks()
        if cursor.take(.closeBrace) { return }
        while true {
            try keyValue(in: node)
            cursor.skipBlanks()
            if cursor.take(.closeBrace) { return }
            guard cursor.take(.comma) else { throw cursor.fault(.inlineTableNotContinued) }
            cursor.skipBlanks()
        }
    }
}
