import CV4L2
import TestSupport
import Testing

@testable import VideoCapture

struct LibcameraDialogueTests {
    private static let second: UInt64 = 1_000_000_000
    private static let capability = UInt32(watchbox_VIDIOC_QUERYCAP)
    private static let frame = UInt32(watchbox_VIDIOC_DQBUF)
    private static let end = UInt32(watchbox_VIDIOC_STREAMOFF)

    private static func message(
        _ request: UInt32, serial: UInt32, error: Int32 = 0, first byte: UInt8 = 0, length: Int? = nil
    ) -> [UInt8] {
        var head = watchbox_libcamera_head()
        (head.request, head.serial, head.error) = (request, serial, error)
        var structure = [UInt8](repeating: 0, count: length ?? LibcameraDialogue.length(of: request))
        if !structure.isEmpty { structure[0] = byte }
        return withUnsafeBytes(of: &head) { Array($0) } + structure
    }

    private static func serial(_ message: [UInt8]) -> UInt32 {
        message.withUnsafeBytes { $0.loadUnaligned(as: watchbox_libcamera_head.self) }.serial
    }

    @Test func `a call is answered once, by its own number`() throws {
        var dialogue = LibcameraDialogue(at: 0)
        let structure = [UInt8](repeating: 7, count: LibcameraDialogue.length(of: Self.capability))
        let call = dialogue.call(Self.capability, structure)
        #expect(call.count == LibcameraDialogue.headLength + structure.count)
        let answer = Self.message(Self.capability, serial: Self.serial(call), error: EBUSY, first: 9)
        let event = try dialogue.received(answer[...], hasDescriptor: false)
        guard case .answered(let found) = event else {
            Issue.record("\(event)")
            return
        }
        #expect(found.error == EBUSY && found.structure[0] == 9)
        #expect(throws: LibcameraDialogue.Fault.unasked(request: Self.capability)) {
            try dialogue.received(answer[...], hasDescriptor: false)
        }
    }

    @Test func `frames come between a call and its answer, and are kept in their order`() throws {
        var dialogue = LibcameraDialogue(at: 0)
        let call = dialogue.call(
            Self.capability, [UInt8](repeating: 0, count: LibcameraDialogue.length(of: Self.capability)))
        for index in 0..<3 as Range<UInt8> {
            let message = Self.message(Self.frame, serial: 0, first: index)
            #expect(try dialogue.received(message[...], hasDescriptor: false) == .streamed)
        }
        _ = try dialogue.received(
            Self.message(Self.capability, serial: Self.serial(call))[...], hasDescriptor: false)
        #expect((0..<4).map { _ in dialogue.takeFrame()?[0] } == [0, 1, 2, nil])
    }

    @Test func `what came before the end of a stream is no frame of the next`() throws {
        var dialogue = LibcameraDialogue(at: 0)
        let call = dialogue.call(Self.end, [0, 0, 0, 0])
        _ = try dialogue.received(Self.message(Self.frame, serial: 0)[...], hasDescriptor: false)
        _ = try dialogue.received(Self.message(Self.end, serial: 0, error: EIO)[...], hasDescriptor: false)
        #expect(dialogue.failure == EIO)
        _ = try dialogue.received(Self.message(Self.end, serial: Self.serial(call))[...], hasDescriptor: false)
        #expect(dialogue.frames.isEmpty && dialogue.failure == nil)
    }

    @Test func `a frame that comes before its stream's beginning is answered is one of it`() throws {
        var dialogue = LibcameraDialogue(at: 0)
        let begin = UInt32(watchbox_VIDIOC_STREAMON)
        let call = dialogue.call(begin, [1, 0, 0, 0])
        _ = try dialogue.received(Self.message(Self.frame, serial: 0, first: 5)[...], hasDescriptor: false)
        _ = try dialogue.received(Self.message(begin, serial: Self.serial(call))[...], hasDescriptor: false)
        #expect(dialogue.takeFrame()?[0] == 5)
    }

    @Test func `that the camera is gone may follow a broken stream`() throws {
        var dialogue = LibcameraDialogue(at: 0)
        for number in [EIO, ENODEV] {
            _ = try dialogue.received(Self.message(Self.end, serial: 0, error: number)[...], hasDescriptor: false)
            #expect(dialogue.failure == number)
        }
    }

    @Test func `no more frames than buffers are taken`() throws {
        var dialogue = LibcameraDialogue(at: 0)
        let message = Self.message(Self.frame, serial: 0)
        for _ in 0..<LibcameraDialogue.maxFrames {
            _ = try dialogue.received(message[...], hasDescriptor: false)
        }
        #expect(throws: LibcameraDialogue.Fault.tooManyFrames) {
            try dialogue.received(message[...], hasDescriptor: false)
        }
    }

    /// Looks every half second, from one instant to another.
    private static func look(
        _ dialogue: inout LibcameraDialogue, from: UInt64, to: UInt64
    ) throws(LibcameraDialogue.Fault) -> [[UInt8]] {
        var questions: [[UInt8]] = []
        for now in stride(from: from, through: to, by: Int(second / 2)) {
            if let question = try dialogue.timePassed(at: now) { questions.append(question) }
        }
        return questions
    }

    @Test func `a helper that says nothing is asked after a second, and given up after two`() throws {
        let half = Self.second / 2
        var dialogue = LibcameraDialogue(at: 0)
        #expect(try Self.look(&dialogue, from: half, to: 2 * half).isEmpty)
        // Asked once.
        let questions = try Self.look(&dialogue, from: 3 * half, to: 5 * half)
        #expect(questions.count == 1)
        var other = dialogue
        #expect(throws: LibcameraDialogue.Fault.silent) { try other.timePassed(at: 6 * half) }
        // One that answers is there, and is asked again when it is silent again.
        let answer = Self.message(Self.capability, serial: Self.serial(questions[0]))
        #expect(try dialogue.received(answer[...], hasDescriptor: false) == .alive)
        #expect(try Self.look(&dialogue, from: 6 * half, to: 7 * half).isEmpty)
        #expect(try Self.look(&dialogue, from: 8 * half, to: 8 * half).count == 1)
    }

    @Test func `frames are words, and time in which this process did not run is not silence`() throws {
        var dialogue = LibcameraDialogue(at: 0)
        for now in 1...20 as ClosedRange<UInt64> {
            #expect(try dialogue.timePassed(at: now * Self.second / 2) == nil)
            if now % 2 == 0 {
                _ = try dialogue.received(Self.message(Self.frame, serial: 0)[...], hasDescriptor: false)
                _ = dialogue.takeFrame()
            }
        }
        // A minute later: one look counts for half a second, and then the helper has as long to answer as ever.
        #expect(try dialogue.timePassed(at: 70 * Self.second) == nil)
        #expect(try dialogue.timePassed(at: 130 * Self.second) == nil)
        #expect(try dialogue.timePassed(at: 190 * Self.second) != nil)
        #expect(try dialogue.timePassed(at: 250 * Self.second) == nil)
    }

    @Test func `a stream breaks once`() throws {
        var dialogue = LibcameraDialogue(at: 0)
        let failure = Self.message(Self.end, serial: 0, error: EIO)
        _ = try dialogue.received(failure[...], hasDescriptor: false)
        #expect(throws: LibcameraDialogue.Fault.unasked(request: Self.end)) {
            try dialogue.received(failure[...], hasDescriptor: false)
        }
    }

    @Test func `what no helper of ours says is refused`() throws {
        let buffer = UInt32(watchbox_VIDIOC_QUERYBUF)
        func fault(_ message: [UInt8], hasDescriptor: Bool = false) -> LibcameraDialogue.Fault? {
            var dialogue = LibcameraDialogue(at: 0)
            _ = dialogue.call(buffer, [UInt8](repeating: 0, count: LibcameraDialogue.length(of: buffer)))
            do throws(LibcameraDialogue.Fault) {
                _ = try dialogue.received(message[...], hasDescriptor: hasDescriptor)
                return nil
            } catch {
                return error
            }
        }
        #expect(fault(Self.message(buffer, serial: 1), hasDescriptor: true) == nil)
        #expect(fault(Self.message(buffer, serial: 1, error: EINVAL)) == nil)
        #expect(fault(Self.message(buffer, serial: 1)) == .descriptor(request: buffer))
        #expect(
            fault(Self.message(buffer, serial: 1, error: EINVAL), hasDescriptor: true) == .descriptor(request: buffer))
        #expect(fault(Self.message(Self.frame, serial: 0), hasDescriptor: true) == .descriptor(request: Self.frame))
        #expect(fault(Self.message(buffer, serial: 2), hasDescriptor: true) == .unasked(request: buffer))
        #expect(fault(Self.message(Self.capability, serial: 1)) == .unasked(request: Self.capability))
        #expect(fault(Self.message(Self.capability, serial: 0)) == .unasked(request: Self.capability))
        #expect(fault(Self.message(Self.end, serial: 0)) == .error(0, request: Self.end))
        #expect(fault(Self.message(Self.frame, serial: 0, error: EIO)) == .error(EIO, request: Self.frame))
        #expect(fault(Self.message(Self.frame, serial: 0, error: -5)) == .error(-5, request: Self.frame))
        #expect(fault(Self.message(Self.frame, serial: 0, length: 3)) == .length(3, request: Self.frame))
        #expect(fault([1, 2, 3]) == .length(3, request: 0))
    }

    @Test func `a hundred thousand mutated messages end in an event or a fault`() throws {
        var generator = SeededGenerator(seed: 15)
        let good: [([UInt8], Bool)] = [
            (Self.message(Self.capability, serial: 1), false), (Self.message(Self.frame, serial: 0), false),
            (Self.message(Self.end, serial: 0, error: EIO), false),
            (Self.message(UInt32(watchbox_VIDIOC_QUERYBUF), serial: 1), true),
            (Self.message(UInt32(watchbox_WATCHBOX_LIBCAMERA_CAMERA), serial: 1), false),
        ]
        var (events, faults) = (0, 0)
        for round in 0..<100_000 {
            var (message, hasDescriptor) = good[round % good.count]
            for _ in 0..<Int.random(in: 0...4, using: &generator) {
                // The head is where it matters.
                let place = Int.random(in: 0..<min(message.count, 24), using: &generator)
                message[place] = UInt8.random(in: 0...255, using: &generator)
            }
            switch Int.random(in: 0..<8, using: &generator) {
            case 0: message = Array(message.prefix(Int.random(in: 0...message.count, using: &generator)))
            case 1: message += [UInt8](repeating: 1, count: Int.random(in: 1...64, using: &generator))
            case 2: hasDescriptor.toggle()
            default: break
            }
            var dialogue = LibcameraDialogue(at: 0)
            _ = dialogue.call(UInt32(watchbox_VIDIOC_QUERYBUF), [UInt8](repeating: 0, count: 88))
            do throws(LibcameraDialogue.Fault) {
                _ = try dialogue.received(message[...], hasDescriptor: hasDescriptor)
                events += 1
            } catch {
                #expect(!error.description.isEmpty)
                faults += 1
            }
        }
        #expect(events > 1000 && faults > 1000)
    }
}
