import ArgumentParser
import BoxView
import Console

/// For `make install`; people read what it printed with `man watchboxctl`.
struct ManualCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual", abstract: "Print the manual page, as man reads it.",
        discussion: "  watchboxctl manual > watchboxctl.1",
        shouldDisplay: false)

    @Option(help: "Date of the release, as printed at the foot of the page.")
    var date = ""

    func run() async throws {
        do throws(ManualPage.Failure) {
            StandardOutput.write(
                try ManualPage.roff(Watchboxctl._dumpHelp(), section: 1, version: Version.current, date: date))
        } catch {
            throw CommandFailure(
                what: "no manual page was made", why: "the argument parser describes its commands in another way now",
                hint: "use --help", status: .failed)
        }
    }
}
