/** A session as text: the log as it is, the log with its blobs in place, a document for people, or what a migration kept. */
import { SessionError } from "../format/errors.ts"
import { blobRefs, restoreBlobs } from "../format/blob-refs.ts"
import { withChanges } from "../format/json-edit.ts"
import { parseLine } from "../format/line.ts"
import { identifyLog } from "../format/identify.ts"
import type { CallOptions, SessionStorage } from "../storage/contract.ts"
import { notFound, readLines } from "../log/loaded-log.ts"
import type { Sessions, ExportOptions } from "../session/types.ts"
import { readBackup } from "./backup.ts"
import { toMarkdown } from "./markdown.ts"

/**
 * In pieces of any length. `not_found` for a session, or a backup, that is not there; Markdown of a log that is no session is
 * `not_a_session`. A self-contained export leaves the reference where a blob is missing, as every reader does.
 */
export async function* exportSession(
  sessions: Pick<Sessions, "storage">,
  id: string,
  o: ExportOptions = {},
): AsyncGenerator<string, void, undefined> {
  const { storage } = sessions
  const { format = "jsonl", selfContained = false, backup = false } = o
  const signal = o.signal === undefined ? {} : { signal: o.signal }
  if (format !== "jsonl" && (selfContained || backup)) {
    throw new SessionError("invalid", "A self-contained export, and a backup, has the format jsonl.", { session: id })
  }
  if (selfContained && backup)
    throw new SessionError("invalid", "A backup comes as it was, so it cannot be self-contained.", { session: id })
  if (format === "markdown") return yield* toMarkdown(storage, id, signal)
  const head = await storage.head(id, signal)
  if (head === undefined) throw notFound(storage, id)
  const [header = ""] = await readLines(storage, id, { from: 0, to: 1 }, signal)
  if (backup) return yield* readBackup(storage, id, parseLine(header).record?.["origin"], signal)
  const foreign = identifyLog([header]).kind !== "sessions"
  for await (const { lines } of storage.read(id, { from: 0, to: head.next }, signal)) {
    if (!selfContained) yield `${lines.join("\n")}\n`
    else for (const line of lines) yield `${await withBlobs(storage, line, foreign, signal)}\n`
  }
}

/** The line with what was moved out of it back in its places; a line that nothing was moved out of as it is. */
async function withBlobs(storage: SessionStorage, line: string, foreign: boolean, o: CallOptions): Promise<string> {
  if (!line.includes("blob:sha256:")) return line
  const { record } = parseLine(line)
  if (record === undefined) return line
  const found = new Map<string, Uint8Array>()
  for (const { hash } of blobRefs(record, { foreign })) {
    const bytes = found.has(hash) ? undefined : await storage.blobs.get(hash, o)
    if (bytes !== undefined) found.set(hash, bytes)
  }
  return withChanges(line, record, restoreBlobs(record, (hash) => found.get(hash), { foreign }).entry)
}
