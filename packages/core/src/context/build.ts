/** The context of a leaf, from entries in memory. Pure; `Session.context()` does the same over a log that it reads on demand. */
import { estimateMessages } from "../compaction/tokens.ts"
import { SessionError } from "../errors.ts"
import type { Message } from "../format/messages.ts"
import type { Header } from "../format/records.ts"
import { EntryLog } from "../tree/entry-log.ts"
import type { Slot } from "../tree/entry-log.ts"
import { defaultLeaf } from "../tree/path.ts"
import { renderMessages } from "./render.ts"
import type { Rendered } from "./render.ts"
import { selectContext } from "./select.ts"
import type { Selection } from "./select.ts"
import type { SessionContext } from "./types.ts"

export interface BuildOptions {
  /** Gives the state its start. */
  readonly header?: Header
  /** Tokens that the context should fit. */
  readonly window?: number
}

/**
 * The context at a leaf with custom roles kept and nothing repaired. `entries` is a whole log: the slot's index is its seq, with
 * the header (or anything that is no entry) as undefined. `leafId` null is the empty context; omitted, the last entry; an id that
 * no entry has is `not_found`.
 */
export function buildSessionContext(
  entries: readonly Slot[] | EntryLog,
  leafId?: string | null,
  o: BuildOptions = {},
): SessionContext<Message> {
  const log = entries instanceof EntryLog ? entries : EntryLog.of(entries)
  const leaf = leafId === undefined ? defaultLeaf(log) : leafId === null ? null : log.find(leafId)
  if (leaf === undefined)
    throw new SessionError("not_found", `There is no entry ${JSON.stringify(leafId)} in this log.`)
  const selection = selectContext(log, leaf, o.header)
  if ("older" in selection) {
    throw new SessionError("invalid", "The entries are not a whole log; a session reads what is missing by itself.")
  }
  return assembleContext(selection, renderMessages(selection.entries), o)
}

/** Puts the pieces of a context together. */
export function assembleContext<M extends Message>(
  selection: Selection,
  rendered: Rendered & { readonly messages: SessionContext<M>["messages"] },
  o: { readonly window?: number } = {},
): SessionContext<M> {
  const { modelIsExplicit: _, ...state } = selection.state
  const model = Object.hasOwn(state.models, "default") ? state.models["default"] : undefined
  const compaction = selection.entries.find(({ seq }) => seq === selection.compaction)?.entry
  const before = compaction?.["tokensBefore"]
  const tokens = estimateMessages(rendered.messages.map(({ message }) => message))
  return {
    messages: rendered.messages,
    ...state,
    ...(model === undefined ? {} : { model }),
    ...(compaction === undefined
      ? {}
      : { compaction: { entryId: compaction.id, tokensBefore: typeof before === "number" ? before : 0 } }),
    tokens,
    ...(o.window === undefined ? {} : { fits: tokens <= o.window }),
    diagnostics: [...selection.diagnostics, ...rendered.diagnostics],
  }
}
