/** Reference implementation of session information: each rule is a walk over all entries of the log. */
import { isObject } from "../src/format/shape.ts"
import type { SessionInfo } from "../src/info/projection.ts"
import type { EntrySlot } from "../src/log/entry-log.ts"
import { expectContext, nearestBefore } from "./replay.ts"

type Fields = Readonly<Record<string, unknown>>

/** Without the fields that only the storage knows. */
export type ExpectedInfo = Omit<SessionInfo, "updatedAt" | "bytes" | "parts" | "incomplete" | "openTips" | "id">

export function expectInfo(slots: readonly EntrySlot[], header: Fields, updatedAt: number): ExpectedInfo {
  const entries = slots.filter((slot) => slot !== undefined) as readonly Fields[]
  const messages = entries.filter(({ type }) => type === "message")
  const createdAt = new Date(String(header["timestamp"])).toISOString()
  const times = messages.map(({ timestamp }) => Date.parse(String(timestamp)))
  const newest = times.length === 0 ? Date.parse(createdAt) : Math.max(...times)
  const leaf = slots.findLastIndex((slot) => slot !== undefined)
  const model = expectContext(slots, leaf < 0 ? null : leaf, header).state.models["default"]
  const firstPrompt = expectFirstPrompt(slots)
  const metadata = entries.filter(({ type }) => type === "metadata").toSorted(byStamp)
  const cwd = metadata.findLast(({ key, value }) => key === "cwd" && typeof value === "string")
  return {
    createdAt,
    lastMessageAt: new Date(Math.min(newest, updatedAt)).toISOString(),
    messageCount: messages.length,
    ...expectTitle(entries, header),
    ...(firstPrompt === undefined ? {} : { firstPrompt }),
    ...some({ cwd: cwd?.["value"] ?? header["cwd"] }),
    source: (header["source"] as "cron" | undefined) ?? "interactive",
    ...some({
      kind: header["kind"],
      cronJobId: header["cronJobId"],
      systemPromptOverride: header["systemPromptOverride"],
      parentSession: header["parentSession"],
      model,
    }),
    metadata: Object.fromEntries(metadata.map(({ key, value }) => [key as string, value])),
    ...expectInherited(entries, header),
  }
}

function expectTitle(entries: readonly Fields[], header: Fields): Pick<SessionInfo, "title" | "titleSource"> {
  const changes = entries.filter(({ type }) => type === "title_change").toSorted(byStamp)
  const cleared = changes.findLastIndex(({ source, title }) => source === "user" && title === null)
  const since = changes.slice(cleared + 1)
  const user = since.findLast(({ source }) => source === "user")?.["title"]
  const auto = since.findLast(({ source }) => source === "auto")?.["title"]
  if (typeof user === "string") return { title: user, titleSource: "user" }
  if (typeof auto === "string") return { title: auto, titleSource: "auto" }
  return cleared < 0 && typeof header["title"] === "string" ? { title: header["title"] } : {}
}

/** Ascending (time, id); the order of the log for entries with the same. */
function byStamp(a: Fields, b: Fields): number {
  const difference = Date.parse(String(a["timestamp"])) - Date.parse(String(b["timestamp"]))
  if (difference !== 0) return difference
  return a["id"] === b["id"] ? 0 : String(a["id"]) < String(b["id"]) ? -1 : 1
}

/** The text of the first user message that is not deleted, after its latest edit. */
function expectFirstPrompt(slots: readonly EntrySlot[]): string | undefined {
  for (const [seq, slot] of slots.entries()) {
    const { role, content, synthetic, summary } = (slot?.["message"] ?? {}) as Fields
    if (slot?.type !== "message" || role !== "user" || synthetic === true || summary === true) continue
    if (textOf(content) === "") continue
    const changes = slots.filter((one, at) => nearestBefore(slots, one?.["targetId"], at) === seq)
    if (changes.some((one) => one?.type === "tombstone")) continue
    const edit = changes.findLast((one) => one?.type === "context_edit" && isReplacement(one["replacement"]))
    const text = edit === undefined ? textOf(content) : textOf((edit["replacement"] as Fields | null)?.["content"])
    if (text !== "") return text
  }
  return undefined
}

function isReplacement(value: unknown): boolean {
  const content = (value as Fields | null | undefined)?.["content"]
  return value === null || typeof content === "string" || Array.isArray(content)
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content.trim().slice(0, 200)
  const texts = ((content ?? []) as readonly Fields[]).map(({ type, text }) =>
    type === "text" ? String(text).trim() : "",
  )
  return texts.find((text) => text !== "")?.slice(0, 200) ?? ""
}

/** The calls up to the last entry that came from the parent are not the session's own. */
function expectInherited(
  entries: readonly Fields[],
  { parentSession, timestamp: created, origin }: Fields,
): Pick<SessionInfo, "metrics" | "inheritedMetrics"> {
  const { entryId, ref } = (parentSession ?? {}) as Fields
  const settled = Number((origin as Fields | undefined)?.["settled"] ?? 0)
  const last = entries.findLastIndex(({ id, timestamp, seq }) =>
    ref === undefined
      ? entryId !== undefined && id === entryId
      : Number(seq) < settled && Date.parse(String(timestamp)) < Date.parse(String(created)),
  )
  const inheritedMetrics = expectMetrics(entries.slice(0, last + 1))
  const metrics = expectMetrics(entries.slice(last + 1))
  return inheritedMetrics.calls === 0 ? { metrics } : { metrics, inheritedMetrics }
}

function expectMetrics(entries: readonly Fields[]): SessionInfo["metrics"] {
  const calls = entries.flatMap(({ type, message, usage }): Fields[] => {
    if (type === "usage") return isObject(usage) ? [usage] : [{}]
    const { role, usage: own } = (message ?? {}) as { role?: unknown; usage?: Fields }
    return type === "message" && role === "assistant" ? [own ?? {}] : []
  })
  const sum = (key: string): number => calls.reduce((total, usage) => total + Number(usage[key] ?? 0), 0)
  const costs = calls.flatMap(({ cost }) => (cost === undefined ? [] : [Number((cost as Fields)["total"] ?? cost)]))
  const [input, output, cacheRead, cacheWrite] = [sum("input"), sum("output"), sum("cacheRead"), sum("cacheWrite")]
  const total = calls.map((usage) =>
    Math.max(
      Number(usage["totalTokens"] ?? 0),
      Number(usage["input"] ?? 0) +
        Number(usage["output"] ?? 0) +
        Number(usage["cacheRead"] ?? 0) +
        Number(usage["cacheWrite"] ?? 0),
    ),
  )
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
    totalTokens: total.reduce((a, b) => a + b, 0),
    calls: calls.length,
    ...(costs.length === 0 ? {} : { cost: costs.reduce((a, b) => a + b, 0) }),
  }
}

function some(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
