/** Loads a log that does not begin as one of this version: a reader reads an older one, a newer one is opened for reading only. */
import { SessionError } from "../format/errors.ts"
import type { Header } from "../format/header.ts"
import { checkIdentity, identifyStart, readStart, unknownVersion } from "../format/identify.ts"
import { parseLine } from "../format/line.ts"
import { retryUnavailable } from "../storage/retry.ts"
import { EntryLog } from "./entry-log.ts"
import { type LoadOther, readLines, tornTail } from "./load.ts"
import type { LogReader, LogReaderCode } from "./log-reader.ts"
import { parseEntry } from "./parse-entry.ts"
import { startBackwards } from "./read-backwards.ts"
import { settledLines } from "./tips.ts"

/**
 * Reads the complete log; also one of this version whose header is not its first line. Throws `not_a_session`, and `older_version` if none
 * of the readers reads the log.
 */
export function loadOther(readers: readonly LogReader[]): LoadOther {
  // `createSessions` has checked that their code is there.
  const codes = readers as readonly LogReaderCode[]
  return async (storage, id, headInfo, o) => {
    const lines = await retryUnavailable(() => readLines(storage, id, {}, o))
    const about = { session: id, storage: storage.description }
    const whole = { headInfo, reading: startBackwards(headInfo, o.readWindow) }
    const diagnostics = tornTail(headInfo)
    const reader = codes.find((one) => one.reads(lines))
    if (reader !== undefined) {
      const { header, log, from, diagnostics: found } = reader.read(lines, id)
      const older = { ...from, reader }
      return { ...whole, header, log, settled: log.end, diagnostics: diagnostics.concat(found), older }
    }
    const identity = identifyStart(lines, readStart(lines))
    if (identity.kind !== "newer") checkIdentity(identity, `The log of ${id} in ${storage.description}`, about)
    if (identity.kind === "older") {
      const message = `The log of ${id} is of version ${identity.version}, as pi and oh-my-pi write it. To open it, import { piLogs } from "@sessions/core/migrations", and call createSessions({ storage, readers: [piLogs] }).`
      throw new SessionError("older_version", message, about)
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
}
