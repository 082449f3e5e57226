import Glibc
import VideoCapture
import VideoCodec

/// Shows what `VideoCapture` and `VideoEncoder` do at devices that are there. Run by Tests/Rigs/vm in a guest machine.
///
/// Every answer is lines of JSON on standard output. Exit status 0 as asked, 1 an error that was reported, 2 usage, 9 a
/// call into the encoder that did not end.
@main
struct DeviceCheck {
    static let usage = """
        nodes [--sysfs]                            the video nodes, and what each is
        find PATH                                  the node at a path, as a camera is found again
        encoders                                   the nodes that code
        modes PATH                                 formats, sizes, rates
        controls PATH                              what can be set, and to what it is
        set PATH NAME=VALUE…                       sets it
        capture PATH WIDTHxHEIGHT [OPTION…]        --rate N --format FOURCC --count N --control NAME=VALUE --output FILE
                                                   --limit SECONDS --pause MILLISECONDS --recover --errors N --dmabuf --hold
                                                   --behind FILE: frames count from when it is there
                                                   --pipeline-stage: take a stage of a pipeline for a camera
        encode ENCODER WIDTHxHEIGHT COUNT [OPTION…] --coded FILE --raw FILE --stride N --rate N --gop SECONDS --buffers N
                                                   --deadline SECONDS --change N:BITS --key-at N
        encoder-probe --encoder NAME --size WIDTHxHEIGHT --rate N
        probe ENCODER WIDTHxHEIGHT                 the same in a child process, with a deadline
        """

    static func main() {
        do {
            var arguments = Arguments(Array(CommandLine.arguments.dropFirst()))
            switch try arguments.next("a command") {
            case "nodes": NodeReports.list(isOpening: !arguments.flag("--sysfs"))
            case "find": try NodeReports.find(try arguments.next("a path"))
            case "encoders": NodeReports.encoders()
            case "modes": try DeviceReports.modes(try arguments.next("a path"))
            case "controls": try DeviceReports.controls(try arguments.next("a path"))
            case "set": try DeviceReports.set(try arguments.next("a path"), try arguments.rest())
            case "capture": try CaptureRun(&arguments).run()
            case "encode": try EncodeRun(&arguments).run()
            case "encoder-probe": try ProbeRun.inside(&arguments)
            case "probe": try ProbeRun.child(&arguments)
            case let other: throw UsageError("there is no command \(other)")
            }
        } catch let error as UsageError {
            Report.say("usage", ["reason": .text(error.reason)])
            Report.write("\(error.reason)\n\(usage)\n", to: STDERR_FILENO)
            exit(2)
        } catch {
            Report.say(error)
            exit(1)
        }
    }
}
