/**
 * Session information: what a list shows of a session without opening it. Derived from the log, entry by entry, kept beside the
 * head as a cache, and made anew whenever it does not fit the log. Pure.
 */
import { FIRST_PROMPT_UNITS } from "../format/limits.ts"
import type { Entry, Header, ModelRef, Origin, ParentSession } from "../format/records.ts"
import type { HeadInfo, PartInfo, Seq } from "../storage/contract.ts"
import { addUsage, NO_METRICS } from "./metrics.ts"
import type { SessionMetrics } from "./metrics.ts"

export interface SessionInfo {
  readonly id: string
  /** ISO 8601, from the header. */
  readonly createdAt: string
  /** ISO 8601, of the newest message; `createdAt` while there is none. */
  readonly lastMessageAt: string
  /** ISO 8601, the storage's clock: the last append of any entry. */
  readonly updatedAt: string
  /** Messages of the log, on every branch. */
  readonly messageCount: number
  readonly title?: string
  readonly titleSource?: "user" | "auto"
  /** The start of the first thing the user said. */
  readonly firstPrompt?: string
  readonly cwd?: string
  readonly source: "interactive" | "cron"
  readonly cronJobId?: string
  readonly systemPromptOverride?: string
  readonly parentSession?: ParentSession
  /** Last in force at the leaf. */
  readonly model?: ModelRef
  readonly metadata: { readonly [key: string]: unknown }
  /** Summed over every branch. */
  readonly metrics: SessionMetrics
  readonly bytes: number
  readonly parts: readonly PartInfo[]
  /** Fewer lines than the log says there must be: an import, fork or copy that was cut off. */
  readonly incomplete?: boolean
}

/** What is kept of a log to go on folding. JSON. */
export interface InfoFold {
  readonly v: 1
  /** Identity of the log that was folded. */
  readonly log: string
  /** The last line folded: its seq, and its id (the header's at 0, "" for a line that is no entry). */
  readonly to: { readonly seq: Seq; readonly id: string }
  readonly leaf: string | null
  /** The latest compaction folded; where the context begins, if the leaf's path rests on it. */
  readonly compaction?: { readonly seq: Seq; readonly id: string; readonly firstKeptSeq?: Seq }
  readonly createdAt: string
  readonly lastMessageAt?: string
  readonly messageCount: number
  readonly userTitle?: string
  readonly autoTitle?: string
  /** The first things the user said, oldest first: a deleted one gives way to the next. */
  readonly prompts: readonly { readonly id: string; readonly text: string }[]
  /** Every prompt known was deleted: only the log can tell which is first now. */
  readonly promptsLost?: true
  readonly cwd?: string
  readonly source?: "interactive" | "cron"
  readonly cronJobId?: string
  readonly systemPromptOverride?: string
  readonly parentSession?: ParentSession
  readonly model?: ModelRef
  readonly modelIsExplicit: boolean
  /** The leaf moved to another branch: only that branch can tell which model is in force. */
  readonly modelUnknown?: true
  readonly metadata: { readonly [key: string]: unknown }
  readonly metrics: SessionMetrics
  /** Lines that the header says there must be. */
  readonly lines?: number
}

/** How many first prompts a fold remembers, so that deleting one seldom means reading the log again. */
const PROMPTS_KEPT = 3

export function startFold(header: Header | Readonly<Record<string, unknown>>, log: string): InfoFold {
  const h = header as Readonly<Record<string, unknown>>
  const text = (key: string): string | undefined => (typeof h[key] === "string" ? h[key] : undefined)
  const source = h["source"]
  const origin = h["origin"] as Origin | undefined
  const model = text("provider") !== undefined && text("modelId") !== undefined
  return {
    v: 1,
    log,
    to: { seq: 0, id: text("id") ?? "" },
    leaf: null,
    createdAt: text("timestamp") ?? new Date(0).toISOString(),
    messageCount: 0,
    ...defined({
      userTitle: text("title") || undefined,
      cwd: text("cwd"),
      source: source === "interactive" || source === "cron" ? source : undefined,
      cronJobId: text("cronJobId"),
      systemPromptOverride: text("systemPromptOverride"),
      parentSession: h["parentSession"] as ParentSession | undefined,
      model: model ? { provider: text("provider") as string, model: text("modelId") as string } : undefined,
      lines: typeof origin?.lines === "number" ? origin.lines : undefined,
    }),
    prompts: [],
    modelIsExplicit: false,
    metadata: {},
    metrics: NO_METRICS,
  }
}

/** Folds the next line of the log. */
export function foldInfo(fold: InfoFold, entry: Entry | undefined, seq: Seq): InfoFold {
  if (entry === undefined) return { ...fold, to: { seq, id: "" } }
  const moved = fold.leaf !== entry.parentId
  const next: Mutable<InfoFold> = { ...fold, to: { seq, id: entry.id }, leaf: entry.id }
  if (moved) next.modelUnknown = true
  const field = entry as Readonly<Record<string, unknown>>
  switch (entry.type) {
    case "message":
      foldMessage(next, entry)
      break
    case "model_change":
      if ((field["role"] ?? "default") === "default" && isText(field["provider"]) && isText(field["model"])) {
        next.model = { provider: field["provider"], model: field["model"] }
        next.modelIsExplicit = true
        if (next.modelUnknown === true) delete next.modelUnknown
      }
      break
    case "title_change":
      foldTitle(next, field)
      break
    case "metadata":
      if (isText(field["key"])) next.metadata = withKey(fold.metadata, field["key"], field["value"])
      if (field["key"] === "cwd" && isText(field["value"])) next.cwd = field["value"]
      break
    case "usage":
      next.metrics = addUsage(fold.metrics, field["usage"])
      break
    case "compaction":
    case "branch_summary":
      if (field["usage"] !== undefined) next.metrics = addUsage(fold.metrics, field["usage"])
      if (entry.type === "compaction") {
        const { firstKeptSeq } = field
        const hint = typeof firstKeptSeq === "number" ? { firstKeptSeq } : {}
        next.compaction = { seq, id: entry.id, ...hint }
      }
      break
    case "tombstone":
      dropPrompt(next, field["targetId"])
      break
    case "context_edit":
      if (field["replacement"] === null) dropPrompt(next, field["targetId"])
      else editPrompt(next, field)
      break
    default:
  }
  return next
}

/** A fold goes on only in the log it was made of, at the entry it ended with. */
export function fitsLog(fold: InfoFold, log: string, entryAt: Entry | undefined): boolean {
  return fold.log === log && (entryAt?.id ?? "") === fold.to.id
}

export function toSessionInfo(id: string, fold: InfoFold, head: HeadInfo): SessionInfo {
  const updatedAt = Math.max(head.updatedAt, 0)
  const title = fold.userTitle ?? fold.autoTitle
  const newest = fold.lastMessageAt ?? fold.createdAt
  return {
    id,
    createdAt: fold.createdAt,
    // A clock ahead of the storage's must not keep a session on top of the list.
    lastMessageAt: Date.parse(newest) > updatedAt ? new Date(updatedAt).toISOString() : newest,
    updatedAt: new Date(updatedAt).toISOString(),
    messageCount: fold.messageCount,
    ...(title === undefined ? {} : { title, titleSource: fold.userTitle === undefined ? "auto" : "user" }),
    ...defined({
      firstPrompt: fold.prompts[0]?.text,
      cwd: fold.cwd,
      cronJobId: fold.cronJobId,
      systemPromptOverride: fold.systemPromptOverride,
      parentSession: fold.parentSession,
      model: fold.model,
    }),
    source: fold.source ?? "interactive",
    metadata: fold.metadata,
    metrics: fold.metrics,
    bytes: head.bytes,
    parts: head.parts ?? [{ from: 0, bytes: head.bytes }],
    ...(fold.lines !== undefined && head.next < fold.lines ? { incomplete: true } : {}),
  }
}

function foldMessage(next: Mutable<InfoFold>, entry: Entry): void {
  next.messageCount++
  const at = Date.parse(entry.timestamp)
  if (!Number.isNaN(at) && !(at < Date.parse(next.lastMessageAt ?? ""))) next.lastMessageAt = new Date(at).toISOString()
  const message = entry["message"] as Readonly<Record<string, unknown>> | undefined
  if (message?.["role"] === "assistant") {
    next.metrics = addUsage(next.metrics, message["usage"], 1)
    const { provider, model } = message
    if (!next.modelIsExplicit && isText(provider) && isText(model)) next.model = { provider, model }
  }
  if (message?.["role"] === "user" && message["synthetic"] !== true && next.prompts.length < PROMPTS_KEPT) {
    const text = promptText(message["content"])
    if (text !== "") next.prompts = [...next.prompts, { id: entry.id, text }]
  }
}

/** Null clears what there was; a later automatic title may name the session again. */
function foldTitle(next: Mutable<InfoFold>, field: Readonly<Record<string, unknown>>): void {
  const title = field["title"]
  const key = field["source"] === "auto" ? "autoTitle" : "userTitle"
  if (isText(title) && title !== "") next[key] = title
  else if (title === null || title === "") {
    delete next[key]
    if (key === "userTitle") delete next.autoTitle
  }
}

function dropPrompt(next: Mutable<InfoFold>, targetId: unknown): void {
  const prompts = next.prompts.filter((prompt) => prompt.id !== targetId)
  if (prompts.length === next.prompts.length) return
  // With the list full there may be further prompts that were not noted.
  if (prompts.length === 0 && next.prompts.length > 0) next.promptsLost = true
  next.prompts = prompts
}

function editPrompt(next: Mutable<InfoFold>, field: Readonly<Record<string, unknown>>): void {
  const replacement = field["replacement"] as { content?: unknown } | undefined
  const text = promptText(replacement?.content)
  if (text === "") return
  next.prompts = next.prompts.map((prompt) => (prompt.id === field["targetId"] ? { id: prompt.id, text } : prompt))
}

function promptText(content: unknown): string {
  if (typeof content === "string") return cut(content)
  if (!Array.isArray(content)) return ""
  const isTextBlock = (block: unknown): block is { text: string } =>
    typeof block === "object" &&
    block !== null &&
    "text" in block &&
    "type" in block &&
    block.type === "text" &&
    isText(block.text)
  return cut((content as readonly unknown[]).find(isTextBlock)?.text ?? "")
}

/** Never inside a surrogate pair. */
function cut(text: string): string {
  const trimmed = text
    .slice(0, FIRST_PROMPT_UNITS * 4)
    .trim()
    .slice(0, FIRST_PROMPT_UNITS)
  return /[\uD800-\uDBFF]$/.test(trimmed) ? trimmed.slice(0, -1) : trimmed
}

function withKey(map: Readonly<Record<string, unknown>>, key: string, value: unknown): Record<string, unknown> {
  return Object.fromEntries([...Object.entries(map).filter(([name]) => name !== key), [key, value]])
}

function isText(value: unknown): value is string {
  return typeof value === "string"
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** The object without its undefined fields. */
function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}
