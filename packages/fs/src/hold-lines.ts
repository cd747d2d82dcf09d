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
        used += buffer.write(line, used, "utf8")
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
  const bytes = new Uint8Array(PIECE_BYTES)
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  let open = ""
  for (let at = 0; ; ) {
    const count = placed(path, () => fs.readSync(fd, bytes, 0, bytes.length, at))
    if (count === 0) return
    at += count
    const lines = decoder.decode(bytes.subarray(0, count), { stream: true }).split("\n")
    // Not searched again: a line may be much longer than a piece.
    lines[0] = open + (lines[0] ?? "")
    open = lines.pop() ?? ""
    if (lines.length > 0) yield lines
  }
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
