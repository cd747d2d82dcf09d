/** The bytes of a file from a line's start to a line's end, in pieces of whole lines, the next one being read while one is in use. */
import type { Files } from "../disk/files.ts"
import { readFully } from "../disk/small-files.ts"

/** Bytes of a file. */
interface ByteRange {
  readonly start: number
  readonly end: number
}

export interface Block {
  /** Where in the file it starts. */
  readonly at: number
  /** Whole lines without the last LF. Valid until the next piece but one is asked for. */
  readonly bytes: Buffer
}

/**
 * Each piece has at most `maxBytes`, or is one longer line. Ends early where the file does. What fits into one piece is read at once:
 * a promise would take several times as long, and more than that where it is the first of its process.
 */
export function readBlocks(
  files: Files,
  fd: number,
  { start, end }: ByteRange,
  maxBytes: number,
): Iterable<Block> | AsyncIterable<Block> {
  if (end - start > maxBytes) return readAhead(files, fd, { start, end }, maxBytes)
  const have = readFully(files, fd, start, end - start)
  const last = have.lastIndexOf(LF)
  return last < 0 ? [] : [{ at: start, bytes: have.subarray(0, last) }]
}

async function* readAhead(
  files: Files,
  fd: number,
  { start, end }: ByteRange,
  maxBytes: number,
): AsyncGenerator<Block, void, undefined> {
  const spare: Buffer[] = []
  const begin = (at: number, size: number): Reading => {
    const length = Math.min(size, end - at)
    const fits = spare.pop()
    const buffer = fits !== undefined && fits.length >= length ? fits : Buffer.allocUnsafeSlow(length)
    const count = files.readAsync(fd, buffer, 0, length, at)
    // Where the reader stops early nobody asks for the outcome.
    count.catch(() => undefined)
    return { at, buffer, count }
  }
  let reading: Reading | undefined = begin(start, maxBytes)
  try {
    while (reading !== undefined) {
      const { at, buffer }: Reading = reading
      const have = buffer.subarray(0, await reading.count)
      const last = have.lastIndexOf(LF)
      if (have.length === 0) return
      if (last < 0) {
        reading = have.length < end - at ? begin(at, buffer.length * 2) : undefined
        continue
      }
      const stop = last >= maxBytes ? have.indexOf(LF) : last
      const next = at + stop + 1
      reading = next < end ? begin(next, maxBytes) : undefined
      yield { at, bytes: have.subarray(0, stop) }
      if (buffer.length <= maxBytes) spare.push(buffer)
    }
  } finally {
    // A descriptor must not be closed, and its number given to another file, while something is read from it.
    await reading?.count.catch(() => undefined)
  }
}

interface Reading {
  readonly at: number
  readonly buffer: Buffer
  readonly count: Promise<number>
}

const LF = 10
