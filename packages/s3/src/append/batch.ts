/** The batch of an append, and the manifest after it. Pure. */
import { batchBytes, type StorageAppendOptions } from "@sessions/core/storage"
import { KEPT_WRITES, linesOfSegment, type Manifest, MAX_FIRST_LINE_BYTES, type Segment } from "../format/manifest.ts"

export interface Batch {
  readonly lines: readonly string[]
  readonly bytes: number
  readonly expect: StorageAppendOptions["expect"]
  readonly info: string | undefined
  /** By which its writer recognizes it in a manifest. */
  readonly token: string
}

export function toBatch(lines: readonly string[], o: Pick<Batch, "expect" | "info" | "token">): Batch {
  return { lines, bytes: batchBytes(lines), ...o }
}

/** `base` is the manifest of the log that the batch follows, or an empty one; `sealed` are the segments written for it. */
export function nextManifest(base: Manifest, batch: Batch, sealed: readonly Segment[]): Manifest {
  const { at: _at, ...kept } = base
  const first = batch.lines[0] as string
  const line0 = base.next === 0 && first.length <= MAX_FIRST_LINE_BYTES ? { line0: first } : {}
  const next = base.next + batch.lines.length
  return {
    ...kept,
    ...line0,
    next,
    bytes: base.bytes + batch.bytes,
    from: base.from + sealed.reduce((sum, segment) => sum + linesOfSegment(segment), 0),
    ...(batch.info !== undefined && { info: { text: batch.info, next } }),
    writes: [...base.writes, [base.next, batch.token] as const].slice(-KEPT_WRITES),
    segments: [...base.segments, ...sealed],
  }
}
