/** A bucket that records the session's log after every write, independently of the adapter, and checks that logs only grow. */
import type { Clock } from "./clock.ts"
import { SimulatedBucket } from "./simulated-bucket.ts"

/** Lines of each log by its identity, as of its last write. */
export type Logs = ReadonlyMap<string, readonly string[]>

interface ObservedLog {
  readonly log: string
  readonly lines: readonly string[]
  /** Keys of the segments that the tail names. */
  readonly named: readonly string[]
}

export class ObservedBucket extends SimulatedBucket {
  readonly problems: string[] = []
  readonly logs: Map<string, readonly string[]> = new Map()
  /** Identities of logs that were deleted or replaced. */
  readonly ended: Set<string> = new Set()
  #current: ObservedLog | undefined
  readonly #tail: string
  readonly #segments: string

  constructor(tail: string, segments: string, clock: Clock) {
    super(clock)
    this.#tail = tail
    this.#segments = segments
  }

  /** The session's log now; undefined if there is none. */
  get current(): ObservedLog | undefined {
    return this.#current
  }

  protected override changed(key: string, bytes: Uint8Array | undefined): void {
    super.changed(key, bytes)
    if (bytes === undefined) this.#removed(key)
    else if (key === this.#tail) this.#observe(bytes)
  }

  #observe(bytes: Uint8Array): void {
    const before = this.#current
    if (bytes.length === 64) {
      if (before !== undefined) this.ended.add(before.log)
      this.#current = undefined
      return
    }
    const now = this.#read(new TextDecoder().decode(bytes))
    if (this.ended.has(now.log)) this.problems.push(`the log ${now.log} came back after it had ended`)
    if (before !== undefined && before.log !== now.log) this.ended.add(before.log)
    const known = this.logs.get(now.log) ?? []
    if (known.some((line, seq) => now.lines[seq] !== line))
      this.problems.push(`the log ${now.log} lost or changed lines`)
    this.logs.set(now.log, now.lines)
    this.#current = now
  }

  #read(text: string): ObservedLog {
    const [first = "", ...rest] = text.split("\n")
    const { log, life, segments } = JSON.parse(first) as {
      log: string
      life: string
      segments: { name: string; bytes: number }[]
    }
    const named = segments.map(({ name }) => `${this.#segments}${life}/${name}`)
    const lines: string[] = []
    for (const [n, key] of named.entries()) {
      const object = this.objects.get(key)
      if (object?.size !== segments[n]?.bytes) this.problems.push(`the tail names ${key}, which does not exist`)
      const content = new TextDecoder().decode(object?.bytes)
      for (const line of content.split("\n").slice(0, -1)) lines.push(line)
    }
    for (const line of rest.slice(0, -1)) lines.push(line)
    return { log, lines, named }
  }

  #removed(key: string): void {
    if (this.#current?.named.includes(key) === true) this.problems.push(`${key} was removed although the tail names it`)
    if (key === this.#tail && this.#current !== undefined) this.problems.push("the tail was removed")
  }
}
