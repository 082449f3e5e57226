import Archive
import Console
import Glibc
import KeyAccess
import Platform

/// Recordings that something is taken from, and of what time.
struct FilmTask {
    /// In their order; what is being recorded is the last.
    var sources: [FilmSource]
    /// Milliseconds since 1970, as the sources count.
    var range: RecordingRange
    /// Nil: nobody knows when it was recorded.
    var clock: LocalClock?
    /// The time goes on in what is being recorded, which is not written so far, or is not taken.
    var recordsNow = false
    /// How many a power cut or a kill left, which nothing is taken from; nil: nobody looked.
    var unfinished: Int?
    /// They were found in a directory, where they may be renamed or deleted meanwhile.
    var isListed = false
    /// Of the camera's directory, or the file.
    private var path: String
    /// What is done with them, as `can be exported`.
    var action = "exported"

    /// What a camera recorded.
    ///
    /// - Parameters:
    ///   - action: what is done with it, in the past.
    ///   - takesGrowing: also of what is being recorded, as far as it is written.
    init(
        camera: String, _ times: RecordingTimeOptions, _ place: RecordingDirectoryOption, _ parser: MomentParser,
        action: String, takesGrowing: Bool = true, or what: String
    ) throws(CommandFailure) {
        try place.shelf.check(camera, or: what)
        try self.init(
            camera: camera, between: try times.range(parser, or: what), place, parser, action: action,
            takesGrowing: takesGrowing, or: what)
    }

    /// The same between two times, or of all that there is.
    init(
        camera: String, between range: RecordingRange, _ place: RecordingDirectoryOption, _ parser: MomentParser,
        action: String, takesGrowing: Bool = true, or what: String
    ) throws(CommandFailure) {
        let shelf = place.shelf
        self.range = range
        let (listing, grown) =
            takesGrowing
            ? try shelf.films(of: camera, between: range, or: what)
            : (try shelf.listing(of: camera, between: range, or: what), nil)
        guard !listing.recordings.isEmpty || grown != nil else {
            throw Self.nothing(
                what,
                "nothing of \(camera) is recorded"
                    + (range == .all
                        ? "" : " from \(parser.clock.text(range.from)) to \(parser.clock.text(range.to))"),
                (listing.recordsNow
                    ? takesGrowing
                        ? "what is being recorded now is not written so far: run it again in a moment"
                        : "what is being recorded now can be \(action) when it is finished, after a minute"
                    : shelf.listHint(camera))
                    + (RecordedListing.unfinishedText(listing.unfinished).map { "; \($0)" } ?? ""))
        }
        let directory = shelf.recordings(of: camera)
        path = directory.path
        sources = Self.withoutTwins(listing.recordings).map {
            .init(path: directory.path(of: $0.name), begin: $0.name.begin, duration: Int64($0.name.duration))
        }
        if let grown { sources.append(FilmSource(grown)) }
        clock = parser.clock
        recordsNow = listing.recordsNow
        unfinished = listing.unfinished
        isListed = true
        self.action = action
    }

    /// What is in a file: an archive, or several of a camera in a binder.
    init(file: String, _ times: RecordingTimeOptions, _ parser: MomentParser, or what: String) throws(CommandFailure) {
        path = file
        if PlayableArchiveReader.isMeant(by: file) {
            throw CommandFailure(
                what: what, why: "\(file) is of profile P, of which no part is taken",
                hint: "take the whole film out of it: watchboxctl archive open", status: .usage)
        }
        guard BinderReader.isMeant(by: file) else {
            let name = RecordingName(file.split(separator: "/").last.map(String.init) ?? file)
            // What cannot be read is said when it is opened.
            let grown = try? GrownArchive(file)
            let begin = name?.begin ?? grown?.begin
            range = try Self.range(times, begin: begin, of: file, parser, or: what)
            sources = [.init(path: file, begin: begin ?? 0, duration: nil, grown: grown)]
            clock = begin == nil ? nil : parser.clock
            return
        }
        let binder = try BinderReader.reading(file, or: what)
        let wanted = try Self.range(times, begin: binder.recordings.first?.name.begin, of: file, parser, or: what)
        range = wanted
        sources = binder.recordings.filter { wanted.overlaps($0.name) }.map {
            .init(path: file, begin: $0.name.begin, duration: Int64($0.name.duration), bound: $0)
        }
        clock = parser.clock
        guard !sources.isEmpty else {
            throw Self.nothing(
                what, "nothing of that time is bound in \(file)", "see what is: watchboxctl archive verify \(file)")
        }
    }

    /// Of two whose names differ in the pin alone, as copies of a directory can have them, the pinned one.
    ///
    /// - Parameter recordings: in their order.
    static func withoutTwins(_ recordings: [RecordingDirectory.Recording]) -> [RecordingDirectory.Recording] {
        var kept: [RecordingDirectory.Recording] = []
        kept.reserveCapacity(recordings.count)
        for recording in recordings {
            var twin = recording.name
            twin.isPinned.toggle()
            guard kept.last?.name == twin else {
                kept.append(recording)
                continue
            }
            if recording.name.isPinned { kept[kept.count - 1] = recording }
        }
        return kept
    }

    static func nothing(_ what: String, _ why: String, _ hint: String) -> CommandFailure {
        CommandFailure(what: what, why: why, hint: hint, status: .notFound)
    }

    /// Both times may be left out, or be seconds from the beginning.
    ///
    /// - Parameter begin: nil: the file does not say when it was recorded.
    private static func range(
        _ times: RecordingTimeOptions, begin: Int64?, of file: String, _ parser: MomentParser, or what: String
    ) throws(CommandFailure) -> RecordingRange {
        var range = RecordingRange.all
        for (text, option) in [(times.from, "--from"), (times.to, "--to")] {
            guard let text else { continue }
            let time: Int64
            switch try RecordingTimeOptions.moment(text, option, parser, or: what) {
            case .offset(let offset): time = (begin ?? 0) + offset
            case .instant(let instant):
                guard begin != nil else {
                    throw CommandFailure(
                        what: what, why: "\(option): the name of \(file) does not say when it was recorded",
                        hint: "write seconds from its beginning: \(option) 60", status: .usage)
                }
                time = instant
            }
            if option == "--from" { range.from = time } else { range.to = time }
        }
        guard range.from < range.to else {
            throw CommandFailure(
                what: what, why: "--to is not after --from", hint: "name a later --to", status: .usage)
        }
        return range
    }
}

extension FilmTask {
    /// What a film of it is of, whatever name its place is called by.
    var subject: FilmJournal.Subject {
        let real = realpath(path, nil)
        defer { free(real) }
        return .init(range, at: real.map { String(cString: $0) } ?? path)
    }

    /// Bytes of each source's file, for people alone: what cannot be read is said when it is opened.
    var sizes: [Int64] {
        sources.map { $0.bound?.file.size ?? $0.grown?.reader.size ?? (try? RandomAccessFile($0.path).size) ?? 0 }
    }

    /// Nothing that is read is ever replaced, nor what is no file.
    func check(_ output: String, replaces: Bool, or what: String) throws(CommandFailure) {
        for source in sources { try ArchiveOutput.check(output, input: source.path, replaces: replaces, or: what) }
    }

    /// Takes all of it into a film, whose archives open with keys of theirs.
    ///
    /// - Parameter taken: what the film has already.
    /// - Returns: the stream that the archives are of, as their policies say; nil: they name none.
    func copy(
        to export: FilmExport, _ output: String, _ keys: ArchiveKeySource, _ work: ArchiveWork,
        after taken: FilmResumption = FilmResumption()
    ) async throws -> String? {
        let sizes = sizes
        var done = sizes[..<taken.listed].reduce(0, &+)
        var stream = taken.stream
        for (listed, size) in zip(sources, sizes).dropFirst(taken.listed) {
            let before = done
            do throws(ArchiveError) { try work.progress(before) } catch {
                throw listed.failure(error, output, clock)
            }
            let (source, archive) = try listed.opened(isListed: isListed, output, clock) { export.mayPass() }
            let opened = try await keys.open(archive, what: FilmExport.what(output, source)) { export.mayPass() }
            stream = archive.policy?.stream
            try export.check(source, isOf: stream)
            let bytes = ArchiveBytes(opened, map: archive.map) { (place) throws(ArchiveError) in
                try work.progress(before &+ place)
            }
            try export.add(source, bytes, range, policy: archive.policy)
            done = done &+ size
        }
        return stream
    }
}

extension BinderReader {
    /// - Parameter what: what does not happen when it cannot be read.
    static func reading(_ file: String, or what: String) throws(CommandFailure) -> BinderReader {
        do throws(ArchiveError) { return try BinderReader(file) } catch { throw CommandFailure(error, what: what) }
    }
}
