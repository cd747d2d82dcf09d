/** What a tail says about an append: written, refused, or still to be sent. Every answer but success is decided here. Pure. */
import type { Head } from "@sessions/core/storage"
import type { LiveTail, Tail } from "../format/tail.ts"
import type { Batch } from "./plan.ts"

/** What was sent of an append so far. */
export interface Sent {
  /** It went out at least once. */
  readonly any: boolean
  /** One of the times nobody knows what became of it: it may have been written before the tail became what it is now. */
  readonly uncertain: boolean
  /** The tail that it was sent against last. */
  readonly base: Tail | undefined
}

export type Verdict =
  | { readonly kind: "written"; readonly head: Head }
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "unknown"; readonly why: string }
  /** The log is where the batch expects it. */
  | { readonly kind: "send" }
  /** The tokens of its time have been pushed out by later appends: its lines tell whether it is there, with this head. */
  | { readonly kind: "compare"; readonly head: Head; readonly why: string }

export function settle(session: string, tail: Tail, batch: Batch, sent: Sent): Verdict {
  return tail.kind === "live" ? settleLive(session, tail, batch, sent) : settleMissing(session, tail, batch, sent)
}

function settleLive(session: string, { manifest }: LiveTail, batch: Batch, sent: Sent): Verdict {
  const { expect, lines, token } = batch
  const { writes, log, next } = manifest
  const from = expect === 0 ? 0 : expect.next
  const head = { next: from + lines.length, log }
  if (sent.any && writes.some((write) => write[0] === from && write[1] === token)) return { kind: "written", head }
  if (expect !== 0 && log !== expect.log) {
    const why = `The log of ${session} was deleted and made again, or replaced. Read it anew.`
    const sameLife = sent.base?.kind === "live" && sent.base.manifest.life === manifest.life
    // Whoever replaced the log may have taken over what this append had written.
    return { kind: sent.uncertain && sameLife ? "unknown" : "refused", why }
  }
  if (next === from) return { kind: "send" }
  const why =
    expect === 0
      ? `The session ${session} exists already.`
      : `The log of ${session} has ${next} lines, not ${from}. Read what was added and append after it.`
  const forgotten = (writes[0]?.[0] ?? next) > from && head.next <= next
  return sent.uncertain && forgotten ? { kind: "compare", head, why } : { kind: "refused", why }
}

function settleMissing(session: string, tail: Tail, { expect, token }: Batch, { any, uncertain, base }: Sent): Verdict {
  if (expect !== 0) return { kind: "refused", why: `There is no session ${session}; expect 0 creates one.` }
  const untouched = tail.kind === "absent" || (base?.kind === "gone" && tail.kind === "gone" && base.etag === tail.etag)
  // It was made and deleted again, or may have been: making it once more would bring a deleted session back.
  if ((any && tail.kind === "gone" && tail.made === token) || (uncertain && !untouched))
    return { kind: "refused", why: `The session ${session} was deleted meanwhile.` }
  return { kind: "send" }
}
