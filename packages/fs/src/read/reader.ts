/** Reading lines, in pieces, with the memory of two pieces whatever the log's length. */
import {
  type CheckedRange,
  checkSignal,
  type Chunk,
  MAX_CHUNK_BYTES,
  rangeIn,
  type Seq,
  StorageError,
} from "@sessions/core/storage"
import { findBroken } from "../log/decode.ts"
import type { Deps } from "../deps.ts"
import { READ } from "../disk/files.ts"
import { below } from "../disk/layout.ts"
import { createGuard, type Guard } from "./guard.ts"
import { locate } from "../log/locate.ts"
import { readBlocks } from "./blocks.ts"
import { isAsLong, type Part, partFor } from "../log/parts.ts"

/** The lines of a range in log order. See `SessionStorage.read`. */
export async function* readLines(
  deps: Deps,
  session: string,
  range: CheckedRange,
  signal: AbortSignal | undefined,
): AsyncGenerator<Chunk, void, undefined> {
  const view = deps.view(session)
  if (view === undefined) return
  const { from, to } = rangeIn(range, view.next)
  let seq = from
  if (seq >= to) return
  const guard = createGuard(deps, session, view)
  // Where the folder is was just seen; nothing is waited for until the first part is open.
  let folder: string | undefined = view.folder
  for (const part of view.parts) {
    if (part.end.seq <= seq) continue
    if (part.from >= to) break
    if (part.from > seq) break
    const reading = { deps, session, guard, signal, folder }
    for await (const chunk of readPart(reading, part, seq, Math.min(to, part.end.seq))) {
      seq = chunk.from + chunk.lines.length
      yield chunk
    }
    folder = undefined
  }
  // A batch that was in flight when the read began may have failed and been cut off since.
  if (seq >= to) guard.check()
  else if (seq < Math.min(to, guard.checkAll().next)) throw missingLine(session, seq, view.folder)
}

interface Reading {
  readonly deps: Deps
  readonly session: string
  readonly guard: Guard
  readonly signal: AbortSignal | undefined
  /** Where the log lies, if that was looked at in this very turn. */
  readonly folder: string | undefined
}

async function* readPart(reading: Reading, found: Part, from: Seq, to: Seq): AsyncGenerator<Chunk, void, undefined> {
  const { deps, session, guard, signal } = reading
  const { files } = deps
  const { fd, folder } = openPart(reading, found)
  try {
    let seq = from
    const part = isAsLong(files, fd, found) ? found : recount(reading, found)
    const range = locate(files, fd, partFor(files, folder, part, from, to), from, to)
    for await (const { at, bytes } of readBlocks(files, fd, range, MAX_CHUNK_BYTES)) {
      checkSignal(signal)
      guard.check()
      const lines = deps.decodeLines(bytes)
      if (lines === undefined) throw notUtf8(session, below(folder, part.name), at + findBroken(bytes))
      yield { from: seq, lines }
      seq += lines.length
    }
    checkSignal(signal)
  } finally {
    files.close(fd)
  }
}

/** A part that was changed by hand since it was counted: its lines are elsewhere. */
function recount({ deps, session, guard }: Reading, found: Part): Part {
  deps.reloadView(session)
  return guard.checkAll().parts.find(({ name }) => name === found.name) ?? found
}

/** The folder may have moved since it was looked at, and what is opened under its name may be another log's. */
function openPart({ deps, session, guard, folder }: Reading, part: Part): { fd: number; folder: string } {
  const place = folder ?? guard.checkAll().folder
  const path = below(place, part.name)
  let fd: number
  try {
    fd = deps.files.open(path, READ)
  } catch (error) {
    guard.checkAll()
    throw deps.error(error, "read the log", session, path)
  }
  try {
    guard.checkAll()
  } catch (error) {
    deps.files.close(fd)
    throw error
  }
  return { fd, folder: place }
}

function notUtf8(session: string, path: string, offset: number): StorageError {
  return new StorageError(
    "corrupt",
    `The line at byte ${offset} of ${path} is not UTF-8, so session ${session} cannot be read there; it is left as it is.`,
    { session, at: `${path}:${offset}` },
  )
}

function missingLine(session: string, seq: Seq, folder: string): StorageError {
  return new StorageError(
    "corrupt",
    `Session ${session} has no line ${seq}: a part of its log in ${folder} is missing, or was cut short. Put the file back.`,
    { session, at: folder },
  )
}
