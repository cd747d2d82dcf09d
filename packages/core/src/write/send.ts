/** Sends a group of appends until it is in the log, certainly not in it, or nobody can say. */
import { encodeHeader } from "../format/line.ts"
import type { Head } from "../storage/contract.ts"
import { hasCode } from "../storage/errors.ts"
import { backoff } from "../storage/clock.ts"
import { storedLine } from "./pending.ts"
import type { PendingAppend } from "./pending.ts"
import { keepsRefusing } from "./errors.ts"
import { retryUnavailable, TRIES } from "../storage/retry.ts"
import { countLines, surelyFits } from "./limits.ts"
import { findCommitted } from "./resolve-outcome.ts"
import type { Found, ResolveContext } from "./resolve-outcome.ts"

export interface SendContext extends ResolveContext {
  readonly maxSessionBytes: number
  /** The session information to send with a batch, as of its last entry. */
  infoText(pendingEntries: number): string | undefined
}

export type Sent =
  | { readonly kind: "acknowledged"; readonly head: Head }
  /** The group was refused, or its fate is unknown; what stands in the log tells what became of it. */
  | { readonly kind: "found"; readonly found: Found }
  /** It was not acknowledged. Where it is `unknown` now, it may be in the log all the same, or still come. */
  | { readonly kind: "refused"; readonly error: unknown }

/**
 * The bytes are the same at each try, and while the fate of a group is unknown nothing else goes with it: a write that comes late
 * then meets itself.
 */
export async function sendGroup(host: SendContext, group: readonly PendingAppend[]): Promise<Sent> {
  // What may have arrived already is looked for before it is sent again.
  let send = !isOutcomeUnknown(group)
  for (let attempt = 1; ; attempt++) {
    if (send) {
      const outcome = await sendOnce(host, group)
      if (outcome.kind === "acknowledged") return outcome
      if (isUnknown(outcome.error)) for (const item of group) item.outcome = "unknown"
      else if (!hasCode(outcome.error, "conflict")) return outcome
    }
    send = true
    try {
      const found = await resolveOutcome(host)
      if (found.kind !== "nothing") return { kind: "found", found }
    } catch (error) {
      return { kind: "refused", error }
    }
    if (attempt === TRIES) return { kind: "refused", error: keepsRefusing(host) }
    await backoff(attempt)
  }
}

/** What stands at the log's end. */
export async function resolveOutcome(host: ResolveContext): Promise<Found> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await findCommitted(host)
    } catch (error) {
      // A log that was replaced while it was read is another one by now.
      if (attempt === TRIES || !(hasCode(error, "unavailable") || hasCode(error, "conflict"))) throw error
      await backoff(attempt)
    }
  }
}

export function isOutcomeUnknown(group: readonly PendingAppend[]): boolean {
  return group[0]?.outcome === "unknown"
}

async function sendOnce(host: SendContext, group: readonly PendingAppend[]): Promise<Exclude<Sent, { kind: "found" }>> {
  const { id, storage, state } = host
  let seq = state.acknowledged
  for (const item of group) {
    if (item.outcome === "queued") item.outcome = "sent"
    const from = seq
    item.lines ??= item.entries.map((entry, at) => storedLine(entry, from + at, (other) => state.log.find(other)))
    seq += item.entries.length
  }
  const lines = group.flatMap((item) => item.lines as readonly string[])
  if (state.head === undefined) lines.unshift(encodeHeader(state.header))
  const exact = state.bytesExact && !surelyFits(host, group)
  const info = host.infoText(seq - state.acknowledged)
  const options = { expect: state.head ?? (0 as const), ...(info === undefined ? {} : { info }) }
  try {
    const head = await retryUnavailable(() => storage.append(id, lines, options))
    state.grow(countLines(lines, { exact }), { exact })
    return { kind: "acknowledged", head }
  } catch (error) {
    return { kind: "refused", error }
  }
}

/** Codes by which a storage says that nothing was written. Anything else, a bug of its own included, leaves that open. */
const CERTAIN: ReadonlySet<unknown> = new Set([
  "conflict",
  "invalid",
  "unsupported",
  "closed",
  "corrupt",
  "quota",
  "unavailable",
  "aborted",
])

function isUnknown(error: unknown): boolean {
  const { code, sent } = (error ?? {}) as { code?: unknown; sent?: unknown }
  return !CERTAIN.has(code) || sent === true
}
