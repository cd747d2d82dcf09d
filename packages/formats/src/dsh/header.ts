/** The first line of a log. */
import { type Header, SessionError } from "@sessions/core"
import { sessionIdOf } from "../base/ids.ts"
import { headerOf } from "../base/log-builder.ts"
import { type Fields, stringOf, timestampOf } from "../base/values.ts"
import { FORMAT } from "./codec.ts"

/** The version of `encode`. */
const VERSION = 1

/** The generations of the log whose events are known. */
const NEWEST = 3

/** Logs of pi begin with a header of this type, too, but with a `timestamp`. */
export function isHeader(record: Fields | undefined): record is Fields {
  const { type, version, id, createdAt, timestamp } = record ?? {}
  return (
    type === "session" &&
    typeof version === "number" &&
    typeof id === "string" &&
    typeof createdAt === "number" &&
    timestamp === undefined
  )
}

/** A generation that is not known may keep messages elsewhere: nothing of it is read. */
export async function headerOfLog(record: Fields): Promise<Header> {
  const { version, id, createdAt, cwd, parentSession: parent, origin } = record
  if ((version as number) > NEWEST) {
    const message = `The log of deepseek-harness is of generation ${String(version)}, and those up to ${NEWEST} are known.`
    throw new SessionError("newer_version", message)
  }
  const timestamp = timestampOf(createdAt) ?? new Date(0).toISOString()
  return headerOf(
    { format: FORMAT, version: VERSION, id: stringOf(id), timestamp },
    {
      ...(typeof cwd === "string" ? { cwd } : {}),
      ...(origin === "subagent" ? { kind: "subagent" } : {}),
      ...(typeof parent === "string" ? { parentSession: { id: await sessionIdOf(FORMAT, parent) } } : {}),
    },
  )
}
