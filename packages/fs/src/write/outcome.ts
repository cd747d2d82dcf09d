/** Resolves the outcome of a write by searching the log for its lines. */
import { join } from "node:path"
import { type Head, StorageError } from "@sessions/core/storage"
import { READ } from "../disk/files.ts"
import { readFully } from "../disk/small-files.ts"
import type { Deps } from "../deps.ts"
import { countLines } from "../log/count.ts"
import { offsetBefore } from "../log/sparse-index.ts"
import { countPart } from "../log/parts.ts"
import type { LogView } from "../log/view.ts"

/**
 * Returns the new head if all lines are directly after `expect`. Throws `conflict` if the log has none of them, and `indeterminate`
 * for anything between. Call under the lock: another holder may be about to end the part before these lines, which makes them void.
 */
export function resolveOutcome(deps: Deps, session: string, lines: readonly string[], expect: Head): Head {
  const view = deps.view(session)
  const after = view === undefined || view.log !== expect.log ? [] : linesFrom(deps, view, expect.next)
  if (lines.every((line, index) => after[index] === line)) return { next: expect.next + lines.length, log: expect.log }
  const own = new Set(lines)
  if (!after.some((line) => own.has(line))) {
    throw new StorageError(
      "conflict",
      `Nothing was appended to session ${session}: another writer took over the log.`,
      { session },
    )
  }
  throw unknownOutcomeError(session)
}

export function unknownOutcomeError(session: string, cause?: unknown): StorageError {
  const message = `Another writer took over session ${session} during an append: read the log to see which lines are there.`
  return new StorageError("indeterminate", message, { session, cause })
}

function linesFrom(deps: Deps, view: LogView, seq: number): string[] {
  const lines: string[] = []
  for (const found of view.parts) {
    if (found.end.seq <= seq) continue
    const part = countPart(deps.files, view.folder, found)
    const fd = deps.files.open(join(view.folder, part.name), READ)
    try {
      const start = countLines(deps.files, fd, {
        start: offsetBefore(part.offsets, seq),
        end: part.end.offset,
        until: seq,
      })
      const bytes = readFully(deps.files, fd, start.offset, part.end.offset - start.offset)
      lines.push(...bytes.toString("utf8").split("\n").slice(0, -1))
    } finally {
      deps.files.close(fd)
    }
  }
  return lines
}
