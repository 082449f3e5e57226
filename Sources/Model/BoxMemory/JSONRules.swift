internal import GRDB
internal import Wire

/// What JSON from outside may look like. SQLite's own parser reads it.
enum JSONRules {
    private static let levels = 32

    /// Size and depth, before a parser sees it.
    static func object(_ json: String, _ field: String, limit: Int) throws(BoxMemoryError) {
        guard json.utf8.count <= limit else { throw .invalid(field: field, why: "it has more than \(limit) bytes") }
        guard !json.utf8.contains(0) else { throw .invalid(field: field, why: "it has control characters") }
        do throws(JSONShape.Fault) {
            try JSONShape.check(Array(json.utf8), depth: levels, elements: .max)
        } catch {
            throw .invalid(field: field, why: "it has more than \(levels) levels")
        }
    }

    /// That it is one object, and holds no secret.
    static func check(_ json: String, _ field: String, _ database: GRDB.Database) throws {
        guard try Bool.fetchOne(database, sql: "SELECT json_valid(?)", arguments: [json]) == true,
            try String.fetchOne(database, sql: "SELECT json_type(?)", arguments: [json]) == "object"
        else { throw BoxMemoryError.invalid(field: field, why: "it is not a JSON object") }
        let keys = try String.fetchSet(
            database, sql: "SELECT DISTINCT lower(key) FROM json_tree(?) WHERE typeof(key) = 'text'",
            arguments: [json])
        if let secret = keys.intersection(FieldRules.secretKeys).min() {
            throw BoxMemoryError.invalid(
                field: "\(field).\(secret)", why: "secrets are not stored here; give it to the credential store")
        }
    }
}
