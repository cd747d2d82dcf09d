/** The header of an imported session of Claude Code, by the first lines of its file. */
import type { Header } from "@sessions/core"
import type { ReadSource } from "../base/format.ts"
import { sessionIdOf } from "../base/ids.ts"
import type { SourceLine } from "../base/json-lines.ts"
import { headerOf } from "../base/log-builder.ts"
import { type Fields, isObject, stringOf, timestampOf } from "../base/values.ts"
import { REPEATED_FIELDS } from "./encode.ts"
import { FORMAT_NAME } from "./lines.ts"

/** How many lines are read for it: a file begins with few lines that have no time, or that are those of a sidechain. */
export const FIRST_LINES = 500

/** A line of the main conversation with its folder: a file may begin with those of a sidechain. */
export function isMainLine({ value }: SourceLine): boolean {
  if (value === undefined || value["isSidechain"] === true || typeof value["cwd"] !== "string") return false
  return typeof value["uuid"] === "string" && timestampOf(value["timestamp"]) !== undefined
}

/** The file of a subagent has lines of that agent alone. */
export async function headerOfLines(lines: readonly SourceLine[], beside: ReadSource["beside"]): Promise<Header> {
  const values = lines.flatMap(({ value }): readonly Fields[] => (value === undefined ? [] : [value]))
  const first = (name: string): string | undefined =>
    values.map((value) => stringOf(value[name])).find((v) => v !== undefined)
  const withUuid = values.filter((value) => typeof value["uuid"] === "string")
  const dated: Fields = withUuid.find((value) => value["isSidechain"] !== true) ?? withUuid[0] ?? {}
  const sessionId = first("sessionId")
  const agentId = dated["isSidechain"] === true ? stringOf(dated["agentId"]) : undefined
  const sourceId = sessionId ?? first("uuid")
  const timestamp = values.map(({ timestamp }) => timestampOf(timestamp)).find((time) => time !== undefined) ?? NO_TIME
  const cwd = first("cwd")
  const repeated = Object.fromEntries(
    REPEATED_FIELDS.flatMap((name) => (dated[name] === undefined ? [] : [[name, dated[name]]])),
  )
  const id = agentId === undefined || sourceId === undefined ? sourceId : `${sourceId}/${agentId}`
  const header = headerOf({ format: FORMAT_NAME, version: 1, id, timestamp }, cwd === undefined ? {} : { cwd })
  const origin = { ...header.origin, repeated } as unknown as NonNullable<Header["origin"]>
  if (agentId === undefined || sourceId === undefined) return { ...header, origin }
  const meta = values.find(({ type }) => type === "agent_metadata") ?? (await metadataOf(beside))
  const title = stringOf(meta?.["description"])
  const parentSession = { id: await sessionIdOf(FORMAT_NAME, sourceId) }
  return { ...header, ...(title === undefined ? {} : { title }), kind: "subagent", parentSession, origin }
}

const NO_TIME = "1970-01-01T00:00:00.000Z"

/** The name under which the file of a subagent finds its `.meta.json` beside it. */
const METADATA_FILE = "meta.json"

async function metadataOf(beside: ReadSource["beside"]): Promise<Fields | undefined> {
  const file = beside(METADATA_FILE)
  if (file === undefined) return undefined
  const decoder = new TextDecoder()
  let text = ""
  for await (const bytes of file) text += decoder.decode(bytes, { stream: true })
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
