/**
 * Random histories of a session, entry by entry, with what a reader who knows nothing of compaction would say of them. Every message
 * and every edit says its own place (`<<17>>`), so that it can be found again in whatever is made of it.
 */
import * as fc from "fast-check"
import type { KeepRule } from "../src/compaction/cut-point.ts"
import type { Entry } from "../src/format/records.ts"
import { EntryLog } from "../src/tree/entry-log.ts"

type Fields = Record<string, unknown>

/** What a step does, and how often it is drawn. */
const KINDS = {
  user: 5,
  /** With an image, or made by the program. */
  oddUser: 1,
  assistant: 4,
  calls: 5,
  results: 8,
  hugeResult: 1,
  /** An answer that was broken off, its calls never run. */
  aborted: 1,
  custom: 1,
  bash: 1,
  state: 1,
  side: 1,
  edit: 2,
  omit: 1,
  tombstone: 2,
  branch: 0.6,
  branchSummary: 0.6,
  reset: 0.1,
} as const
type Kind = keyof typeof KINDS
type Step = readonly [kind: Kind, a: number, b: number]

/** Steps, and then a compaction with this rule. */
export interface Round {
  readonly steps: readonly Step[]
  readonly keep: KeepRule
}

const kind = fc.oneof(
  ...Object.entries(KINDS).map(([name, weight]) => ({
    weight: weight * 20,
    arbitrary: fc.constant(name as Kind),
  })),
)
const step: fc.Arbitrary<Step> = fc.tuple(kind, fc.nat({ max: 999 }), fc.nat({ max: 999 }))

export const keepRules: fc.Arbitrary<KeepRule> = fc.oneof(
  fc.record({
    kind: fc.constant("tokens" as const),
    count: fc.oneof({ weight: 1, arbitrary: fc.constant(0) }, { weight: 4, arbitrary: fc.nat({ max: 900 }) }),
  }),
  fc.record({ kind: fc.constant("turns" as const), count: fc.nat({ max: 4 }) }),
  fc.record({ kind: fc.constant("messages" as const), count: fc.nat({ max: 12 }) }),
)

/** Up to five compactions, one after the other; often just so many, for most chains break on the way. */
export const rounds: fc.Arbitrary<readonly Round[]> = fc.oneof(roundsOf(1), roundsOf(5))

export interface Visible {
  readonly id: string
  /** The seq that its text says. */
  readonly mark: number
}

function roundsOf(minLength: number): fc.Arbitrary<readonly Round[]> {
  const steps = fc.array(step, { minLength: 1, maxLength: 18, size: "max" })
  return fc.array(fc.record({ steps, keep: keepRules }), { minLength, maxLength: 5, size: "max" })
}

export class History {
  readonly log: EntryLog = EntryLog.of([undefined])
  leaf: string | null = null
  readonly #byId = new Map<string, Entry>()
  #open: string[] = []
  #calls = 0

  get leafSeq(): number | null {
    return this.leaf === null ? null : this.#entry(this.leaf).seq
  }

  take([what, a, b]: Step): void {
    const seq = this.log.end
    const mark = `<<${seq}>>`
    const text = `${mark}${"x".repeat(a % 7 === 0 ? b : b % 80)}`
    const near = this.#near(a)
    switch (what) {
      case "user":
      case "assistant":
        return this.#message({ role: what, content: [{ type: "text", text }] })
      case "oddUser": {
        const image = { type: "image", data: "AAAA", mimeType: "image/png" }
        return this.#message({
          role: "user",
          content: [{ type: "text", text }, ...(a % 2 === 0 ? [image] : [])],
          ...(a % 3 === 0 ? { synthetic: true } : {}),
        })
      }
      case "calls":
      case "aborted":
        return this.#callTools(what, mark, a)
      case "results":
      case "hugeResult": {
        const [toolCallId] = this.#open.splice(b % Math.max(1, this.#open.length), 1)
        if (toolCallId === undefined) return
        const long = what === "hugeResult" ? `${text}${"y".repeat(20_000)}` : text
        return this.#message({
          role: "toolResult",
          toolCallId,
          isError: false,
          content: [{ type: "text", text: long }],
        })
      }
      case "custom":
        return this.#add({ type: "custom_message", customType: "n", content: [{ type: "text", text }], display: true })
      case "bash":
        return this.#message({ role: "bashExecution", command: "ls", output: text })
      case "state":
        return this.#add({ type: "model_change", provider: "p", model: `m${a}` })
      case "side":
        return this.#add({ type: "custom", customType: "note", data: b })
      case "edit":
        if (near === undefined) return
        return this.#add({ type: "context_edit", targetId: near, replacement: { content: [{ type: "text", text }] } })
      case "omit":
        return near === undefined ? undefined : this.#add({ type: "context_edit", targetId: near, replacement: null })
      case "tombstone":
        return near === undefined ? undefined : this.#add({ type: "tombstone", targetId: near })
      case "branch":
        if (near !== undefined && a % 3 === 0) this.#add({ type: "leaf" }, near)
        return
      case "branchSummary":
        if (near !== undefined && a % 3 === 0)
          this.#add({ type: "branch_summary", fromId: this.leaf ?? "root", summary: text }, near)
        return
      case "reset":
        return this.#add({ type: "reset_boundary" })
    }
  }

  /** As a compaction is written. Gives its id. */
  compacted(summary: string, firstKeptEntryId: string | undefined, more: Fields = {}): string {
    const id = `e${this.log.end}`
    this.#add({ type: "compaction", summary, firstKeptEntryId: firstKeptEntryId ?? id, tokensBefore: 1, ...more })
    return id
  }

  /** Entries from the last reset on to the leaf. */
  path(): readonly Entry[] {
    const path: Entry[] = []
    for (let id = this.leaf; id !== null; ) {
      const entry: Entry = this.#entry(id)
      if (entry.type === "reset_boundary" && !this.#deleted().has(entry.id)) break
      path.unshift(entry)
      id = entry.parentId
    }
    return path
  }

  /** The path's messages that were neither deleted nor left out, in their order, as they read after their last edit. */
  visible(): readonly Visible[] {
    const deleted = this.#deleted()
    const path = this.path().filter(({ id }) => !deleted.has(id))
    return path.filter(isMessageEntry).flatMap(({ id, seq }): Visible[] => {
      const edit = path.findLast(({ type, targetId }) => type === "context_edit" && targetId === id)
      return edit?.["replacement"] === null ? [] : [{ id, mark: edit?.seq ?? seq }]
    })
  }

  /** The compaction that the path rests on. */
  latestCompaction(): Entry | undefined {
    const deleted = this.#deleted()
    return this.path().findLast(({ type, id }) => type === "compaction" && !deleted.has(id))
  }

  /** Which entry a mark tells of: an edit's target, or the message itself. */
  told(mark: number): string {
    const entry = this.log.at(mark) as Entry
    return entry.type === "context_edit" ? String(entry["targetId"]) : entry.id
  }

  #callTools(what: "calls" | "aborted", mark: string, a: number): void {
    // Local models use ids again.
    this.#open = Array.from({ length: 1 + (a % 3) }, () => `call${a % 11 === 0 ? a % 3 : this.#calls++}`)
    const content = this.#open.map((id) => ({ type: "toolCall", id, name: "bash", arguments: { mark } }))
    this.#message({ role: "assistant", content, ...(what === "aborted" ? { stopReason: "aborted" } : {}) })
    if (what === "aborted") this.#open = []
  }

  #deleted(): ReadonlySet<unknown> {
    return new Set([...this.#byId.values()].flatMap((one) => (one.type === "tombstone" ? [one["targetId"]] : [])))
  }

  /** Mostly one of the last entries on the path. */
  #near(n: number): string | undefined {
    const path = this.path()
    return n % 10 === 0 ? path[n % Math.max(1, path.length)]?.id : path.at(-1 - (n % 6))?.id
  }

  #message(message: Fields): void {
    this.#add({ type: "message", message })
  }

  #add({ type, ...payload }: Fields, parentId: string | null = this.leaf): void {
    const seq = this.log.end
    const base = { id: `e${seq}`, parentId, seq, timestamp: "2026-01-31T09:30:00.000Z" }
    const entry = { type, ...base, ...payload } as unknown as Entry
    this.log.push(entry)
    this.#byId.set(entry.id, entry)
    this.leaf = entry.id
  }

  #entry(id: string): Entry {
    return this.#byId.get(id) as Entry
  }
}

export function isMessageEntry({ type }: Entry): boolean {
  return type === "message" || type === "custom_message" || type === "branch_summary"
}

/** The marks in a text, each once. */
export function marksIn(text: string): number[] {
  return [...new Set(Array.from(text.matchAll(/<<(\d+)>>/g), ([, mark]) => Number(mark)))]
}
