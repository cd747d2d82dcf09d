/**
 * Reads a window, the last lines before a seq that come to some bytes. The sizes of the parts say in which one it begins; in that one its
 * first line is found from its end.
 */
import { afterDamage, type Chunk, type Seq, type WindowStep } from "@sessions/core/storage"
import { knownEnd, locateLast, locateWindow } from "../log/locate.ts"
import { type Part, partForWindow } from "../log/parts.ts"
import { checkReached, type Locate, missingLineError, openPart, readPart, type Reading } from "./part.ts"

export async function* readWindow(reading: Reading, to: Seq, maxBytes: number): AsyncGenerator<Chunk, void, undefined> {
  for await (const { chunk } of afterDamage(stepsOf(reading, to, maxBytes), maxBytes)) yield chunk
}

async function* stepsOf(reading: Reading, to: Seq, maxBytes: number): AsyncGenerator<WindowStep, void, undefined> {
  const { parts } = reading.view
  const { files } = reading.deps
  const last = parts.findLastIndex((part) => part.from < to)
  const { first, left } = firstPartOf(reading, last, to, maxBytes)
  let seq = 0
  for (let index = first; index <= last; index++) {
    const part = parts[index] as Part
    const end = Math.min(to, part.end.seq)
    // All of the later parts is within the window.
    const most = index === first ? left : Number.POSITIVE_INFINITY
    let until = end
    const find: Locate = (fd, folder, found) => {
      const counted = partForWindow(files, folder, found, fd, end, most)
      until = Math.min(end, counted.end.seq)
      const window = locateWindow(files, fd, counted, until, most)
      return window.start < window.end || index < last ? window : locateLast(files, fd, counted, until)
    }
    for await (const step of readPart(reading, part, find)) {
      seq = step.chunk.from + step.chunk.lines.length
      yield step
    }
    if (until === end || index === last) continue
    yield { chunk: { from: end, lines: [] }, damage: missingLineError(reading.session, until, reading.view.folder) }
  }
  checkReached(reading, seq, to)
}

/** The part in which the window begins, and how many bytes it may have there. */
function firstPartOf(
  reading: Reading,
  last: number,
  to: Seq,
  maxBytes: number,
): { readonly first: number; readonly left: number } {
  const { parts } = reading.view
  let left = maxBytes
  for (let first = last; ; first--) {
    const part = parts[first] as Part
    const before = parts[first - 1]
    // If a part is missing before this one, the lines after it can still be read.
    if (before === undefined || before.end.seq !== part.from) return { first, left }
    const bytes = knownEnd(part, to) ?? readEnd(reading, part, to)
    if (bytes >= left) return { first, left }
    left -= bytes
  }
}

/** Where the line before `to` ends in a part. */
function readEnd(reading: Reading, found: Part, to: Seq): number {
  const { files } = reading.deps
  const { fd, folder } = openPart(reading, found)
  try {
    return locateWindow(files, fd, partForWindow(files, folder, found, fd, to, 0), to, 0).end
  } finally {
    files.close(fd)
  }
}
