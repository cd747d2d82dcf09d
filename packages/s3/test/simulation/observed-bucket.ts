/** Sees every write of the bucket itself, and what it does to the one session: no adapter's word is taken for it. */
import type { PutCondition, PutResult } from "../../src/index.ts"
import type { BucketOptions } from "../fake-bucket.ts"
import { FakeBucket } from "../fake-bucket.ts"

/** The longest that a log ever was. */
export type Logs = ReadonlyMap<string, readonly string[]>

export class WitnessedBucket extends FakeBucket {
  readonly problems: string[] = []
  readonly logs: Map<string, readonly string[]> = new Map()
  /** Identities of logs that were deleted or replaced. */
  readonly ended: Set<string> = new Set()
  #current: { readonly log: string; readonly lines: readonly string[]; readonly named: readonly string[] } | undefined
  readonly #tail: string
  readonly #segments: string

  constructor(tail: string, segments: string, options: BucketOptions) {
    super(options)
    this.#tail = tail
    this.#segments = segments
    this.objects.delete = (key) => this.#delete(key)
  }

  /** Of the log as it stands. */
  get current():
    | { readonly log: string; readonly lines: readonly string[]; readonly named: readonly string[] }
    | undefined {
    return this.#current
  }

  override put(key: string, bytes: Uint8Array, condition?: PutCondition): PutResult {
    const result = super.put(key, bytes, condition)
    if (key === this.#tail) this.#look(bytes)
    return result
  }

  #look(bytes: Uint8Array): void {
    const before = this.#current
    if (bytes.length === 64) {
      if (before !== undefined) this.ended.add(before.log)
      this.#current = undefined
      return
    }
    const now = this.#read(new TextDecoder().decode(bytes))
    if (this.ended.has(now.log)) this.problems.push(`the log ${now.log} came back after its end`)
    if (before !== undefined && before.log !== now.log) this.ended.add(before.log)
    const known = this.logs.get(now.log) ?? []
    if (known.some((line, seq) => now.lines[seq] !== line))
      this.problems.push(`the log ${now.log} lost or changed lines`)
    this.logs.set(now.log, now.lines)
    this.#current = now
  }

  #read(text: string): { readonly log: string; readonly lines: readonly string[]; readonly named: readonly string[] } {
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
      if (object?.size !== segments[n]?.bytes) this.problems.push(`the tail names ${key}, which is not there`)
      const content = new TextDecoder().decode(object?.bytes)
      for (const line of content.split("\n").slice(0, -1)) lines.push(line)
    }
    for (const line of rest.slice(0, -1)) lines.push(line)
    return { log, lines, named }
  }

  #delete(key: string): boolean {
    if (this.#current?.named.includes(key) === true) this.problems.push(`${key} was removed although the tail names it`)
    if (key === this.#tail) this.problems.push("the tail was removed")
    return Map.prototype.delete.call(this.objects, key)
  }
}
