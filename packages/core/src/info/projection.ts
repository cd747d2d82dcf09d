/**
 * Session information: what a list shows of a session without opening it. Derived from the log, entry by entry, kept beside the
 * head as a cache, and made anew whenever it does not fit the log. Pure.
 */
import { storedState } from "../context/state.ts"
import type { ContextState, Entry, Header, ModelRef, Origin, ParentSession } from "../format/records.ts"
import { isObject } from "../format/shape.ts"
import type { HeadInfo, PartInfo, Seq } from "../storage/contract.ts"
import { firstPromptOf, projectPrompt, PromptList } from "./first-prompt.ts"
import type { PromptProjection } from "./first-prompt.ts"
import { toTime } from "../storage/clock.ts"
import { addUsage, NO_METRICS } from "./metrics.ts"
import type { SessionMetrics } from "./metrics.ts"
import { PREFIX } from "../format/blob-refs.ts"

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
  /** What the user called it, else what a program did, else the title in the header. */
  readonly title?: string
  /** Missing where the title is the header's. */
  readonly titleSource?: "user" | "auto"
  /** The start of the first thing the user said, at most 200 UTF-16 units. */
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
export interface InfoProjection extends PromptProjection {
  readonly v: 1
  /** Identity of the log that was folded. */
  readonly log: string
  /** The last line folded: its seq, and its id (the header's at 0, "" for a line that is no entry). */
  readonly to: { readonly seq: Seq; readonly id: string }
  readonly leaf: string | null
  /** The compaction that the leaf's path rests on, where the fold can tell. */
  readonly compaction?: { readonly seq: Seq; readonly id: string; readonly firstKeptSeq?: Seq }
  readonly createdAt: string
  readonly lastMessageAt?: string
  readonly messageCount: number
  readonly userTitle?: string
  readonly autoTitle?: string
  readonly headerTitle?: string
  readonly cwd?: string
  readonly source?: "interactive" | "cron"
  readonly cronJobId?: string
  readonly systemPromptOverride?: string
  readonly parentSession?: ParentSession
  readonly model?: ModelRef
  readonly modelIsExplicit: boolean
  /** The leaf moved to another branch: only that branch can tell which model is in force. */
  readonly modelUnknown?: true
  /** A title or a value lies in the blob store and was not at hand: only who reads the log, and what it refers to, can tell. */
  readonly valuesApart?: true
  readonly metadata: { readonly [key: string]: unknown }
  readonly metrics: SessionMetrics
  /** Lines that the header says there must be. */
  readonly lines?: number
  /** Folded from what an older or newer log reads as; holds for that end of the log alone, and nothing is folded onto it. */
  readonly whole?: true
}

export function startProjection(header: Header | Readonly<Record<string, unknown>>, log: string): InfoProjection {
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
    createdAt: toTime(h["timestamp"]) ?? new Date(0).toISOString(),
    messageCount: 0,
    ...defined({
      headerTitle: text("title") || undefined,
      cwd: text("cwd"),
      source: source === "interactive" || source === "cron" ? source : undefined,
      cronJobId: text("cronJobId"),
      systemPromptOverride: text("systemPromptOverride"),
      parentSession: isParent(h["parentSession"]) ? h["parentSession"] : undefined,
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
export function projectEntry(projection: InfoProjection, entry: Entry | undefined, seq: Seq): InfoProjection {
  if (entry === undefined) return { ...projection, to: { seq, id: "" } }
  const prompts = projectPrompt(projection, entry)
  const before = prompts === projection ? projection : withPrompts(projection, prompts)
  const next: Mutable<InfoProjection> = { ...before, to: { seq, id: entry.id }, leaf: entry.id }
  if (projection.leaf !== entry.parentId) clearPath(next)
  const field = entry as Readonly<Record<string, unknown>>
  switch (entry.type) {
    case "message":
      projectMessage(next, entry)
      break
    case "model_change":
      projectModel(next, field)
      break
    case "title_change":
    case "metadata":
      if (isValueInBlob(entry)) next.valuesApart = true
      else if (entry.type === "metadata") projectMetadata(next, field)
      else projectTitle(next, field)
      break
    case "usage":
      next.metrics = addUsage(projection.metrics, field["usage"])
      break
    case "branch_summary":
      if (field["usage"] !== undefined) next.metrics = addUsage(projection.metrics, field["usage"])
      break
    case "compaction":
      if (field["usage"] !== undefined) next.metrics = addUsage(projection.metrics, field["usage"])
      projectCompaction(next, entry, seq)
      break
    case "reset_boundary":
      delete next.compaction
      projectStored(next, entry)
      break
    case "tombstone":
      if (next.compaction?.id === field["targetId"]) delete next.compaction
      break
    default:
  }
  return next
}

/** The fold of a log that is held whole. */
export function projectLog(start: InfoProjection, slots: Iterable<Entry | undefined>): InfoProjection {
  const prompts = new PromptList()
  let projection = start
  let seq = start.to.seq
  for (const entry of slots) {
    projection = projectEntry(projection, entry, ++seq)
    if (entry !== undefined) prompts.see(entry)
  }
  return withPrompts(projection, prompts.toProjection())
}

export function withPrompts(projection: InfoProjection, prompts: PromptProjection): InfoProjection {
  const { promptsMore: _, promptsHidden: __, promptsLost: ___, ...rest } = projection
  return { ...rest, ...prompts }
}

/** What the leaf's path folds to, for a fold that cannot tell after a branch. */
export function withState(
  projection: InfoProjection,
  state: ContextState,
  compaction?: InfoProjection["compaction"],
): InfoProjection {
  const next: Mutable<InfoProjection> = { ...projection }
  projectState(next, state)
  if (compaction === undefined) delete next.compaction
  else next.compaction = compaction
  return next
}

/** A fold goes on only in the log it was made of, at the entry it ended with. */
export function fitsLog(projection: InfoProjection, log: string, entryAt: Entry | undefined): boolean {
  return projection.log === log && (entryAt?.id ?? "") === projection.to.id
}

/** Whether an entry that names or describes the session does so with what lies in the blob store. */
export function isValueInBlob(entry: Entry): boolean {
  if (entry.type !== "title_change" && entry.type !== "metadata") return false
  return entry.blobs !== undefined && JSON.stringify(entry).includes(PREFIX)
}

/** Whether only the log can tell what a fold should say; nothing is folded onto it then. */
export function isUnsure(projection: Pick<InfoProjection, "promptsLost" | "valuesApart">): boolean {
  return projection.promptsLost === true || projection.valuesApart === true
}

export function toSessionInfo(id: string, projection: InfoProjection, head: HeadInfo): SessionInfo {
  const updatedAt = Math.max(head.updatedAt, 0)
  const source = projection.userTitle !== undefined ? "user" : projection.autoTitle !== undefined ? "auto" : undefined
  const newest = projection.lastMessageAt ?? projection.createdAt
  return {
    id,
    createdAt: projection.createdAt,
    // A clock ahead of the storage's must not keep a session on top of the list.
    lastMessageAt: Date.parse(newest) > updatedAt ? new Date(updatedAt).toISOString() : newest,
    updatedAt: new Date(updatedAt).toISOString(),
    messageCount: projection.messageCount,
    ...defined({
      title: projection.userTitle ?? projection.autoTitle ?? projection.headerTitle,
      titleSource: source,
      firstPrompt: firstPromptOf(projection),
      cwd: projection.cwd,
      cronJobId: projection.cronJobId,
      systemPromptOverride: projection.systemPromptOverride,
      parentSession: projection.parentSession,
      model: projection.model,
    }),
    source: projection.source ?? "interactive",
    metadata: projection.metadata,
    metrics: projection.metrics,
    bytes: head.bytes,
    parts: head.parts ?? [{ from: 0, bytes: head.bytes }],
    ...(projection.lines !== undefined && head.next < projection.lines ? { incomplete: true } : {}),
  }
}

function projectMessage(next: Mutable<InfoProjection>, entry: Entry): void {
  next.messageCount++
  const at = toTime(entry.timestamp)
  const last = next.lastMessageAt
  if (at !== undefined && at !== last && !(Date.parse(at) < Date.parse(last ?? ""))) next.lastMessageAt = at
  const message = entry["message"] as Readonly<Record<string, unknown>> | undefined
  if (message?.["role"] !== "assistant") return
  next.metrics = addUsage(next.metrics, message["usage"])
  const { provider, model } = message
  if (!next.modelIsExplicit && isText(provider) && isText(model)) next.model = { provider, model }
}

function projectModel(next: Mutable<InfoProjection>, { role = "default", provider, model }: Fields): void {
  if (role !== "default" || !isText(provider) || !isText(model)) return
  next.model = { provider, model }
  next.modelIsExplicit = true
  delete next.modelUnknown
}

function projectCompaction(next: Mutable<InfoProjection>, entry: Entry, seq: Seq): void {
  const { firstKeptSeq } = entry as Fields
  next.compaction = { seq, id: entry.id, ...(typeof firstKeptSeq === "number" ? { firstKeptSeq } : {}) }
  projectStored(next, entry)
}

/** The context's state begins with a stored state, so the model comes from it too. */
function projectStored(next: Mutable<InfoProjection>, entry: Entry): void {
  const state = storedState(entry)
  if (state !== undefined) projectState(next, state)
}

function projectState(next: Mutable<InfoProjection>, { models, modelIsExplicit }: ContextState): void {
  const model = Object.hasOwn(models, "default") ? models["default"] : undefined
  if (model === undefined) delete next.model
  else next.model = { provider: model.provider, model: model.model }
  next.modelIsExplicit = modelIsExplicit
  delete next.modelUnknown
}

/** The leaf moved to another branch. */
function clearPath(next: Mutable<InfoProjection>): void {
  next.modelUnknown = true
  delete next.compaction
}

/** The user's null clears whatever there was, and a later automatic title may name the session again. */
function projectTitle(next: Mutable<InfoProjection>, { title, source }: Fields): void {
  const key = source === "auto" ? "autoTitle" : "userTitle"
  if (isText(title) && title !== "") next[key] = title
  else if (title === null || title === "") {
    delete next[key]
    if (key === "autoTitle") return
    delete next.autoTitle
    delete next.headerTitle
  }
}

function projectMetadata(next: Mutable<InfoProjection>, { key, value }: Fields): void {
  if (!isText(key) || value === undefined) return
  next.metadata = withKey(next.metadata, key, value)
  if (key === "cwd" && isText(value)) next.cwd = value
}

function isParent(value: unknown): value is ParentSession {
  return isObject(value) && (isText(value["id"]) || isText(value["ref"]))
}

function withKey(map: Readonly<Record<string, unknown>>, key: string, value: unknown): Record<string, unknown> {
  return Object.fromEntries([...Object.entries(map).filter(([name]) => name !== key), [key, value]])
}

function isText(value: unknown): value is string {
  return typeof value === "string"
}

type Fields = Readonly<Record<string, unknown>>
type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** The object without its undefined fields. */
function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}
