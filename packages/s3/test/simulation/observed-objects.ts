/** A bucket that records every version of the one document and checks that no blob is lost, independently of the adapter. */
import { sha256Hex } from "@sessions/core/storage"
import { ENVELOPE_SIZE } from "../../src/format/envelope.ts"
import { isTombstone } from "../../src/format/tombstone.ts"
import type { Clock } from "./clock.ts"
import { EPOCH, SimulatedBucket } from "./simulated-bucket.ts"

export interface RecordedChange {
  /** The token that the change adds; undefined for a deletion. */
  readonly token: string | undefined
  /** `acknowledged`, or the code of the error. Undefined if the process died first. */
  outcome: string | undefined
}

export class ObservedObjects extends SimulatedBucket {
  readonly problems: string[] = []
  /** Every version of the document, oldest first; undefined: there was none. */
  readonly documents: (string | undefined)[] = [undefined]
  readonly #changes: RecordedChange[] = []
  readonly #clock: Clock
  /** When the last acknowledged put of a blob began, by its hash. */
  readonly #puts: Map<string, number> = new Map()
  /** The latest `ifPutBefore` with which a deletion was asked for, by the hash. */
  readonly #deletable: Map<string, number> = new Map()

  constructor(clock: Clock) {
    super(clock)
    this.#clock = clock
  }

  now(): number {
    return EPOCH + this.#clock.now()
  }

  hashOf(content: Uint8Array): Promise<string> {
    return sha256Hex(content)
  }

  get document(): string | undefined {
    return this.documents.at(-1)
  }

  startChange(token: string | undefined): RecordedChange {
    const change = { token, outcome: undefined }
    this.#changes.push(change)
    return change
  }

  blobPut(hash: string, begin: number): void {
    this.#puts.set(hash, Math.max(begin, this.#puts.get(hash) ?? 0))
    this.#checkBlob(hash)
  }

  blobMayBeDeleted(hash: string, ifPutBefore: number): void {
    this.#deletable.set(hash, Math.max(ifPutBefore, this.#deletable.get(hash) ?? 0))
  }

  /** Whether the blob was put, and every deletion was to leave that put. */
  isKept(hash: string): boolean {
    const put = this.#puts.get(hash)
    return put !== undefined && put >= (this.#deletable.get(hash) ?? 0)
  }

  counts(): { readonly acknowledged: number; readonly indeterminate: number } {
    const count = (...outcomes: (string | undefined)[]): number =>
      this.#changes.filter(({ outcome }) => outcomes.includes(outcome)).length
    return { acknowledged: count("acknowledged"), indeterminate: count("indeterminate", undefined) }
  }

  /**
   * Each version adds one token to the one before it, or deletes it. An acknowledged change took place once, a refused one never, one
   * with an unknown outcome at most once.
   */
  violationsOfChanges(): string[] {
    const violations: string[] = []
    const times = new Map<string, number>()
    let deletions = 0
    for (const [n, text] of this.documents.entries()) {
      const before = this.documents[n - 1] ?? ""
      if (text === undefined) {
        if (before !== "") deletions++
        continue
      }
      const token = text.slice(before.length)
      if (!text.startsWith(before) || !/^<[^<>]+>$/.test(token)) violations.push(`${before} was replaced by ${text}`)
      for (const added of text.match(/<[^<>]+>/g) ?? [])
        if (!before.includes(added)) times.set(added, (times.get(added) ?? 0) + 1)
    }
    let [acknowledged, possible] = [0, 0]
    for (const { token, outcome } of this.#changes) {
      const isUnknown = outcome === undefined || outcome === "indeterminate"
      if (token === undefined) {
        if (outcome === "acknowledged") acknowledged++
        if (outcome === "acknowledged" || isUnknown) possible++
        continue
      }
      const count = times.get(token) ?? 0
      const expected = outcome === "acknowledged" ? count === 1 : count === 0 || (isUnknown && count === 1)
      if (!expected)
        violations.push(`the change ${token} took place ${count} times, its outcome was ${String(outcome)}`)
    }
    if (deletions < acknowledged || deletions > possible)
      violations.push(`${deletions} deletions, ${acknowledged} acknowledged, ${possible} possible`)
    return violations
  }

  protected override changed(key: string, bytes: Uint8Array | undefined): void {
    super.changed(key, bytes)
    const isThere = bytes !== undefined && !isTombstone(bytes.length)
    if (key.startsWith("blobs/")) this.#checkBlob(key.slice(key.lastIndexOf("/") + 1))
    else if (key.startsWith("docs/") || key.startsWith("session-docs/"))
      this.documents.push(isThere ? new TextDecoder().decode(bytes.subarray(ENVELOPE_SIZE)) : undefined)
  }

  #checkBlob(hash: string): void {
    const found = this.objects.get(`blobs/${hash.slice(0, 2)}/${hash}`)
    const isThere = found !== undefined && !isTombstone(found.size)
    if (!isThere && this.isKept(hash)) this.problems.push("a blob was removed that was put after the limit")
  }
}
