/**
 * Random histories of a session, entry by entry, with the messages that a reader without compaction sees. Every message and edit
 * contains its own position (`<<17>>`), so that it can be found in every text made from it.
 */
import * as fc from "fast-check"
import type { KeepRule } from "../src/compaction/plan/cut-point.ts"
import type { Entry } from "../src/format/entry.ts"
import { EntryLog } from "../src/log/entry-log.ts"

type Fields = Record<string, unknown>

/** The effect of a step, and how often it is drawn. */
const KINDS = {
  user: 5,
  /** With an image, or made by the program. */
  oddUser: 1,
  assistant: 4,
  calls: 5,
  results: 8,
  hugeResult: 1,
  /** An aborted answer whose calls never run. */
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

/** Steps, followed by a compaction with this rule. */
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

/** Up to five compactions in a row; often exactly five, because most chains end early. */
export const rounds: fc.Arbitrary<readonly Round[]> = fc.oneof(roundsOf(1), roundsOf(5))

export interface Visible {
  readonly id: string
  /** The seq that its text contains. */
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
  /** The targets of all tombstones. */
  readonly #deleted = new Set<unknown>()
  #open: string[] = []
  #calls = 0

  get leafSeq(): number | null {
    return this.leaf === null ? null : this.#entry(this.leaf).seq
  }

  take([what, a, b]: Step): void {
    const seq = this.log.end
    const mark = `<<${seq}>>`
    const text = `${mark}${"x".repeat(a % 7 === 0 ? b : b % 80)}`
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
      case "omit":
      case "tombstone":
      case "branch":
      case "branchSummary":
        return this.#alter(what, a, text)
      case "reset":
        return this.#add({ type: "reset_boundary" })
    }
  }

  /** Writes a compaction entry. Returns its id. */
  compacted(summary: string, firstKeptEntryId: string | undefined, more: Fields = {}): string {
    const id = `e${this.log.end}`
    this.#add({ type: "compaction", summary, firstKeptEntryId: firstKeptEntryId ?? id, tokensBefore: 1, ...more })
    return id
  }

  /** Entries from the root to the leaf. */
  wholePath(): readonly Entry[] {
    const path: Entry[] = []
    for (let id = this.leaf; id !== null; ) {
      const entry: Entry = this.#entry(id)
      path.push(entry)
      id = entry.parentId
    }
    return path.reverse()
  }

  /** Those behind the last reset. */
  path(): readonly Entry[] {
    const path = this.wholePath()
    const isReset = ({ type, id }: Entry): boolean => type === "reset_boundary" && !this.#deleted.has(id)
    return path.slice(path.findLastIndex(isReset) + 1)
  }

  /** The path's messages that were neither deleted nor left out, in order, after their last edit. */
  visible(): readonly Visible[] {
    const path = this.path().filter(({ id }) => !this.#deleted.has(id))
    const edits = new Map<unknown, Entry>()
    for (const entry of path) if (entry.type === "context_edit") edits.set(entry["targetId"], entry)
    return path.filter(isMessageEntry).flatMap(({ id, seq }): Visible[] => {
      const edit = edits.get(id)
      return edit?.["replacement"] === null ? [] : [{ id, mark: edit?.seq ?? seq }]
    })
  }

  /** The compaction that the path rests on. */
  latestCompaction(): Entry | undefined {
    return this.path().findLast(({ type, id }) => type === "compaction" && !this.#deleted.has(id))
  }

  /** The entry that a mark belongs to: an edit's target, or the message itself. */
  told(mark: number): string {
    const entry = this.log.at(mark) as Entry
    return entry.type === "context_edit" ? entry.targetId : entry.id
  }

  /** Edits or deletes an existing entry. */
  #alter(what: "edit" | "omit" | "tombstone" | "branch" | "branchSummary", a: number, text: string): void {
    const targetId = this.#near(a)
    if (targetId === undefined) return
    const branches = a % 3 === 0
    if (what === "edit")
      this.#add({ type: "context_edit", targetId, replacement: { content: [{ type: "text", text }] } })
    else if (what === "omit") this.#add({ type: "context_edit", targetId, replacement: null })
    else if (what === "tombstone") this.#add({ type: "tombstone", targetId })
    else if (branches && what === "branch") this.#add({ type: "leaf" }, targetId)
    else if (branches) this.#add({ type: "branch_summary", fromId: this.leaf ?? "root", summary: text }, targetId)
  }

  #callTools(what: "calls" | "aborted", mark: string, a: number): void {
    // Local models reuse ids.
    this.#open = Array.from({ length: 1 + (a % 3) }, () => `call${a % 11 === 0 ? a % 3 : this.#calls++}`)
    const content = this.#open.map((id) => ({ type: "toolCall", id, name: "bash", arguments: { mark } }))
    this.#message({ role: "assistant", content, ...(what === "aborted" ? { stopReason: "aborted" } : {}) })
    if (what === "aborted") this.#open = []
  }

  /** Mostly one of the last entries on the path, otherwise any. */
  #near(n: number): string | undefined {
    if (n % 10 === 0) return this.#byId.get(`e${1 + (n % Math.max(1, this.log.end - 1))}`)?.id
    let id = this.leaf
    for (let steps = n % 6; steps > 0 && id !== null; steps--) id = this.#entry(id).parentId
    return id ?? undefined
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
    if (type === "tombstone") this.#deleted.add(payload["targetId"])
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
