/** Reads the lines of one part, block by block; the parts of one read share its {@link Reading}. */
import { checkSignal, MAX_CHUNK_BYTES, type Seq, StorageError, type WindowStep } from "@sessions/core/storage"
import type { Deps } from "../deps.ts"
import { READ } from "../disk/files.ts"
import { below } from "../disk/layout.ts"
import { findBroken, linesAfterBroken } from "../log/decode.ts"
import type { Window } from "../log/locate.ts"
import { isAsLong, type Part } from "../log/parts.ts"
import type { LogView } from "../log/view.ts"
import { readBlocks } from "./blocks.ts"
import { createGuard, type LogGuard } from "./guard.ts"

/** One call of `read`. */
export interface Reading {
  readonly deps: Deps
  readonly session: string
  readonly view: LogView
  readonly guard: LogGuard
  readonly signal: AbortSignal | undefined
  /** Where the log's folder is: that of the view for the first part, which is of this very tick; it may move before later ones. */
  readonly folder: () => string
}

export function createReading(deps: Deps, session: string, view: LogView, signal: AbortSignal | undefined): Reading {
  const guard = createGuard(deps, session, view)
  let seen: string | undefined = view.folder
  const folder = (): string => {
    const now = seen ?? guard.check()
    seen = undefined
    return now
  }
  return { deps, session, view, guard, signal, folder }
}

/** The lines to read of a part that is open as `fd` in `folder`. */
export type Locate = (fd: number, folder: string, part: Part) => Window

/**
 * If a block has lines that are not UTF-8, they are `damage`, and its chunk has the lines after them. A part with more or fewer lines than it
 * should have is damage as a whole, because nothing shows which of its lines belongs to which seq.
 */
export async function* readPart(
  reading: Reading,
  found: Part,
  find: Locate,
): AsyncGenerator<WindowStep, void, undefined> {
  const { deps, session, guard, signal } = reading
  const { files, decodeLines } = deps
  const { fd, folder } = openPart(reading, found)
  try {
    const part = isAsLong(files, fd, found) ? found : recount(reading, found)
    const path = below(folder, part.name)
    const { from, to, ...bytesOf } = find(fd, folder, part)
    if (deps.damaged.has(path, fd)) return yield asDamaged(reading, path, part, to)
    let seq = from
    for await (const { at, bytes } of readBlocks(files, fd, bytesOf, MAX_CHUNK_BYTES)) {
      checkSignal(signal)
      guard.check()
      const lines = decodeLines(bytes)
      const { count, after } = lines === undefined ? linesAfterBroken(bytes, decodeLines) : toWhole(lines)
      seq += count
      // Lines of the next part would be skipped.
      if (seq > to) break
      const chunk = { from: seq - after.length, lines: after }
      yield lines === undefined ? { chunk, damage: notUtf8(session, path, at + findBroken(bytes)) } : { chunk }
    }
    checkSignal(signal)
    // A batch whose write was under way when the read began may have failed and been cut off since.
    if (seq === to || (seq < to && guard.reload().next < to)) return
    deps.damaged.add(path, fd)
    yield asDamaged(reading, path, part, to)
  } finally {
    files.close(fd)
  }
}

function toWhole(lines: readonly string[]): ReturnType<typeof linesAfterBroken> {
  return { count: lines.length, after: lines }
}

/** For the end of a read that came up to the line `seq`. */
export function checkReached({ session, view, guard }: Reading, seq: Seq, to: Seq): void {
  // The same batch.
  if (seq >= to) guard.check()
  else if (seq < Math.min(to, guard.reload().next)) throw missingLineError(session, seq, view.folder)
}

interface OpenedPart {
  readonly fd: number
  readonly folder: string
}

/** Checks the identity after opening, because the name may have led to another log's file. */
export function openPart({ deps, session, guard, folder }: Reading, part: Part): OpenedPart {
  const place = folder()
  const path = below(place, part.name)
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
  return { fd, folder: place }
}

/** The lines of a part that was changed by hand are not where the view has them. */
function recount({ deps, session, guard }: Reading, found: Part): Part {
  deps.reloadView(session)
  return guard.reload().parts.find(({ name }) => name === found.name) ?? found
}

function notUtf8(session: string, path: string, offset: number): StorageError {
  return new StorageError(
    "corrupt",
    `The line at byte ${offset} of ${path} is not UTF-8, so session ${session} cannot be read there. It is left as it is: \`verify\` names each such line, and an import of the file keeps the others.`,
    { session, at: `${path}:${offset}` },
  )
}

function asDamaged({ session }: Reading, path: string, { from, end }: Part, to: Seq): WindowStep {
  const message = `The part ${path} of session ${session} should have the lines ${from} to ${end.seq - 1}, and has more or fewer: its bytes were changed. Put the file back.`
  return { chunk: { from: to, lines: [] }, damage: new StorageError("corrupt", message, { session, at: path }) }
}

export function missingLineError(session: string, seq: Seq, folder: string): StorageError {
  return new StorageError(
    "corrupt",
    `Session ${session} has no line ${seq}: a part of its log in ${folder} is missing, or was cut short. Put the file back.`,
    { session, at: folder },
  )
}
