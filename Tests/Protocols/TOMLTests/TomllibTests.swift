import Foundation
import TOML
import Testing

/// Python's tomllib checks every document, valid or not.
@Suite(.enabled(if: Tomllib.interpreter != nil, "skipped: no python3 with tomllib"), .timeLimit(.minutes(15)))
struct TomllibTests {
    /// What the two may differ in: our limits, 64-bit numbers, and days and seconds that Python's clock does not know.
    private func mayDiffer(_ text: String, _ ours: Result<String, TOMLError>) -> Bool {
        switch ours {
        case .success(let words): text.hasPrefix("\u{FEFF}") || words.contains(":60.") || text.contains("0000-")
        case .failure(let error):
            switch error.reason {
            case .numberOutOfRange, .tooDeep, .tooManyKeys: true
            default: false
            }
        }
    }

    @Test func `the same documents are TOML, with the same meaning`() throws {
        var texts: [String] = []
        for seed in UInt64(0)..<400 { texts.append(DocumentWriter(seed: seed).text) }
        for seed in UInt64(0)..<60 {
            var mutator = Mutator(seed: seed)
            for base in Mutator.corpus(seed: seed) {
                texts.append(base)
                for _ in 0..<50 { texts.append(mutator.mutate(base)) }
            }
        }
        let theirs = try Tomllib.read(texts)
        try #require(theirs.count == texts.count)
        var compared = (valid: 0, invalid: 0)
        for (text, theirs) in zip(texts, theirs) {
            let ours = Result { () throws(TOMLError) in Words.of(.table(try TOMLReader.read(text)), exactly: true) }
            if mayDiffer(text, ours) { continue }
            switch ours {
            case .success(let words):
                compared.valid += 1
                #expect(words == theirs, "\(text.debugDescription)")
            case .failure(let error):
                compared.invalid += 1
                #expect(theirs == nil, "\(error) \(text.debugDescription)")
            }
        }
        #expect(compared.valid > 500 && compared.invalid > 500)
    }
}

private enum Tomllib {
    static let interpreter: String? = ["/usr/bin/python3", "/usr/local/bin/python3"].first { path in
        guard FileManager.default.isExecutableFile(atPath: path) else { return false }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = ["-c", "import tomllib"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    private static let program = """
        import datetime, json, struct, sys, tomllib
        def date(d): return f"{d.year}-{d.month}-{d.day}"
        def time(t): return f"{t.hour}:{t.minute}:{t.second}.{t.microsecond}"
        def words(v):
            if isinstance(v, bool): return "true" if v else "false"
            if isinstance(v, int): return str(v)
            if isinstance(v, float):
                return "nan" if v != v else "f" + format(struct.unpack(">Q", struct.pack(">d", v))[0], "x")
            if isinstance(v, str): return "'" + v + "'"
            if isinstance(v, datetime.datetime):
                zone = "" if v.tzinfo is None else "Z" + str(int(v.utcoffset().total_seconds()) // 60)
                return date(v) + "T" + time(v) + zone
            if isinstance(v, datetime.date): return date(v)
            if isinstance(v, datetime.time): return time(v)
            if isinstance(v, list): return "[" + ",".join(map(words, v)) + "]"
            return "{" + ",".join(k + ":" + words(v[k]) for k in sorted(v, key=str.encode)) + "}"
        def read(text):
            try: return words(tomllib.loads(text))
            except ValueError: return None
        json.dump([read(text) for text in json.load(open(sys.argv[1], "rb"))], open(sys.argv[2], "w"))
        """

    /// The notation for each document, nil for what is not TOML.
    static func read(_ texts: [String]) throws -> [String?] {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("toml-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let input = directory.appendingPathComponent("in.json")
        let output = directory.appendingPathComponent("out.json")
        try JSONEncoder().encode(texts).write(to: input)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(interpreter))
        process.arguments = ["-c", program, input.path, output.path]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return try JSONDecoder().decode([String?].self, from: Data(contentsOf: output))
    }
}
