import Archive
import BoxView
import Console
import Media
import Platform
import Wire

/// What an interrupted export left and another one takes over, so that no key of it is asked for again.
struct FilmResumption {
    /// Sources that are in the film.
    private(set) var archives = 0
    /// Of them, those that are still listed: the first of all that are.
    private(set) var listed = 0
    /// That they are of, as their policies say; nil: they name none.
    private(set) var stream: String?
    /// How long the film is by then; nil: nothing was taken over.
    private(set) var duration: MediaTime?
    /// What of it was not taken over; nil: nothing.
    private(set) var loss: Loss?

    enum Loss: String {
        case otherFilm = "was of another film"
        case otherRecordings = "was of other recordings"
        case changed = "was changed"
        /// Such as after an update of libavformat, by which the same frames lie elsewhere.
        case unusable = "is not what its journal says"
    }

    /// Begins the export of a task, or goes on with it.
    ///
    /// - Parameters:
    ///   - replaces: also what is there of another film.
    ///   - progress: bytes of what is read again.
    static func export(
        _ task: FilmTask, to output: String, replaces: Bool = false, progress: ArchiveProgress
    ) throws(CommandFailure) -> (export: FilmExport, taken: FilmResumption) {
        guard let partial = try PartialFilm.open(output, task.subject, replaces: replaces) else {
            return (try FilmExport(to: output, clock: task.clock), FilmResumption())
        }
        do throws(CommandFailure) {
            return try export(task, to: output, partial, progress)
        } catch {
            // Nothing was taken away of it, whatever ended the reading.
            _ = partial.keep()
            throw error
        }
    }

    private static func told<R>(
        _ output: String, _ body: () throws(ArchiveError) -> R
    ) throws(CommandFailure) -> R {
        do throws(ArchiveError) { return try body() } catch {
            throw CommandFailure(error, what: FilmExport.what(output))
        }
    }

    private static func export(
        _ task: FilmTask, to output: String, _ partial: PartialFilm, _ progress: ArchiveProgress
    ) throws(CommandFailure) -> (export: FilmExport, taken: FilmResumption) {
        var taken = FilmResumption()
        taken.loss = partial.wasForAnother ? .otherFilm : nil
        let file = FilmFile(partial)
        let export = FilmExport(to: output, clock: task.clock, into: file)
        file.isRepeating = true
        let isWhole = try taken.replay(partial, into: export, of: task, output, progress)
        file.isRepeating = false
        guard isWhole else {
            taken = FilmResumption()
            taken.loss = .unusable
            try told(output) { () throws(ArchiveError) in try partial.beginAgain() }
            return (FilmExport(to: output, clock: task.clock, into: FilmFile(partial)), taken)
        }
        try told(output) { () throws(ArchiveError) in try partial.goOn() }
        export.endReplay()
        return (export, taken)
    }

    /// Up to the first block that is not as it was written, or is of other recordings.
    ///
    /// - Returns: false: what was read does not give what is there, and the export is not to be used.
    private mutating func replay(
        _ partial: PartialFilm, into export: FilmExport, of task: FilmTask, _ output: String,
        _ progress: ArchiveProgress
    ) throws(CommandFailure) -> Bool {
        while let block = try Self.told(output, { () throws(ArchiveError) in try partial.next() }) {
            var rest = task.sources[listed...]
            guard let sources = Self.sources(of: block, &rest, isListed: task.isListed) else {
                loss = .otherRecordings
                break
            }
            let begin = block.media.lowerBound
            let isThere = try Self.told(output) { () throws(ArchiveError) in
                try partial.holds(block) { (place) throws(ArchiveError) in try progress(begin &+ place) }
            }
            guard isThere else {
                loss = .changed
                break
            }
            do throws(CommandFailure) { try export.replay(block, of: sources) } catch {
                // What is there may well be right.
                if export.isPassing { throw error }
                return false
            }
            partial.take(block)
            archives += sources.count
            listed = task.sources.count - rest.count
            stream = block.sources.last.map(\.stream) ?? stream
            duration = export.timeline.duration
        }
        return true
    }

    /// The recordings of a block, as they are listed or were when they were taken: what is recorded makes room for what comes, and people delete
    /// what they have.
    ///
    /// - Parameter rest: that have not been taken.
    /// - Returns: nil: they are others.
    private static func sources(
        of block: FilmJournal.Block, _ rest: inout ArraySlice<FilmSource>, isListed: Bool
    ) -> [FilmSource]? {
        var sources: [FilmSource] = []
        for said in block.sources {
            if let next = rest.first, next.look() == said.identity {
                sources.append(next)
                rest.removeFirst()
            } else if isListed, let name = RecordingName(said.identity.name),
                rest.first.map({ next in
                    next.grown != nil || RecordingName(next.name).map { name.sequence < $0.sequence } ?? false
                }) ?? true
            {
                sources.append(FilmSource(path: name.fileName, begin: name.begin, duration: Int64(name.duration)))
            } else {
                return nil
            }
        }
        return sources
    }

    /// For people; nil: there is nothing to say.
    func line(_ output: String) -> String? {
        let name = PartialFilm.name(output)
        let length = duration.map { Quantity.time(seconds: Double($0.milliseconds) / 1000) }
        switch (loss, length) {
        case (nil, nil): return nil
        case (nil, let length?): return "\(name): it goes on after the first \(length)"
        case (let loss?, nil): return "\(name) \(loss.rawValue): the film is begun anew"
        case (let loss?, let length?):
            return "\(name) \(loss.rawValue) behind the first \(length): from there on the film is written anew"
        }
    }
}

extension RecordingRange {
    /// As options name it; empty: it is all that there is.
    var options: String {
        [(from, Int64.min, "--from"), (to, .max, "--to")].filter { $0.0 != $0.1 }
            .map { "\($0.2) \(CalendarTime.iso8601($0.0))" }.joined(separator: " ")
    }
}
