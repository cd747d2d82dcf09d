/** A session from a file: our own log as it is, an older one migrated. */
import type { BlobLimits } from "../format/blob-refs.ts"
import { parseLine } from "../format/line.ts"
import type { Header } from "../format/records.ts"
import type { SessionStorage } from "../storage/contract.ts"
import type { Hooks } from "../session/hooks.ts"
import { writeLog } from "./batches.ts"
import { hookedLog } from "./hooked-lines.ts"
import { olderLogToWrite } from "./import-older.ts"
import { ownLogToWrite } from "./import-own.ts"
import { checkFormat, identifySource, openSource } from "./source.ts"
import type { ImportOptions, ImportResult, ImportSource } from "../session/types.ts"

export interface ImportLimits {
  readonly maxSessionBytes: number
  readonly blobs: BlobLimits
  readonly hooks: readonly Hooks[]
}

/**
 * Writes the session under this id; its file is read twice. `not_a_session` and `newer_version` for what is none of ours,
 * `too_large` before anything is written, `exists` where another session has the id. A call that was cut off is completed by the
 * same call. `append` hooks see each entry, and one that throws ends it before anything is written.
 */
export async function importSession(
  storage: SessionStorage,
  source: ImportSource,
  id: string,
  options: ImportLimits,
  o: ImportOptions = {},
): Promise<{ readonly result: ImportResult; readonly header: Header }> {
  const opened = await openSource(source, o.signal)
  const kind = await identifySource(opened)
  const found =
    kind === "sessions"
      ? await ownLogToWrite(storage, opened, id, options.blobs)
      : await olderLogToWrite(storage, opened, id, options.blobs)
  checkFormat(o.from, found.from.format)
  const signal = o.signal === undefined ? {} : { signal: o.signal }
  const log = hookedLog(found, { storage, hooks: options.hooks, limits: options.blobs }, signal)
  const diagnostics = [...log.diagnostics]
  const written = await writeLog(storage, log, {
    maxSessionBytes: options.maxSessionBytes,
    note: (diagnostic) => diagnostics.push(diagnostic),
    onProgress: o.onProgress,
    ...signal,
  })
  const result = { id, lines: written.lines, from: log.from, diagnostics }
  return { result, header: parseLine(written.header).record as unknown as Header }
}
