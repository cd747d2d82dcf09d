/** Reads the lines of a range as chunks, block by block, so that memory is bounded by two blocks for a log of any length. */
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
import { createGuard, type LogGuard } from "./guard.ts"
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
  const { files } = deps
  const guard = createGuard(deps, session, view)
  // The view is of this very tick; before a later part is opened, the folder may have moved.
  let folder: string | undefined = view.folder
  for (const found of view.parts) {
    if (found.end.seq <= seq) continue
    if (found.from > seq || found.from >= to) break
    const opened = openPart(deps, session, guard, folder ?? guard.check(), found)
    folder = undefined
    const { fd } = opened
    try {
      const end = Math.min(to, found.end.seq)
      const part = isAsLong(files, fd, found) ? found : recount(deps, session, guard, found)
      const bytesOf = locate(files, fd, partFor(files, opened.folder, part, seq, end), seq, end)
      for await (const { at, bytes } of readBlocks(files, fd, bytesOf, MAX_CHUNK_BYTES)) {
        checkSignal(signal)
        guard.check()
        const lines = deps.decodeLines(bytes)
        if (lines === undefined) throw notUtf8(session, below(opened.folder, part.name), at + findBroken(bytes))
        yield { from: seq, lines }
        seq += lines.length
      }
      checkSignal(signal)
    } finally {
      files.close(fd)
    }
  }
  // A batch whose write was under way when the read began may have failed and been cut off since.
  if (seq >= to) guard.check()
  else if (seq < Math.min(to, guard.reload().next)) throw missingLine(session, seq, view.folder)
}

interface OpenedPart {
  readonly fd: number
  readonly folder: string
}

/** Checks the identity after opening, because the name may have led to another log's file. */
function openPart(deps: Deps, session: string, guard: LogGuard, folder: string, part: Part): OpenedPart {
  const path = below(folder, part.name)
  let fd: number
  try {
    fd = deps.files.open(path, READ)
  } catch (error) {
    guard.reload()
    throw deps.error(error, "read the log", session, path)
  }
  try {
    guard.check()
  } catch (error) {
    deps.files.close(fd)
    throw error
  }
  return { fd, folder }
}

/** The lines of a part that was changed by hand are not where the view has them. */
function recount(deps: Deps, session: string, guard: LogGuard, found: Part): Part {
  deps.reloadView(session)
  return guard.reload().parts.find(({ name }) => name === found.name) ?? found
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
