/** A session from a file: our own log as it is, an older one migrated. */
import type { BlobLimits } from "../../format/blob-refs.ts"
import type { SessionStorage } from "../../storage/contract.ts"
import { writeLog } from "./batches.ts"
import { olderLogToWrite } from "./import-older.ts"
import { ownLogToWrite } from "./import-own.ts"
import { checkFormat, identifySource, openSource } from "./source.ts"
import type { ImportOptions, ImportResult, ImportSource } from "./types.ts"

export interface ImportLimits {
  readonly maxSessionBytes: number
  readonly blobs: BlobLimits
}

/**
 * Writes the session under this id; its file is read twice. `not_a_session` and `newer_version` for what is none of ours,
 * `too_large` before anything is written, `exists` where another session has the id. A call that was cut off is completed by the
 * same call.
 */
export async function importSession(
  storage: SessionStorage,
  source: ImportSource,
  id: string,
  options: ImportLimits,
  o: ImportOptions = {},
): Promise<ImportResult> {
  const opened = await openSource(source, o.signal)
  const kind = await identifySource(opened)
  const log =
    kind === "sessions"
      ? await ownLogToWrite(storage, opened, id, options.blobs)
      : await olderLogToWrite(storage, opened, id, options.blobs)
  checkFormat(o.from, log.from.format)
  const diagnostics = [...log.diagnostics]
  const written = await writeLog(storage, log, {
    maxSessionBytes: options.maxSessionBytes,
    note: (diagnostic) => diagnostics.push(diagnostic),
    onProgress: o.onProgress,
    ...(o.signal === undefined ? {} : { signal: o.signal }),
  })
  return { id, lines: written.lines, from: log.from, diagnostics }
}
