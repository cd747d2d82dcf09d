/**
 * The two entries that a saver appends, and how they are found in the lines of a log: `langgraph.checkpoint` for each `put`,
 * `langgraph.writes` for each `putWrites`. Both are `custom` entries, so writers in several processes never conflict.
 */
import { type LogRecord, parseLine } from "@sessions/core/format"
import type { Seq } from "@sessions/core/storage"
import type { Delta } from "./delta.ts"

export const CHECKPOINT = "langgraph.checkpoint"
export const WRITES = "langgraph.writes"

/** A value as the serializer has given it: its type, and its text (`s`), or its bytes in base64 (`b`) if they are no text. */
export type Stored = { readonly t: string; readonly s: string } | { readonly t: string; readonly b: string }

/** The value of a channel; `d` is the difference to the text that the same channel had in the checkpoint `on`. */
export type StoredValue = Stored | { readonly t: string; readonly d: Delta }

/**
 * A statement about the older part of the log: no entry before `seen` mentions a greater checkpoint id than `max`, and without `max` none
 * mentions any. A reader that goes backwards knows by it when no older line can matter. `seen` is what the writer had read, so the lines
 * between it and this one may be of other writers.
 */
export interface Claim {
  readonly seen: Seq
  readonly max?: string
}

interface Mention extends Claim {
  /** `checkpoint_ns`. */
  readonly ns: string
  /** `checkpoint_id`. */
  readonly id: string
}

export interface CheckpointRecord extends Mention {
  /** The id of the parent checkpoint. */
  readonly parent?: string
  /** Without its `channel_values`. */
  readonly checkpoint: Stored
  readonly metadata: Stored
  /** The seq of the checkpoint whose channels this one changes. Missing: this one has all of its channels. */
  readonly on?: Seq
  /** Characters and number of the checkpoints from the one that has all channels, without it, to this one. */
  readonly chain: readonly [size: number, length: number]
  /** Checkpoints that the last trimming has kept, and those put since. */
  readonly count: readonly [kept: number, since: number]
  /** The channels that differ from `on`. */
  readonly set: readonly (readonly [channel: string, value: StoredValue])[]
  /** The channels of `on` that have no value any more. */
  readonly unset?: readonly string[]
}

export interface WritesRecord extends Mention {
  readonly task: string
  /** `""` if none was given. */
  readonly path: string
  readonly writes: readonly (readonly [channel: string, idx: number, value: Stored])[]
}

export type Found =
  | { readonly kind: "checkpoint"; readonly seq: Seq; readonly entry: LogRecord; readonly data: CheckpointRecord }
  | { readonly kind: "writes"; readonly seq: Seq; readonly entry: LogRecord; readonly data: WritesRecord }

export type FoundCheckpoint = Extract<Found, { kind: "checkpoint" }>
export type FoundWrites = Extract<Found, { kind: "writes" }>

/** The record of a line; undefined for lines of other kinds. */
export function recordIn(line: string, seq: Seq): Found | undefined {
  // Before the line is parsed: a header and titles are rare, but cost nothing this way.
  if (!line.startsWith('{"type":"custom"')) return undefined
  return recordOf(parseLine(line).record, seq)
}

export function recordOf(entry: LogRecord | undefined, seq: Seq): Found | undefined {
  if (entry?.type !== "custom") return undefined
  const { customType } = entry
  const data = entry["data"] as Partial<CheckpointRecord & WritesRecord> | null | undefined
  if (typeof data?.ns !== "string" || typeof data.id !== "string" || typeof data.seen !== "number") return undefined
  if (customType === CHECKPOINT && Array.isArray(data.set)) {
    return { kind: "checkpoint", seq, entry, data: data as CheckpointRecord }
  }
  if (customType === WRITES && Array.isArray(data.writes)) {
    return { kind: "writes", seq, entry, data: data as WritesRecord }
  }
  return undefined
}

/** The greater of two ids, of which either may be missing. */
export function greater(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined) return b
  return b === undefined || a > b ? a : b
}
