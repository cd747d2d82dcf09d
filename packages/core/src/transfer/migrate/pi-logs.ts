/** The reader of the logs of pi and oh-my-pi, for `readers` of `createSessions`. */
import { identifyStart, readStart } from "../../format/identify.ts"
import type { LogReader, LogReaderCode } from "../../log/log-reader.ts"
import { migrateStored } from "./migrate.ts"
import { toEntryLog } from "../older/records.ts"
import { migrateLines } from "../older/migrate.ts"

const reader: LogReaderCode = {
  formats: ["pi", "oh-my-pi"],
  reads: (lines) => identifyStart(lines, readStart(lines)).kind === "older",
  read(lines, id) {
    const { records, ...log } = migrateLines(lines, { id })
    return { ...log, log: toEntryLog(records) }
  },
  replace: migrateStored,
}

/**
 * Opens the logs of pi and oh-my-pi, which are the versions 1 to 3 of this format, in their place: as sessions of this version, and
 * the first write to one replaces its log by that, unless `migrateOnWrite` is off. Lists, information and every other call of the
 * repository need it, too. `importSession` and the other calls of `@sessions/core/transfer` read such logs without it.
 *
 * ```ts
 * const sessions = createSessions({ storage, readers: [piLogs] })
 * ```
 */
export const piLogs: LogReader = reader
