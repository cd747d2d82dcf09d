/** Decides from the tail whether an append was committed, conflicts, or has to be sent (again). Pure. */
import { type Head, isSameLine } from "@sessions/core/storage"
import { headOf, type LiveTail, mayBeFirstCreation, type Tail } from "../format/tail.ts"
import type { Batch } from "./batch.ts"

/** The requests sent for an append so far. */
export interface Attempts {
  /** At least one was sent. */
  readonly any: boolean
  /** One had an unknown outcome: it may have been committed at any time since. */
  readonly uncertain: boolean
  /** The tail that the last one was to replace. */
  readonly base: Tail | undefined
}

export type Outcome =
  | { readonly kind: "committed"; readonly head: Head }
  | { readonly kind: "conflict"; readonly why: string }
  | { readonly kind: "unknown"; readonly why: string }
  /** The log ends at the expected head. */
  | { readonly kind: "send" }
  /** Later appends have displaced its token from the manifest: committed with this head if its lines are in the log. */
  | { readonly kind: "compare"; readonly head: Head; readonly why: string }

export function resolveOutcome(session: string, tail: Tail, batch: Batch, attempts: Attempts): Outcome {
  return tail.kind === "live"
    ? outcomeInLog(session, tail, batch, attempts)
    : outcomeWithoutLog(session, tail, batch, attempts)
}

function outcomeInLog(session: string, tail: LiveTail, batch: Batch, attempts: Attempts): Outcome {
  const { expect, lines, token } = batch
  const { manifest } = tail
  const { writes, log, next } = manifest
  const from = expect === 0 ? 0 : expect.next
  const head = { next: from + lines.length, log }
  if (attempts.any && writes.some((write) => write[0] === from && write[1] === token)) {
    return { kind: "committed", head }
  }
  if (expect !== 0 && log !== expect.log) {
    const why = `The log of ${session} was replaced, or deleted and created again. Read it again.`
    const wasReplaced = attempts.base?.kind === "live" && attempts.base.manifest.generation === manifest.generation
    // A replacement may contain the lines of this append, unless it was made from the log without them.
    const isWithout = manifest.replaced?.log === expect.log && manifest.replaced.next === expect.next
    return { kind: attempts.uncertain && wasReplaced && !isWithout ? "unknown" : "conflict", why }
  }
  const isEnd = next === from
  if (isEnd && isSameLine(headOf(tail), expect as Head)) return { kind: "send" }
  const why = isEnd
    ? `The log of ${session} ends in another line, as after an older version of its object was put back. Read it again.`
    : expect === 0
      ? `The session ${session} exists already.`
      : `The log of ${session} has ${next} lines, not ${from}. Read what was added and append after it.`
  const isDisplaced = (writes[0]?.[0] ?? next) > from && head.next <= next
  return attempts.uncertain && isDisplaced ? { kind: "compare", head, why } : { kind: "conflict", why }
}

function outcomeWithoutLog(
  session: string,
  tail: Exclude<Tail, LiveTail>,
  { expect, token }: Batch,
  { any, uncertain, base }: Attempts,
): Outcome {
  if (expect !== 0) return { kind: "conflict", why: `There is no session ${session}; expect 0 creates one.` }
  // Each deletion begins a new generation. A base that is absent may not have been read: a creation is sent without.
  const before = base?.kind === "deleted" ? base.generation : undefined
  const isSame = tail.kind === "absent" || tail.generation === before
  // It was, or may have been, created and deleted: creating it again would bring a deleted session back. A failed condition proves nothing:
  // a proxy sends a request twice, and the second copy is refused because of the first.
  const wasCreated = tail.kind === "deleted" && (tail.createdBy === token || mayBeFirstCreation(tail.generation, token))
  if ((any && wasCreated) || ((uncertain || (any && before !== undefined)) && !isSame)) {
    return { kind: "conflict", why: `The session ${session} was deleted meanwhile.` }
  }
  return { kind: "send" }
}
