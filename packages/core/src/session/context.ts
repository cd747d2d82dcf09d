/** Makes the context of an open session: selects, restores, renders, repairs and shortens. Reads no line before the context. */
import { assembleContext, type ContextParts } from "../context/assemble.ts"
import { counterOf, lastSetting } from "../context/settings.ts"
import { plainMessages, plainUnits } from "../context/plain.ts"
import type { ChangesOf } from "../context/changes.ts"
import { lastRequest, placeOfAnswer } from "../context/reused.ts"
import { type KnownUnits, measure, type Ruler } from "../context/ruler.ts"
import type { Selection } from "../context/select.ts"
import type { ContextMessage, SessionContext } from "../context/types.ts"
import { type CompactionLayers, settingsOf } from "./compaction.ts"
import { contextFeature } from "./features/load.ts"
import type { ReadableSession } from "./live-types.ts"
import type { ContextOptions } from "./types.ts"
import { isObject } from "../format/shape.ts"
import type { EntryLog } from "../log/entry-log.ts"
import type { Seq } from "../storage/contract.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { ModelMessage } from "../format/message.ts"
import type { ContextState, Entry } from "../format/entry.ts"
import { restoreSelected, restoreState, selectAt } from "./read-path.ts"

/**
 * The context at the leaf, which the caller may change. The compaction settings count tokens, and shorten results if the call
 * does not set `shorten`. Rejects with `invalid` for a wrong option, and with the errors of the storage.
 */
export async function readContext(
  live: ReadableSession & { openBranches(): Diagnostic | undefined },
  o: ContextOptions = {},
  compaction: CompactionLayers,
): Promise<SessionContext> {
  const { window } = o
  const selection = await selectAt(live, live.state.leafId, o)
  const request = lastRequest(live.state.log, selection)
  const read = await contextMessages(live, selection, o)
  const { state } = read
  const layers = settingsOf(compaction)
  const count = counterOf(layers)
  const shorten = o.shorten ?? lastSetting(layers, "shorten") ?? false
  const same = placeOfAnswer(live.state.log, request, selection, read)
  let parts: ContextParts<ModelMessage> = { ...read, common: { ...request, same: same ?? -1 } }
  const isShown = shorten !== false || selection.entries.some(({ entry }) => isViewStep(entry))
  const isChanged = live.state.log.lastTombstone >= 0 || selection.lastEdit !== undefined
  let changesOf: ChangesOf | undefined
  if (isShown || isChanged || same === undefined) {
    // A page that is offline can go on with its sessions: only a context that is not sent whole needs the code.
    const feature = await (isShown ? contextFeature() : loadedFeature())
    changesOf = feature?.changesOf
    const given = { read, make: contextMessages, same, request, selection, shorten, layers, count, o }
    if (isShown || same === undefined) parts = (await feature?.compareContexts(live, given)) ?? parts
  }
  const from = { ...selection, state }
  const { log } = live.state
  const measuring = { count, overheadTokens: lastSetting(layers, "overheadTokens"), changesOf }
  const isAsStored = !isShown && !isChanged && count === undefined && read.stored !== undefined
  let ruler: Ruler | undefined
  const measureNow = (): Ruler => {
    const stored = read.stored?.()
    if (stored === undefined) return measure(log, from, parts, { ...measuring, known: read })
    if (isAsStored) return measure(log, from, stored, { ...measuring, known: stored })
    return measure(log, from, parts, { ...measuring, known: { ...stored, messages: read.messages } })
  }
  // Read later, the log may say more of what was changed, and the caller may have changed the copies.
  if (!isAsStored) ruler = measureNow()
  const measured = {
    window,
    get ruler() {
      return (ruler ??= measureNow())
    },
  }
  const diagnostics = parts.diagnostics.concat(live.openBranches() ?? [])
  const context = assembleContext(from, { ...parts, diagnostics }, measured)
  const isLarge = window !== undefined && mayBeLarge(selection, parts, measured.ruler)
  const isOutdated = mayBeOutdated(live.state.log, selection)
  // A page that is offline can go on: its next context that finds the code says it.
  const feature =
    context.fits === false ? await contextFeature() : isLarge || isOutdated ? await loadedFeature() : undefined
  const explained = { selection: from, measured, layers, o, isLarge, isOutdated }
  return (await feature?.explainContext(live, context, explained)) ?? context
}

/** Whether a summary says that it is outdated, or anything was deleted or edited since it was made. */
function mayBeOutdated(log: EntryLog, { entries, lastEdit = -1 }: Selection): boolean {
  const changed = Math.max(log.lastTombstone, lastEdit)
  // Not of every entry: most have neither field.
  return entries.some(
    ({ seq, entry }) =>
      (entry.type === "compaction" || entry.type === "branch_summary") && (seq < changed || saysOutdated(entry)),
  )
}

function saysOutdated({ outdated, details }: Entry): boolean {
  return outdated !== undefined || (isObject(details) && details["outdated"] !== undefined)
}

/** Texts reach no limit of bytes before one of tokens, unless a provider has said so. */
const TEXTS: ReadonlySet<string> = new Set(["text", "thinking", "toolCall"])

function mayBeLarge({ entries }: Selection, { messages }: ContextParts<ModelMessage>, { limits }: Ruler): boolean {
  return (
    Object.values(limits).some(({ bytes, images }) => bytes !== undefined || images !== undefined) ||
    entries.some(({ entry }) => entry.type === "context_refusal") ||
    messages.some(({ message }) => message.content.some(({ type }) => !TEXTS.has(type)))
  )
}

/** Whether an entry changes how contexts show the messages before it. */
function isViewStep(entry: Entry): boolean {
  return entry.type === "context_step" && entry["window"] !== undefined
}

/** Undefined if the code cannot be loaded. */
function loadedFeature(): Promise<Awaited<ReturnType<typeof contextFeature>> | undefined> {
  return contextFeature().catch(() => undefined)
}

export interface ContextMessages {
  /** Copies. */
  readonly messages: readonly ContextMessage<ModelMessage>[]
  /** Their estimates, if they are known. */
  readonly tokens?: readonly number[]
  /** The same ones as the log has them, with estimates. Present if each message of the log is one of these, unchanged. */
  readonly stored?: () => Required<KnownUnits>
  readonly state: ContextState
  readonly diagnostics: readonly Diagnostic[]
}

async function contextMessages(
  live: ReadableSession,
  selection: Selection,
  o: ContextOptions,
  end: Seq = live.state.log.end,
): Promise<ContextMessages> {
  const { repair = "synthesize", summaryAs } = o
  const { extensions } = live.options
  const { log } = live.state
  const hasState = selection.stateBlobs === undefined
  const plainly = (entries: Selection["entries"], state: ContextState): ContextMessages | undefined => {
    const messages = plainMessages(entries, repair, summaryAs, extensions)
    return messages && { messages, stored: () => plainUnits(log, entries, summaryAs), state, diagnostics: [] }
  }
  const unchanged = hasState ? plainly(selection.entries, selection.state) : undefined
  if (unchanged !== undefined) return unchanged
  const { entries } = await restoreSelected(live, selection.entries, o)
  const state = await restoreState(live, selection, o)
  // The diagnostics of restoring are left out: converting reports each missing blob, and replaces it.
  const isTried = hasState && entries === selection.entries
  const restored = isTried ? undefined : plainly(entries, state)
  if (restored !== undefined) return restored
  const { convertedMessages } = await contextFeature()
  const convert = { repair, summaryAs, extensions, end }
  return {
    ...(await live.store.untilKnown(
      () => log,
      () => convertedMessages(log, entries, convert),
      o,
    )),
    state,
  }
}
