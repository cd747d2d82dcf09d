/** Writes a log step by step, with valid and invalid steps. */
import type { Entry } from "../src/format/entry.ts"
import type { EntrySlot } from "../src/log/entry-log.ts"
import type { Step } from "./logs.ts"
import { expectContext, type Expected, pathOf } from "./replay.ts"

type Fields = Record<string, unknown>

const PROVIDERS = ["anthropic", "openai"]
const ROLES = ["default", "smol", "__proto__", "constructor"]
/** Few, so that they are reused, as with local models. */
const CALL_IDS = ["call_1", "call_2", "call_3"]

export class LogWriter {
  readonly #header: Fields
  readonly #slots: EntrySlot[] = [undefined]
  #leaf: string | null = null
  #open: string[] = []

  constructor(header: Fields) {
    this.#header = header
  }

  lines(): string[] {
    return [this.#header, ...this.#slots.slice(1)].map((record) => JSON.stringify(record))
  }

  take([kind, a, b, c]: Step): void {
    switch (kind) {
      case "user":
        return this.#message({ role: a % 9 === 0 ? "system" : "user", content: textOf(`say ${a}`, b) })
      case "assistant":
        return this.#assistant(a, b, c)
      case "results":
        return this.#results(a, b)
      case "strayResult":
        return this.#result(pick(CALL_IDS, a), b)
      case "customMessage":
        return this.#add({
          type: "custom_message",
          customType: "note",
          content: textOf("noted", a),
          display: b % 2 === 0,
        })
      case "customRole":
        return this.#message(customRole(a, b))
      case "state":
        return this.#add(stateChange(a, b, c))
      case "side":
        return this.#add(this.#side(a, b))
      case "unknown":
        return this.#add({
          type: pick(["session_init", "x_future", "usage"], a),
          systemPrompt: "",
          tools: [],
          usage: {},
        })
      case "leaf":
        return this.#addAt(a % 8 === 0 ? null : this.#recent(b), { type: "leaf", ...this.#seqHint(c) })
      case "branchSummary":
        return this.#branchSummary(a, b, c)
      case "jump":
        this.#leaf = a % 8 === 0 ? null : this.#recent(b)
        return
      case "reset":
        return this.#reset(b)
      case "edit":
        return this.#add({ type: "context_edit", targetId: this.#recent(a), replacement: replacement(b) })
      case "tombstone":
        return this.#add({ type: "tombstone", targetId: c % 3 === 0 ? this.#important(a) : this.#recent(a) })
      case "compaction":
        return this.#compaction(a, b)
      case "foreignCompaction":
        return this.#foreignCompaction(a, b, c)
    }
  }

  #add(payload: Fields): void {
    this.#addAt(this.#leaf, payload)
  }

  #addAt(parentId: string | null, { type, ...payload }: Fields): void {
    const seq = this.#slots.length
    const id = `e${seq}`
    const timestamp = new Date(Date.UTC(2026, 0, 31, 9, 30, seq)).toISOString()
    this.#slots.push({ type, id, parentId, seq, timestamp, ...payload } as unknown as Entry)
    this.#leaf = id
  }

  #message(message: Fields): void {
    this.#add({ type: "message", message })
  }

  #assistant(a: number, b: number, c: number): void {
    const said = c % 3 === 0 ? [] : textOf(`answer ${a}`, 1)
    const calls = Array.from({ length: b % 4 }, (_, index) => ({
      type: "toolCall",
      id: pick(CALL_IDS, a + index),
      name: "bash",
      arguments: { command: `echo ${index}` },
    }))
    this.#open = calls.map(({ id }) => id)
    const model = a % 2 === 0 ? { provider: pick(PROVIDERS, b), model: `m${c % 3}` } : {}
    this.#message({ role: "assistant", content: [...said, ...calls], ...model })
  }

  #results(a: number, b: number): void {
    const order = b % 3 === 0 ? this.#open.toReversed() : this.#open
    const some = a % 4 === 0 ? order.slice(0, 1) : order
    for (const id of some) this.#result(id, a)
    this.#open = this.#open.filter((id) => !some.includes(id))
  }

  #result(toolCallId: string, a: number): void {
    this.#message({
      role: "toolResult",
      toolCallId,
      toolName: "bash",
      isError: a % 5 === 0,
      content: textOf("done", a),
    })
  }

  #side(a: number, b: number): Fields {
    const targetId = this.#recent(b)
    const all: Fields[] = [
      { type: "label", targetId, label: `label ${a}` },
      { type: "label", targetId },
      { type: "title_change", title: a % 4 === 0 ? null : `title ${a}`, source: b % 2 === 0 ? "user" : "auto" },
      { type: "metadata", key: "k", value: b },
      { type: "custom", customType: "x" },
    ]
    return pick(all, a)
  }

  #branchSummary(a: number, b: number, c: number): void {
    const summary = a % 4 === 0 ? "" : `summary ${a}`
    this.#addAt(b % 8 === 0 ? null : this.#recent(c), { type: "branch_summary", fromId: this.#leaf ?? "root", summary })
  }

  #compaction(a: number, b: number): void {
    const { selected, state } = this.#now()
    const kept = selected.filter((seq) => this.#slots[seq]?.type !== "compaction")
    const firstKept = b % 4 === 0 ? undefined : kept[a % Math.max(1, kept.length)]
    this.#addCompaction(firstKept === undefined ? undefined : idAt(this.#slots, firstKept), { state, hint: firstKept })
  }

  #foreignCompaction(a: number, b: number, c: number): void {
    const firstKept = pick([this.#any(c), this.#recent(c), undefined, "nowhere"], a)
    const hints = [undefined, c % this.#slots.length, 0, -1, 1e9, "3"]
    const summary = a % 7 === 0 ? { summary: 5 } : {}
    this.#addCompaction(firstKept, { state: this.#anyState(b), hint: pick(hints, b + c), ...summary })
  }

  #reset(b: number): void {
    const state = this.#anyState(b)
    this.#add({ type: "reset_boundary", ...(state === undefined ? {} : { state }) })
  }

  /** The state of the path, another one, an invalid one, or no state. */
  #anyState(b: number): unknown {
    const { state } = this.#now()
    return pick([undefined, state, 5, { ...state, mode: 7 }, { ...state, thinkingLevel: "stored", messages: ["x"] }], b)
  }

  #addCompaction(firstKept: string | undefined, o: { state: unknown; hint: unknown; summary?: unknown }): void {
    this.#add({
      type: "compaction",
      summary: o.summary ?? `so far ${this.#slots.length}`,
      firstKeptEntryId: firstKept ?? `e${this.#slots.length}`,
      ...(o.hint === undefined ? {} : { firstKeptSeq: o.hint }),
      tokensBefore: 100,
      readFiles: [],
      modifiedFiles: [],
      ...(o.state === undefined ? {} : { state: o.state }),
    })
  }

  #now(): Expected {
    return expectContext(this.#slots, this.#leaf === null ? null : seqOf(this.#slots, this.#leaf), this.#header)
  }

  #seqHint(c: number): Fields {
    return c % 3 === 0 ? { targetSeq: c % this.#slots.length } : {}
  }

  /** The id of any entry, or an unknown id if there are no entries. */
  #any(n: number): string {
    return this.#slots.length === 1 ? "none" : `e${1 + (n % (this.#slots.length - 1))}`
  }

  /** The same, mostly of an entry near the end of the path. */
  #recent(n: number): string {
    const path = this.#leaf === null ? [] : pathOf(this.#slots, seqOf(this.#slots, this.#leaf))
    const near = path.slice(-8)
    return n % 4 === 0 || near.length === 0 ? this.#any(n) : idAt(this.#slots, pick(near, n))
  }

  /** A compaction or its first kept entry, an edit, a boundary: entries whose deletion has the most effect. */
  #important(n: number): string {
    const found = this.#slots.flatMap((entry) => {
      if (entry === undefined) return []
      if (entry.type === "compaction") return [entry.id, entry.firstKeptEntryId]
      return entry.type === "context_edit" || entry.type === "reset_boundary" ? [entry.id] : []
    })
    return found.length === 0 ? this.#any(n) : pick(found, n)
  }
}

function textOf(text: string, n: number): Fields[] {
  return n % 13 === 0 ? [] : [{ type: "text", text }]
}

function customRole(a: number, b: number): Fields {
  const excluded = b % 4 === 0 ? { excludeFromContext: true } : {}
  const all: Fields[] = [
    { role: "bashExecution", command: "ls", output: b % 3 === 0 ? "" : "a\nb", exitCode: b % 2, ...excluded },
    { role: "pythonExecution", code: "1 + 1", output: "2", cancelled: b % 2 === 0, ...excluded },
    { role: "notice", content: textOf("read this", b) },
    { role: "bare" },
    { role: "branchSummary", summary: "a message of another program" },
    { role: "compactionSummary", content: textOf("a message of another program", b) },
  ]
  return pick(all, a)
}

function stateChange(a: number, b: number, c: number): Fields {
  const all: Fields[] = [
    { type: "model_change", provider: pick(PROVIDERS, b), model: `m${c % 3}`, role: pick(ROLES, c) },
    { type: "model_change", provider: pick(PROVIDERS, b), model: `m${c % 3}` },
    { type: "thinking_level_change", thinkingLevel: pick(["low", "high", "off"], b) },
    { type: "mode_change", mode: pick(["plan", "none"], b), ...(c % 2 === 0 ? { data: { step: c } } : {}) },
    { type: "ttsr_injection", injectedRules: [pick(["r1", "r2", "r3"], b), pick(["r1", "r4"], c)] },
  ]
  return pick(all, a)
}

function replacement(b: number): unknown {
  return pick([null, { content: textOf(`edited ${b}`, 1) }, { content: [] }, { content: "bare" }, 5, undefined], b)
}

function pick<T>(all: readonly T[], n: number): T {
  return all[n % all.length] as T
}

function idAt(slots: readonly EntrySlot[], seq: number): string {
  return (slots[seq] as Entry).id
}

function seqOf(slots: readonly EntrySlot[], id: string): number {
  return slots.findLastIndex((slot) => slot?.id === id)
}
