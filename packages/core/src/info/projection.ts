/**
 * Session information: what a list shows of a session without opening it. It is projected from the log, entry by entry. The projection
 * is stored as a cache, so that it can be continued with the entries that are appended later. Pure; `store.ts` stores it.
 */
import { selectContext } from "../context/select.ts"
import { storedState } from "../context/state.ts"
import type { ContextState, Entry, ModelRef } from "../format/entry.ts"
import { ENTRY_TYPES, isAnnotationType } from "../format/entry-types.ts"
import type { Origin, ParentSession } from "../format/header.ts"
import { type Fields, isObject } from "../format/shape.ts"
import { TOO_DEEP } from "../format/stored-text.ts"
import type { EntryLog } from "../log/entry-log.ts"
import { isOlder, leafAt } from "../log/path.ts"
import { laterOf, replaces, type WriteTime, writeTimeOf } from "../log/last-writer-wins.ts"
import { NO_TIPS, openTips, type OpenTips, projectTips, type Tips } from "../log/projected-tips.ts"
import { settledLines } from "../log/tips.ts"
import type { HeadInfo, PartInfo, Seq } from "../storage/contract.ts"
import { isDeep } from "../storage/depth.ts"
import { firstPromptOf, promptAfter, type PromptProjection } from "./first-prompt.ts"
import { isBefore, LATEST_TIME, toTime } from "../storage/clock.ts"
import { addMetrics, addUsage, NO_METRICS, type SessionMetrics } from "./metrics.ts"

/** Values by their keys, as the metadata entries of a session set them. */
export interface AnyMetadata {
  readonly [key: string]: unknown
}

export interface SessionInfo<Metadata extends object = AnyMetadata> {
  readonly id: string
  /** ISO 8601, from the header. */
  readonly createdAt: string
  /** ISO 8601, of the newest message; `createdAt` if there is none. */
  readonly lastMessageAt: string
  /** ISO 8601, the storage's clock: the last append of any entry. */
  readonly updatedAt: string
  /** Messages of the log, on every branch. */
  readonly messageCount: number
  /** The title that the user gave, else the one that a program gave, else the header's. */
  readonly title?: string
  /** Missing if the title is the header's. */
  readonly titleSource?: "user" | "auto"
  /** The start of the first user message, at most 200 UTF-16 units. */
  readonly firstPrompt?: string
  readonly cwd?: string
  readonly source: "interactive" | "cron"
  /** From the header; missing: a session that a person works in. */
  readonly kind?: string
  readonly cronJobId?: string
  readonly systemPromptOverride?: string
  readonly parentSession?: ParentSession
  /** The default model at the leaf. */
  readonly model?: ModelRef
  readonly metadata: Readonly<Partial<Metadata>>
  /** Summed over all branches, without `inheritedMetrics`: the sum over a list of sessions counts each call once. */
  readonly metrics: SessionMetrics
  /** Metrics of the model calls that a fork has from its parent, which counts them as its own. Missing if it has none. */
  readonly inheritedMetrics?: SessionMetrics
  readonly bytes: number
  readonly parts: readonly PartInfo[]
  /** The log has fewer lines than its header says: an import, fork or copy was interrupted. */
  readonly incomplete?: boolean
  /**
   * The last messages of the branches that end off the path of the leaf and that no writer left knowingly, newest first. Up to `more`
   * older ones are not named. Missing if they are not known: a session that is opened finds them.
   */
  readonly openTips?: OpenTips
}

type CopiedField =
  | "createdAt"
  | "messageCount"
  | "cwd"
  | "kind"
  | "cronJobId"
  | "systemPromptOverride"
  | "parentSession"
  | "model"
  | "metrics"
  | "inheritedMetrics"

/** The stored information of a log, with which its projection continues. JSON. */
export interface InfoProjection extends PromptProjection, Pick<SessionInfo, CopiedField> {
  /** Identity of the projected log. */
  readonly log: string
  /** The last projected line: its seq, and its id (the header's at 0, "" for a line that is not an entry). */
  readonly to: { readonly seq: Seq; readonly id: string }
  readonly leaf: string | null
  /** Of a leaf that is an annotation: an entry before it, with annotations between. What continues that one is on the same path. */
  readonly anchor?: string
  /** The compaction that the leaf's context begins with, if it is known. */
  readonly compaction?: CompactionPlace
  readonly lastMessageAt?: string
  readonly userTitle?: string
  readonly autoTitle?: string
  readonly headerTitle?: string
  readonly source?: "interactive" | "cron"
  readonly modelIsExplicit: boolean
  readonly metadata: { readonly [key: string]: unknown }
  readonly stamps: WriteTimes
  /** The number of lines that the header requires. */
  readonly lines?: number
  /** Set for a log of an older or newer version, as it is read. It is valid for exactly this end of the log and is never continued. */
  readonly whole?: true
  /**
   * The first prompt, a value or the model at the leaf follows from lines that were not at hand: the log must be projected anew before
   * they are shown.
   */
  readonly stale?: true
  /** The tips of the log's branches. Missing if they are not known: then all fields but these are right, and the log shows the tips. */
  readonly tips?: Tips
  /** See `settledLines`, as long as the end of those lines is not projected. */
  readonly settled?: Seq
  /** The highest fence. Missing: none. */
  readonly fence?: number
}

/** The write times of the entries that the title and the metadata come from. The greatest of each counts, in whatever order they are. */
export interface WriteTimes {
  /** The greatest of all titles, labels and metadata. */
  readonly latest?: WriteTime
  readonly user?: WriteTime
  readonly auto?: WriteTime
  /** That of the newest `cwd` that is a text. */
  readonly cwd?: WriteTime
  readonly keys?: { readonly [key: string]: WriteTime }
}

/** Lines of a log: all of them, or those from some line to the end. */
export interface LoadedLines {
  readonly header: object
  readonly log: EntryLog
}

export interface CompactionPlace {
  readonly seq: Seq
  readonly id: string
  readonly firstKeptSeq?: Seq
}

export function startProjection(header: object, log: string): InfoProjection {
  const h = header as Fields
  const text = (key: string): string | undefined => (typeof h[key] === "string" ? h[key] : undefined)
  const source = h["source"]
  const origin = h["origin"] as Origin | undefined
  const model = text("provider") !== undefined && text("modelId") !== undefined
  const settled = settledLines(h)
  const parentSession = isParent(h["parentSession"]) ? h["parentSession"] : undefined
  return {
    log,
    to: { seq: 0, id: text("id") ?? "" },
    leaf: null,
    createdAt: toTime(h["timestamp"]) ?? new Date(0).toISOString(),
    messageCount: 0,
    ...defined({
      headerTitle: text("title") || undefined,
      cwd: text("cwd"),
      source: source === "interactive" || source === "cron" ? source : undefined,
      kind: text("kind") || undefined,
      cronJobId: text("cronJobId"),
      systemPromptOverride: text("systemPromptOverride"),
      parentSession,
      model: model ? { provider: text("provider") as string, model: text("modelId") as string } : undefined,
      lines: typeof origin?.lines === "number" ? origin.lines : undefined,
      settled: settled > 1 ? settled : undefined,
    }),
    tips: NO_TIPS,
    modelIsExplicit: false,
    metadata: ownMap(),
    stamps: { keys: ownMap() },
    metrics: NO_METRICS,
  }
}

/** Projects the next line of the log; `undefined` is a line that is not an entry. `loaded`: the end of the log, that line included. */
export function projectEntry(
  projection: InfoProjection,
  entry: Entry | undefined,
  seq: Seq,
  loaded?: LoadedLines,
): InfoProjection {
  const next = entry?.type === "metadata" ? ownCopy(projection) : { ...projection }
  const hasMoved = projectLine(next, entry, seq)
  if (hasMoved) settlePath(next, loaded)
  return next
}

/** Projects as {@link projectEntry} does, but changes the projection, which must be the caller's ({@link ownCopy}): a copy for each line costs more than the line. */
export function projectInPlace(next: Mutable<InfoProjection>, entry: Entry | undefined, seq: Seq): void {
  if (projectLine(next, entry, seq)) settlePath(next)
}

/** Continues a projection with the loaded lines of its log up to `end`. */
export function projectFurther(start: InfoProjection, loaded: LoadedLines, end: Seq = loaded.log.end): InfoProjection {
  const next = ownCopy(start)
  projectLoaded(next, loaded, end, projectLine)
  return next
}

/** The projection of a log that is loaded whole, up to `end`. `texts`: see {@link firstPromptOf}. */
export function projectWhole(
  loaded: LoadedLines,
  identity: string,
  end: Seq = loaded.log.end,
  texts?: ReadonlyMap<Entry, string>,
): InfoProjection {
  const next: Mutable<InfoProjection> = startProjection(loaded.header, identity)
  projectLoaded(next, loaded, end, projectFields)
  const { unread, ...prompt } = firstPromptOf(loaded.log, end, texts)
  if (unread !== undefined) next.stale = true
  return Object.assign(next, prompt)
}

function projectLoaded(
  next: Mutable<InfoProjection>,
  loaded: LoadedLines,
  end: Seq,
  project: typeof projectFields,
): void {
  let hasMoved = false
  for (let seq = next.to.seq + 1; seq < end; seq++) hasMoved = project(next, loaded.log.at(seq), seq) || hasMoved
  if (hasMoved) settlePath(next, loaded)
}

/** Sets the model and the compaction of the leaf's path, to which it has moved. */
function settlePath(next: Mutable<InfoProjection>, loaded?: LoadedLines): void {
  const leaf = next.leaf === null ? null : loaded?.log.find(next.leaf, next.to.seq + 1)
  const selection = loaded && leaf !== undefined ? selectContext(loaded.log, leaf, loaded.header as Fields) : undefined
  if (loaded === undefined || selection === undefined || isOlder(selection)) {
    next.stale = true
    return
  }
  projectState(next, selection.state)
  const { compaction } = selection
  if (compaction === undefined) delete next.compaction
  else next.compaction = compactionAt(loaded.log.at(compaction) as Entry, compaction)
}

/** Projects a line. Returns whether the leaf has moved to another path. */
function projectLine(next: Mutable<InfoProjection>, entry: Entry | undefined, seq: Seq): boolean {
  if (entry !== undefined && !next.stale) {
    const prompt = promptAfter(next, entry)
    if (prompt === undefined) {
      delete next.firstPrompt
      next.stale = true
    } else if (prompt.firstPrompt !== undefined) next.firstPrompt = prompt.firstPrompt
  }
  return projectFields(next, entry, seq)
}

/** Projects as {@link projectLine} does, without the first prompt. */
function projectFields(next: Mutable<InfoProjection>, entry: Entry | undefined, seq: Seq): boolean {
  const { leaf, to } = next
  const isInherited = entry !== undefined && isCopied(next, entry)
  next.to = { seq, id: entry?.id ?? "" }
  projectBranches(next, entry, seq)
  if (entry === undefined) return false
  let hasMoved = false
  if (!keepsNull(leaf, to, entry)) {
    next.leaf = leafAt(entry)
    hasMoved = leaf !== entry.parentId && next.anchor !== entry.parentId
    if (hasMoved) delete next.compaction
    const isAnnotation = isAnnotationType(entry.type)
    if (hasMoved || !isAnnotation) delete next.anchor
    if (isAnnotation && entry.parentId !== null) next.anchor ??= entry.parentId
  }
  const field = entry as Readonly<Record<string, unknown>>
  switch (entry.type) {
    case "message":
      projectMessage(next, entry)
      break
    case "model_change":
      projectModel(next, field)
      break
    case "usage":
      next.metrics = addUsage(next.metrics, field["usage"])
      break
    case "branch_summary":
      if (field["usage"] !== undefined) next.metrics = addUsage(next.metrics, field["usage"])
      break
    case "compaction":
      if (field["usage"] !== undefined) next.metrics = addUsage(next.metrics, field["usage"])
      next.compaction = compactionAt(entry, seq)
      break
    case "reset_boundary":
      delete next.compaction
      break
    case "fence":
      if (Number.isSafeInteger(entry.fence)) next.fence = Math.max(entry.fence, next.fence ?? 0)
      break
    case "tombstone":
      if (next.compaction?.id === field["targetId"]) delete next.compaction
      break
    default:
  }
  const traits = ENTRY_TYPES.get(entry.type)
  if (traits?.storesState) projectStoredState(next, entry)
  if (traits?.lastWriterWins) projectLastWriterWins(next, entry)
  if (isInherited) {
    next.inheritedMetrics = addMetrics(next.inheritedMetrics ?? NO_METRICS, next.metrics)
    next.metrics = NO_METRICS
  }
  return hasMoved
}

/**
 * Whether the entry, and so all before it, came from the parent: a fork of ours has them up to the entry at which it was forked. One that
 * another system made (`ref`) has, among the lines that came from there, those that are older than itself.
 */
function isCopied({ parentSession: parent, createdAt, settled }: InfoProjection, { id, timestamp }: Entry): boolean {
  if (parent === undefined) return false
  if ("id" in parent) return id === parent.entryId
  return settled !== undefined && Date.parse(timestamp) < Date.parse(createdAt)
}

/** With tips that were read from the log, or without tips. `settled`: see `settledLines`. */
export function withTips(projection: InfoProjection, tips: Tips | undefined, settled: number): InfoProjection {
  const { tips: _, settled: __, ...rest } = projection
  if (tips === undefined) return rest
  return rest.to.seq < settled - 1 ? { ...rest, tips, settled } : { ...rest, tips }
}

function compactionAt(entry: Entry, seq: Seq): CompactionPlace {
  const { firstKeptSeq } = entry as Fields
  return { seq, id: entry.id, ...(typeof firstKeptSeq === "number" ? { firstKeptSeq } : {}) }
}

/** A projection is continued only in the log it was made of, at the entry it ended with. */
export function fitsLog(projection: InfoProjection, log: string, entryAt: Entry | undefined): boolean {
  return projection.log === log && (entryAt?.id ?? "") === projection.to.id
}

/** `open`: the tips that are open to a session whose leaf is not the log's last entry. */
export function toSessionInfo(
  id: string,
  projection: InfoProjection,
  head: HeadInfo,
  open: OpenTips | undefined = openTipsOf(projection),
): SessionInfo {
  // A damaged head may have any number.
  const updatedAt = Math.min(Math.max(head.updatedAt || 0, 0), LATEST_TIME)
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
      firstPrompt: projection.firstPrompt?.text,
      cwd: projection.cwd,
      kind: projection.kind,
      cronJobId: projection.cronJobId,
      systemPromptOverride: projection.systemPromptOverride,
      parentSession: projection.parentSession,
      model: projection.model,
    }),
    source: projection.source ?? "interactive",
    metadata: { ...projection.metadata },
    metrics: projection.metrics,
    ...(projection.inheritedMetrics?.calls && { inheritedMetrics: projection.inheritedMetrics }),
    bytes: head.bytes,
    parts: head.parts ?? [{ from: 0, bytes: head.bytes }],
    ...(projection.lines !== undefined && head.next < projection.lines && { incomplete: true }),
    ...(open === undefined ? {} : { openTips: open }),
  }
}

/** None before the end of the lines that came from another system: their branches are settled there. */
function openTipsOf({ tips, settled }: InfoProjection): OpenTips | undefined {
  return tips === undefined || settled === undefined ? tips && openTips(tips) : { tips: [] }
}

function projectBranches(next: Mutable<InfoProjection>, entry: Entry | undefined, seq: Seq): void {
  const { tips, settled = 0 } = next
  if (tips !== undefined) {
    const projected = projectTips(tips, entry, seq, settled)
    if (projected === undefined) delete next.tips
    else next.tips = projected
  }
  if (settled > 0 && seq >= settled - 1) delete next.settled
}

/** Whether an entry is an annotation that is written after `resetLeaf`: the leaf stays null. */
function keepsNull(leaf: string | null, to: InfoProjection["to"], { type, parentId }: Entry): boolean {
  return leaf === null && to.seq > 0 && parentId === to.id && isAnnotationType(type)
}

function projectMessage(next: Mutable<InfoProjection>, entry: Entry): void {
  next.messageCount++
  const last = next.lastMessageAt
  // Messages of one millisecond have the same time, and parsing it costs a twentieth of an append.
  const at = entry.timestamp === last ? undefined : toTime(entry.timestamp)
  if (at !== undefined && (last === undefined || !isBefore(at, last))) next.lastMessageAt = at
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
}

/** The context's state begins with a stored state, so the model comes from it too. */
function projectStoredState(next: Mutable<InfoProjection>, entry: Entry): void {
  const state = storedState(entry)
  if (state !== undefined) projectState(next, state)
}

function projectState(next: Mutable<InfoProjection>, { models, modelIsExplicit }: ContextState): void {
  const model = Object.hasOwn(models, "default") ? models["default"] : undefined
  if (model === undefined) delete next.model
  else next.model = { provider: model.provider, model: model.model }
  next.modelIsExplicit = modelIsExplicit
}

function projectLastWriterWins(next: Mutable<InfoProjection>, entry: Entry): void {
  const writeTime = writeTimeOf(entry)
  next.stamps = { ...next.stamps, latest: laterOf(writeTime, next.stamps.latest) }
  if (entry.type === "label") return
  // Its title or value is a reference. A reader that has the blobs restores the entry and removes `blobs`.
  if (entry.blobs !== undefined) next.stale = true
  else if (entry.type === "metadata") projectMetadata(next, next.stamps, entry, writeTime)
  else if (entry.type === "title_change") projectTitle(next, next.stamps, entry, writeTime)
}

/** A user's null clears all titles; a later automatic title names the session again. */
function projectTitle(
  next: Mutable<InfoProjection>,
  stamps: WriteTimes,
  { title, source }: Fields,
  writeTime: WriteTime,
): void {
  const isAuto = source === "auto"
  if (!(isText(title) || title === null) || !replaces(writeTime, isAuto ? stamps.auto : stamps.user)) return
  next.stamps = isAuto ? { ...stamps, auto: writeTime } : { ...stamps, user: writeTime }
  if (isAuto) {
    const isCleared = next.userTitle === undefined && stamps.user !== undefined && replaces(stamps.user, writeTime)
    if (title === null || title === "" || isCleared) delete next.autoTitle
    else next.autoTitle = title
  } else if (title !== null && title !== "") next.userTitle = title
  else {
    delete next.userTitle
    delete next.headerTitle
    if (stamps.auto !== undefined && replaces(writeTime, stamps.auto)) delete next.autoTitle
  }
}

function projectMetadata(
  next: Mutable<InfoProjection>,
  stamps: WriteTimes,
  { key, value }: Fields,
  writeTime: WriteTime,
): void {
  if (!isText(key) || value === undefined) return
  if (key === "cwd" && isText(value) && replaces(writeTime, stamps.cwd)) {
    next.cwd = value
    next.stamps = { ...stamps, cwd: writeTime }
  }
  const keys = stamps.keys as Record<string, WriteTime>
  if (!replaces(writeTime, keys[key])) return
  const own = next.metadata as Record<string, unknown>
  // The key goes last.
  delete own[key]
  delete keys[key]
  // A list with deep values might be one that cannot be written.
  own[key] = isDeep(value) ? TOO_DEEP : value
  keys[key] = writeTime
}

export function isParent(value: unknown): value is ParentSession {
  return isObject(value) && (isText(value["id"]) || isText(value["ref"])) && !isDeep(value)
}

/** A copy of which the metadata and their write times may be changed: one for many lines, since a log may have thousands of keys. */
export function ownCopy(projection: InfoProjection): Mutable<InfoProjection> {
  const { metadata, stamps } = projection
  return { ...projection, metadata: ownMap(metadata), stamps: { ...stamps, keys: ownMap(stamps.keys) } }
}

/** Has no prototype, so that the key `__proto__` can be assigned. */
export function ownMap<T>(map?: Readonly<Record<string, T>>): Record<string, T> {
  return { __proto__: null, ...map } as never
}

export function isText(value: unknown): value is string {
  return typeof value === "string"
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** The fields that are not undefined. */
export function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}
