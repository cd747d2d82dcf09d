/** Refusing a head that is not the log's. */
import { type Head, StorageError } from "@sessions/core/storage"
import { type OpenLog, pathOf } from "./open-log.ts"

/** The log, where it stands at the expected head. */
export function checkExpect(log: OpenLog | undefined, expect: Head | 0, session: string): OpenLog {
  if (log === undefined) throw conflict(session, "there is no such session", undefined)
  if (expect === 0) throw conflict(session, "it exists already", pathOf(log))
  if (log.log !== expect.log) throw conflict(session, "its log was deleted or replaced meanwhile", pathOf(log))
  if (log.next !== expect.next) {
    throw conflict(session, `its next line is ${log.next}, not ${expect.next}: another writer was there`, pathOf(log))
  }
  return log
}

export function conflict(session: string, why: string, at: string | undefined): StorageError {
  return new StorageError("conflict", `Nothing was appended to session ${session}: ${why}.`, {
    session,
    ...(at === undefined ? {} : { at }),
  })
}
