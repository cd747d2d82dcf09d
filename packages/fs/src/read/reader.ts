/** Reads the lines of a range as chunks, block by block, so that memory is bounded by two blocks for a log of any length. */
import { type CheckedRange, type Chunk, rangeIn, type Seq } from "@sessions/core/storage"
import type { Deps } from "../deps.ts"
import { locate } from "../log/locate.ts"
import { partFor } from "../log/parts.ts"
import { checkReached, createReading, type Locate, readPart, type Reading } from "./part.ts"
import { readWindow } from "./window.ts"

/** The lines of a range or a window in log order. See `SessionStorage.read`. The end of the log is fixed at once. */
export function readLines(
  deps: Deps,
  session: string,
  range: CheckedRange,
  signal: AbortSignal | undefined,
): AsyncGenerator<Chunk, void, undefined> {
  const view = deps.view(session)
  const { from, to } = rangeIn(range, view)
  if (view === undefined || from >= to) return nothing()
  const reading = createReading(deps, session, view, signal)
  return range.maxBytes === undefined ? readRange(reading, from, to) : readWindow(reading, to, range.maxBytes)
}

async function* nothing(): AsyncGenerator<never, void, undefined> {}

async function* readRange(reading: Reading, from: Seq, to: Seq): AsyncGenerator<Chunk, void, undefined> {
  const { files } = reading.deps
  let seq = from
  for (const part of reading.view.parts) {
    if (part.end.seq <= seq) continue
    if (part.from > seq || part.from >= to) break
    const start = seq
    const end = Math.min(to, part.end.seq)
    const find: Locate = (fd, folder, found) => locate(files, fd, partFor(files, folder, found, start, end), start, end)
    for await (const { chunk, damage } of readPart(reading, part, find)) {
      if (damage !== undefined) throw damage
      seq = chunk.from + chunk.lines.length
      yield chunk
    }
  }
  checkReached(reading, seq, to)
}
