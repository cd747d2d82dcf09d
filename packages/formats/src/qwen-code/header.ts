/** The header of an imported chat of Qwen Code, by the first lines of its file. */
import type { Header } from "@sessions/core"
import { sessionIdOf } from "../base/ids.ts"
import type { SourceLine } from "../base/json-lines.ts"
import { headerOf } from "../base/log-builder.ts"
import { type Fields, fieldsOf, stringOf, timestampOf } from "../base/values.ts"
import { FORMAT } from "./codec.ts"

/** The version of `encode`. */
const VERSION = 1

/** The lines of a file that say of which session it is: what a session follows from is in the first few. */
export const HEADER_LINES = 50

/** The file of a subagent has lines of that agent alone. */
export async function headerOfLines(lines: readonly SourceLine[]): Promise<Header> {
  const records = lines.flatMap(({ value }): readonly Fields[] => (value === undefined ? [] : [value]))
  const first = (name: string): string | undefined =>
    records.map((record) => stringOf(record[name])).find((value) => value !== undefined)
  const timestamp = records.map((record) => timestampOf(record["timestamp"])).find((time) => time !== undefined)
  const sessionId = first("sessionId")
  const agentId =
    records.find((record) => stringOf(record["uuid"]) !== undefined)?.["isSidechain"] === true
      ? first("agentId")
      : undefined
  const cwd = first("cwd")
  const id = agentId === undefined || sessionId === undefined ? sessionId : `${sessionId}/${agentId}`
  const header = headerOf(
    { format: FORMAT, version: VERSION, id, timestamp: timestamp ?? new Date(0).toISOString() },
    cwd === undefined ? {} : { cwd },
  )
  const parent = agentId === undefined ? parentOf(records) : sessionId
  if (parent === undefined) return header
  const parentSession = { id: await sessionIdOf(FORMAT, parent) }
  return { ...header, parentSession, ...(agentId === undefined ? {} : { kind: "subagent" }) }
}

/** The session that this one was started by, or is a copy of. */
function parentOf(records: readonly Fields[]): string | undefined {
  for (const { subtype, systemPayload, forkedFrom } of records) {
    const started = subtype === "parent_session" ? fieldsOf(systemPayload)["parentSessionId"] : undefined
    const parent = stringOf(started) ?? stringOf(fieldsOf(forkedFrom)["sessionId"])
    if (parent !== undefined) return parent
  }
  return undefined
}
