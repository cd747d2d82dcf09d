/** Keeps the lines of an import in a temporary file between counting and writing them. */
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Importer } from "@sessions/core/transfer"
import { toStorageError } from "./disk/errors.ts"

type Hold = NonNullable<Importer["hold"]>

export interface LineFile extends Disposable {
  /** For an `Importer`, or the option `hold` of `importFile`. */
  readonly hold: Hold
}

/**
 * A temporary file in `folder`, by default that of the system, which needs space for the session. Made at the first call of `hold` and removed
 * by the disposal; only its user may read it. A crash leaves a folder `sessions-hold-*`.
 */
export function holdInFile(folder: string = tmpdir()): LineFile {
  const made: { readonly folder: string; readonly fd: number }[] = []
  return {
    hold() {
      const own = placed(folder, () => fs.mkdtempSync(join(folder, "sessions-hold-")))
      const fd = placed(own, () => fs.openSync(join(own, "lines"), "wx+", 0o600))
      made.push({ folder: own, fd })
      return linesIn(fd, own)
    },
    [Symbol.dispose]() {
      for (const { folder: own, fd } of made.splice(0)) {
        fs.closeSync(fd)
        fs.rmSync(own, { recursive: true, force: true })
      }
    },
  }
}

function linesIn(fd: number, at: string): ReturnType<Hold> {
  // One buffer for all lines: many would be freed later than they are made.
  const buffer = Buffer.allocUnsafeSlow(PIECE_BYTES)
  let used = 0
  const write = (bytes: Uint8Array): void => placed(at, () => fs.writeFileSync(fd, bytes))
  const flush = (): void => {
    write(buffer.subarray(0, used))
    used = 0
  }
  return {
    push(line) {
      const most = line.length * MAX_UTF8_BYTES + 1
      if (most > buffer.length - used) flush()
      if (most > buffer.length) write(Buffer.from(`${line}\n`))
      else {
        used += buffer.write(line, used)
        buffer[used++] = LF
      }
    },
    async *lines() {
      flush()
      yield* readLines(fd, at)
    },
  }
}

/** The lines of a piece at a time: a step of an async iterator for each would cost as much as reading it. */
function* readLines(fd: number, path: string): Generator<readonly string[], void, undefined> {
  let bytes: Buffer = Buffer.allocUnsafeSlow(PIECE_BYTES)
  /** How many bytes at the beginning are of a line whose end has not been read. */
  let open = 0
  for (let at = 0; ; ) {
    const count = placed(path, () => fs.readSync(fd, bytes, open, bytes.length - open, at))
    if (count === 0) return
    at += count
    const length = open + count
    const end = bytes.subarray(0, length).lastIndexOf(LF) + 1
    // Not by a decoder of a stream: its texts take two bytes a character, and all that is done with them twice the time.
    if (end > 0) yield bytes.toString("utf8", 0, end - 1).split("\n")
    open = length - end
    const next = sized(bytes, open)
    bytes.copy(next, 0, end, length)
    bytes = next
  }
}

/** A buffer with room behind the open line. A line may be much longer than a piece; the lines after it come in pieces again. */
function sized(bytes: Buffer, open: number): Buffer {
  if (open === bytes.length) return Buffer.allocUnsafeSlow(2 * open)
  return open < PIECE_BYTES && bytes.length > PIECE_BYTES ? Buffer.allocUnsafeSlow(PIECE_BYTES) : bytes
}

function placed<T>(at: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw toStorageError(error, "hold the lines of the import in a temporary file", { at })
  }
}

/** Of more, V8 keeps the texts apart from other young objects, and frees them later. */
const PIECE_BYTES = 65_536

const LF = 10
/** Most bytes of one UTF-16 unit. */
const MAX_UTF8_BYTES = 3
