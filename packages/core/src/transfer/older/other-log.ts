/** Loads a log that is not of this version: an older one is migrated in memory, a newer one is opened for reading only. */
import { parseLine } from "../../format/line.ts"
import { checkIdentity, identifyLog, unknownVersion } from "../../format/identify.ts"
import type { HeadInfo, SessionStorage } from "../../storage/contract.ts"
import { EntryLog } from "../../log/entry-log.ts"
import { toEntryLog } from "./log.ts"
import { migrateLines } from "./migrate.ts"
import { retryUnavailable } from "../../storage/retry.ts"
import { type LoadedLog, type LoadOptions, readLines, tornTail } from "../../log/loaded-log.ts"
import { parseEntry } from "../../log/parse-entry.ts"
import { settledLines } from "../../log/tips.ts"
import { startBackwards } from "../../log/read-backwards.ts"
import type { Header } from "../../format/header.ts"

/** Reads the complete log; also loads a log of this version whose header is not its first line. Throws `not_a_session`. */
export async function loadOther(
  storage: SessionStorage,
  id: string,
  headInfo: HeadInfo,
  o: LoadOptions,
): Promise<LoadedLog> {
  const lines = await retryUnavailable(() => readLines(storage, id, {}, o))
  const identity = identifyLog(lines)
  const { description } = storage
  if (identity.kind !== "newer") {
    checkIdentity(identity, `The log of ${id} in ${description}`, { session: id, storage: description })
  }
  const whole = { headInfo, reading: startBackwards(headInfo, o.readWindow) }
  const diagnostics = tornTail(headInfo)
  if (identity.kind === "older") {
    const { header, records, from, diagnostics: found } = migrateLines(lines, { id })
    const log = toEntryLog(records)
    return { ...whole, header, log, settled: log.end, diagnostics: diagnostics.concat(found), older: from }
  }
  const log = EntryLog.of(lines.map((line, seq) => parseEntry(line, seq, (found) => diagnostics.push(found))))
  if (identity.kind === "sessions") {
    return { ...whole, header: identity.header, log, diagnostics, settled: settledLines(identity.header) }
  }
  // Entries that parse as entries of this version are shown; nothing is written to the log.
  const message = `The log ${unknownVersion(identity.version)}. It is open for reading only; use a newer program to write to it.`
  diagnostics.unshift({ code: "unknown_version", seq: 0, message })
  const header = (parseLine(lines[0] ?? "").record ?? { type: "session" }) as Header
  return { ...whole, header, log, settled: log.end, diagnostics, newer: { version: identity.version } }
}
