/** Exports a session as text: its log unchanged, its log with the blobs inlined, Markdown, or the backup of its migration. */
import { SessionError } from "../../format/errors.ts"
import { blobRefs, restoreBlobs } from "../../format/blobs.ts"
import { withChanges } from "../../format/json-edit.ts"
import { parseLine } from "../../format/line.ts"
import { signalOf } from "../../storage/signals.ts"
import type { CallOptions, SessionStorage } from "../../storage/contract.ts"
import type { ExportOptions } from "../types.ts"
import { readBackup } from "../migrate/backup.ts"
import { readHeader } from "../headers.ts"
import { toMarkdown } from "./markdown.ts"

/**
 * Yields chunks of any length. Errors: `not_found` if there is no such session or backup; `not_a_session` for Markdown of a file
 * that is not a session. A self-contained export keeps the reference to a blob that is missing, as every reader does.
 */
export async function* exportStored(
  storage: SessionStorage,
  id: string,
  o: ExportOptions = {},
): AsyncGenerator<string, void, undefined> {
  const { format = "jsonl", selfContained = false, backup = false } = o
  const signal = signalOf(o)
  if (format !== "jsonl" && (selfContained || backup)) {
    throw new SessionError("invalid", "A self-contained export or a backup needs the format jsonl.", { session: id })
  }
  if (selfContained && backup)
    throw new SessionError("invalid", "A backup is exported unchanged, so it cannot be self-contained.", {
      session: id,
    })
  if (format === "markdown") return yield* toMarkdown(storage, id, signal)
  const { head, line: first, header } = await readHeader(storage, id, signal)
  if (backup) return yield* readBackup(storage, id, parseLine(first).record?.["origin"], signal)
  const foreign = header === undefined
  for await (const { lines } of storage.read(id, { from: 0, to: head.next }, signal)) {
    if (!selfContained) yield `${lines.join("\n")}\n`
    else for (const line of lines) yield `${await withBlobs(storage, line, foreign, signal)}\n`
  }
}

/** The line with its blobs inlined; a line without blob references stays unchanged. */
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
