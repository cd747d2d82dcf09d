/**
 * The channel values of a checkpoint. A checkpoint has all of them, or the changes to another one (`on`), which is read first. References go
 * by the place in the log, not by channel version: versions are integers, so two forks of one checkpoint get equal ones.
 */
import { type Seq, StorageError } from "@sessions/core/storage"
import { type Delta, diff, patch } from "./delta.ts"
import type { LogLines } from "./log-lines.ts"
import { type CheckpointRecord, type Found, recordOf, type Stored, type StoredValue } from "./records.ts"
import { sizeOf } from "./values.ts"

/** Serialized, by channel. */
export type ChannelValues = ReadonlyMap<string, Stored>

/** A reader of the latest checkpoint reads at most this many others, and about twice the size of its state. */
const LONGEST_CHAIN = 64
/** Below this size of the state, in characters, the changes may be larger than the state. */
const SMALL = 32_768

export type Changes = Pick<CheckpointRecord, "on" | "chain" | "set" | "unset">

/** A checkpoint that another one may refer to. */
export interface Base {
  readonly seq: Seq
  readonly chain: CheckpointRecord["chain"]
  readonly values: ChannelValues
}

/** The values that a checkpoint stores: the changes to `base`, or all values if there is no base or reading the changes would cost too much. */
export function changesTo(base: Base | undefined, values: ChannelValues): Changes {
  const all: Changes = { chain: [0, 0], set: [...values] }
  if (base === undefined || base.chain[1] >= LONGEST_CHAIN) return all
  const set: [string, StoredValue][] = []
  let size = 0
  let whole = 0
  for (const [channel, value] of values) {
    whole += sizeOf(value)
    const before = base.values.get(channel)
    if (before !== undefined && isSame(before, value)) continue
    const changed = differenceTo(before, value)
    set.push([channel, changed.value])
    size += changed.size
  }
  const chain = [base.chain[0] + size, base.chain[1] + 1] as const
  if (chain[0] > Math.max(whole, SMALL)) return all
  const unset = [...base.values.keys()].filter((channel) => !values.has(channel))
  return { on: base.seq, chain, set, ...(unset.length > 0 && { unset }) }
}

/** Serialized values by the seq of their checkpoint. */
export interface StateCache {
  get(seq: Seq): ChannelValues | undefined
  set(seq: Seq, values: ChannelValues): void
}

/** The values of the checkpoint at `seq`. Rejects with `corrupt` if a checkpoint that it refers to is not there. */
export async function readValues(lines: LogLines, seq: Seq, cache: StateCache): Promise<ChannelValues> {
  const changes: { seq: Seq; data: CheckpointRecord }[] = []
  let at: Seq | undefined = seq
  let values: ChannelValues | undefined
  while (at !== undefined && (values = cache.get(at)) === undefined) {
    const found: Found | undefined = await lines.record(at)
    const whole: Found | undefined = found === undefined ? undefined : recordOf(await lines.whole(found.entry), at)
    // A base is always older, so that damaged references form no loop.
    if (whole?.kind !== "checkpoint" || !((whole.data.on ?? 0) < at)) throw missingLineError(lines, seq, at)
    changes.push({ seq: at, data: whole.data })
    at = whole.data.on
  }
  values ??= new Map()
  for (const change of changes.reverse()) {
    values = changed(values, change.data)
    cache.set(change.seq, values)
  }
  return values
}

function changed(base: ChannelValues, { set, unset = [] }: CheckpointRecord): ChannelValues {
  const values = new Map(base)
  for (const channel of unset) values.delete(channel)
  for (const [channel, value] of set) {
    if ("d" in value) {
      const before = base.get(channel)
      values.set(channel, { t: value.t, s: patch(before !== undefined && "s" in before ? before.s : "", value.d) })
    } else values.set(channel, value)
  }
  return values
}

function differenceTo(
  before: Stored | undefined,
  value: Stored,
): { readonly value: StoredValue; readonly size: number } {
  const size = sizeOf(value)
  if (before === undefined || !("s" in before) || !("s" in value)) return { value, size }
  const delta = diff(before.s, value.s)
  const deltaSize = delta === undefined ? size : sizeOfDelta(delta)
  return delta === undefined || deltaSize >= size
    ? { value, size }
    : { value: { t: value.t, d: delta }, size: deltaSize }
}

/** About the characters of its JSON. */
function sizeOfDelta(delta: Delta): number {
  return delta.reduce((sum, part) => sum + (typeof part === "string" ? part.length + 3 : 16), 0)
}

function isSame(a: Stored, b: Stored): boolean {
  if (a.t !== b.t) return false
  return "s" in a ? "s" in b && a.s === b.s : "b" in b && a.b === b.b
}

function missingLineError({ session }: LogLines, seq: Seq, at: Seq): StorageError {
  const message = `Line ${seq} of ${session} is a checkpoint with changes to one in line ${at}, which is damaged or missing. Restore the session from a backup, or go on from another checkpoint by its id.`
  return new StorageError("corrupt", message, { session })
}
