/**
 * Random histories of one to five writers of one log, each with its own memory of it: appends that arrive late, branches, resets,
 * compactions, edits, tombstones, annotations, repeated ids, damaged lines, and lines that came from another system. After its lines the
 * tips that core finds are compared with the whole tree and with what each writer knew when it left a branch.
 */
import type { Entry } from "../src/format/entry.ts"
import { isAnnotationType } from "../src/format/entry-types.ts"
import { EntryLog, type EntrySlot } from "../src/log/entry-log.ts"
import { settlesOf, type Leaving } from "../src/log/settles.ts"
import { NO_TIPS, openTips, projectTips, TIP_LIMITS, type TipLimits, type Tips } from "../src/log/projected-tips.ts"
import { tipsOfLog } from "../src/log/tips-of-log.ts"
import type { Seq } from "../src/storage/contract.ts"
import { createDice, type Dice } from "./dice.ts"
import { ancestorsOf, trueTips, type TrueTips } from "./tips-oracle.ts"

/** The code under test. The tests replace a part of it by one that is wrong. */
export interface TipsCode {
  readonly project: typeof projectTips
  readonly whole: typeof tipsOfLog
  readonly settles: typeof settlesOf
  /** A `leaf` or `branch_summary` that is sent again behind another writer's lines. `tips`: the ids of the tips that are open then. */
  readonly sendAgain: (entry: Entry, tips: readonly string[]) => Entry
}

export const CODE: TipsCode = {
  project: projectTips,
  whole: tipsOfLog,
  settles: settlesOf,
  sendAgain: (entry) => entry,
}

/** Counts over many histories, which show that what the rules are about does occur. */
export interface TipsCounts {
  checks: number
  open: number
  notKept: number
  unknown: number
  /** With 0 open tips. */
  silent: number
}

const EVERYTHING: TipLimits = { ...TIP_LIMITS, tips: Infinity, bytes: Infinity, near: Infinity }
const STEPS = 40

/** The first difference of a history, with its log, or undefined. */
export function tipsProblem(seed: number, counts: TipsCounts, code: TipsCode = CODE): string | undefined {
  const history = new History(seed, counts, code)
  const problem = history.run()
  return problem === undefined ? undefined : `${problem}\n${history.text()}`
}

interface Writer {
  readonly name: string
  /** The lines that it knows. Its own are whole even if the stored ones are damaged. */
  memory: EntrySlot[]
  /** The information that it carries along; undefined if the tips are unknown. */
  tips: Tips | undefined
  leaf: Entry | null
  /** Not written yet. */
  pending: Entry[]
  leafAfter: Entry | null
  reported: Set<Entry>
}

interface Rules {
  readonly branches: boolean
  /** `leaf` and `branch_summary` do not say what they settle. */
  readonly older: boolean
  readonly repeats: boolean
  readonly damage: boolean
  readonly imported: boolean
}

class History {
  readonly #dice: Dice
  readonly #code: TipsCode
  readonly #counts: TipsCounts
  readonly #rules: Rules
  readonly #limits: TipLimits
  readonly #writers: readonly Writer[]
  readonly #horizon: number
  /** Line 0 is the header. */
  readonly #stored: EntrySlot[] = [undefined]
  /** The ids that an entry settles by what its writer knew, by its `made`. */
  readonly #left = new Map<unknown, readonly string[]>()
  #tips: Tips | undefined = NO_TIPS
  #made = 0

  constructor(seed: number, counts: TipsCounts, code: TipsCode) {
    const dice = createDice(seed)
    this.#dice = dice
    this.#code = code
    this.#counts = counts
    this.#rules = {
      branches: dice.chance(0.75),
      older: dice.chance(0.15),
      repeats: dice.chance(0.15),
      damage: dice.chance(0.15),
      imported: dice.chance(0.2),
    }
    const bytes = dice.chance(0.2) ? 150 : TIP_LIMITS.bytes
    this.#limits = { ...TIP_LIMITS, tips: dice.pick([3, 6, 24]), bytes, near: dice.pick([2, 8]) }
    this.#horizon = this.#rules.imported ? this.#import() : 0
    const names = ["a", "b", "c", "d", "e"].slice(0, dice.pick([1, 2, 3, 5]))
    const start = { tips: NO_TIPS, leaf: null, pending: [], leafAfter: null }
    this.#writers = names.map((name) => ({ name, ...start, memory: [], reported: new Set<Entry>() }))
    for (const writer of this.#writers) this.#open(writer)
  }

  run(): string | undefined {
    for (let step = 0; step < STEPS; step++) {
      this.#act(this.#dice.pick(this.#writers))
      // Info that is not known is made anew by the next that needs it.
      if (this.#tips === undefined && this.#dice.chance(0.2)) this.#tips = this.#wholeTips(this.#stored)
      if (!this.#dice.chance(0.15)) continue
      const problem = this.#check()
      if (problem !== undefined) return problem
    }
    for (const writer of this.#writers) this.#write(writer)
    return this.#check()
  }

  /** The log, a line for each entry. */
  text(): string {
    const lines = this.#stored.map((slot, seq) => {
      if (slot === undefined) return `${seq} -`
      const { type, id, parentId, settles, fromId } = slot
      const more = settles === undefined ? "" : ` settles ${JSON.stringify(settles)}`
      return `${seq} ${type} ${id} on ${parentId}${more}${typeof fromId === "string" ? ` from ${fromId}` : ""}`
    })
    return [`settled lines: ${this.#horizon}; limits: ${JSON.stringify(this.#limits)}`, ...lines].join("\n")
  }

  #act(writer: Writer): void {
    const dice = this.#dice
    if (writer.pending.length > 0 && dice.chance(0.4)) return this.#write(writer)
    if (dice.chance(0.06)) return this.#open(writer)
    if (dice.chance(0.1)) return this.#refresh(writer)
    if (dice.chance(0.25)) this.#annotate(writer)
    else if (this.#rules.branches && dice.chance(0.3)) this.#branch(writer)
    else for (let n = dice.pick([1, 1, 2, 3]); n > 0; n--) this.#append(writer, { type: dice.pick(CONVERSATION) })
    if (!dice.chance(0.35)) this.#write(writer)
  }

  /** A program starts: it reads the log, and reports. */
  #open(writer: Writer): void {
    writer.memory = this.#stored.slice()
    writer.pending = []
    writer.tips = this.#tips
    writer.leaf = this.#stored.findLast((slot) => slot !== undefined) ?? null
    writer.leafAfter = writer.leaf
    writer.reported = new Set()
    this.#report(writer)
  }

  /** Takes over the lines of other writers, and their leaf if they went on from this writer's. */
  #refresh(writer: Writer): void {
    const news = this.#stored.slice(writer.memory.length)
    for (const slot of news) {
      writer.tips = this.#project(writer.tips, slot, writer.memory.length)
      writer.memory.push(slot)
    }
    if (news.every((slot) => slot === undefined)) return
    const truth = trueTips(writer.memory, this.#horizon)
    const last = writer.memory.findLastIndex((slot) => slot !== undefined)
    const own = writer.leaf === null ? null : (truth.anchors[writer.memory.lastIndexOf(writer.leaf)] ?? null)
    const goesOn = own === null || ancestorsOf(truth, [last]).has(own)
    if (goesOn && writer.pending.every(({ type }) => isAnnotationType(type))) {
      writer.leaf = writer.memory[last] as Entry
      if (writer.pending.length === 0) writer.leafAfter = writer.leaf
    }
    this.#report(writer)
  }

  /** What the session tells its caller: the open tips besides the one that its leaf is on. */
  #report(writer: Writer): void {
    const at = trueTips(writer.memory, this.#horizon).anchors[lastOf(writer.memory, writer.leaf)] ?? null
    const tips = writer.tips ?? this.#code.whole(EntryLog.of(writer.memory), this.#horizon, this.#limits)
    for (const { seq } of openTips(tips, at).tips) writer.reported.add(writer.memory[seq] as Entry)
  }

  #append(writer: Writer, payload: { readonly type: string; readonly parentId?: string | null }): Entry {
    const { pending } = writer
    const seq = writer.memory.length + pending.length
    const { leafAfter } = writer
    const parentId = leafAfter?.id ?? null
    const made = ++this.#made
    const entry = { ...payload, id: this.#newId(writer), seq, timestamp: "", made }
    const whole = ("parentId" in payload ? entry : { ...entry, parentId }) as Entry
    pending.push(whole)
    writer.leafAfter = whole
    return whole
  }

  /** An annotation follows the log's last entry, and moves the leaf only if that was the last. */
  #annotate(writer: Writer): void {
    const lines = [...writer.memory, ...writer.pending]
    const last = lines.findLast((slot) => slot !== undefined)
    const { leafAfter } = writer
    this.#append(writer, { type: this.#dice.pick(ANNOTATIONS), parentId: last?.id ?? null })
    if (last !== leafAfter) writer.leafAfter = leafAfter
  }

  #branch(writer: Writer): void {
    const dice = this.#dice
    const lines = [...writer.memory, ...writer.pending]
    const truth = trueTips(lines, this.#horizon)
    const entries = lines.filter((slot) => slot !== undefined)
    if (entries.length === 0) return
    const settlesOnly = !this.#rules.older && dice.chance(0.1)
    const tips = truth.tips.map((seq) => lines[seq] as Entry)
    const named = dice.chance(0.1) || settlesOnly ? tips.filter(() => dice.chance(0.5)).map(({ id }) => id) : []
    const chosen = dice.chance(0.1) ? null : dice.pick(dice.chance(0.5) && tips.length > 0 ? tips : entries)
    const target = settlesOnly ? writer.leafAfter : chosen
    // A reference means the last entry with that id.
    const targetSeq = target === null ? -1 : lines.findLastIndex((slot) => slot?.id === target.id)
    const leafSeq = lastOf(lines, writer.leafAfter)
    const leaving = {
      leaf: leafSeq < 0 ? null : leafSeq,
      target: targetSeq < 0 ? null : targetSeq,
      reported: [...writer.reported],
      named,
    }
    const carried = this.#carried(writer)
    const settles = settlesOnly ? named : this.#settles(lines, carried, leaving)
    const type = dice.chance(0.4) && !settlesOnly ? "branch_summary" : "leaf"
    const fromId = type === "leaf" ? {} : { fromId: writer.leafAfter?.id ?? "root" }
    const entry = this.#append(writer, {
      type,
      ...fromId,
      ...(this.#rules.older ? {} : { settles }),
      parentId: target === null ? null : target.id,
    })
    this.#left.set(entry["made"], settlesOnly ? named : knowinglyLeft(lines, truth, leaving, carried))
  }

  /** The writer's information, its pending entries included. */
  #carried({ tips, pending, memory }: Writer): Tips | undefined {
    const project = (before: Tips | undefined, entry: Entry, index: number): Tips | undefined =>
      this.#project(before, entry, memory.length + index)
    return pending.reduce(project, tips)
  }

  #settles(lines: readonly EntrySlot[], tips: Tips | undefined, leaving: Leaving): readonly string[] {
    // Everything after an entry is held.
    const from = this.#dice.below(Math.min(leaving.leaf ?? Infinity, leaving.target ?? Infinity, lines.length) + 1)
    const truth = trueTips(lines, this.#horizon)
    const anchors = [leaving.leaf, leaving.target].map((seq) => (seq === null ? Infinity : (truth.anchors[seq] ?? 0)))
    const isWhole = this.#dice.chance(0.5) || this.#rules.damage || this.#rules.repeats
    const heldFrom = isWhole ? 0 : Math.min(from, ...anchors)
    return this.#code.settles(EntryLog.of(lines.slice(heldFrom), heldFrom), tips, leaving)
  }

  /** The pending entries reach the log, behind what others wrote meanwhile. */
  #write(writer: Writer): void {
    const dice = this.#dice
    if (writer.pending.length === 0) return
    if (this.#stored.length > writer.memory.length) {
      const wasAt = writer.memory.length
      this.#refresh(writer)
      writer.pending = this.#sentAgain(writer, wasAt)
    }
    for (const entry of writer.pending) {
      const seq = this.#stored.length
      const line = { ...entry, seq } as Entry
      const stored = this.#rules.damage && dice.chance(0.08) ? undefined : line
      this.#stored.push(stored)
      writer.memory.push(line)
      writer.tips = this.#project(writer.tips, line, seq)
      if (writer.leafAfter === entry) writer.leafAfter = line
      // As it is stored: text.
      this.#tips = this.#project(this.#tips && (JSON.parse(JSON.stringify(this.#tips)) as Tips), stored, seq)
      // Its information is written with its lines; other programs read that one.
      if (writer.tips !== undefined && !this.#rules.damage && dice.chance(0.3)) this.#tips = writer.tips
    }
    writer.pending = []
    writer.leaf = writer.leafAfter
    this.#report(writer)
  }

  #sentAgain(writer: Writer, wasAt: number): Entry[] {
    let last = writer.memory.findLast((slot) => slot !== undefined)?.id ?? null
    let first = true
    const truth = trueTips(writer.memory, this.#horizon)
    const tips = truth.open.map((seq) => (writer.memory[seq] as Entry).id)
    return writer.pending.map((entry) => {
      let moved = entry
      if (entry.type === "leaf" || entry.type === "branch_summary") moved = this.#code.sendAgain(entry, tips)
      // Annotations in front go to the end of the log; the conversation stays on its branch.
      if (first && isAnnotationType(entry.type) && wasAt < writer.memory.length) {
        moved = { ...entry, parentId: last }
        last = entry.id
      } else first = false
      if (writer.leafAfter === entry) writer.leafAfter = moved
      return moved
    })
  }

  /** Lines of another system: a tree whose branches leave no entry. */
  #import(): number {
    const dice = this.#dice
    const lines = dice.below(15)
    for (let seq = 1; seq <= lines; seq++) {
      const parent = dice.chance(0.6) ? this.#stored.at(-1) : dice.pick(this.#stored)
      const type = dice.chance(0.7) ? "message" : dice.pick([...CONVERSATION, ...ANNOTATIONS])
      const entry = { type, id: `i${seq}`, parentId: parent?.id ?? null, seq, timestamp: "" } as Entry
      this.#stored.push(entry)
    }
    const horizon = dice.chance(0.8) ? lines + 1 : dice.below(lines + 6)
    for (let seq = 1; seq <= lines; seq++) {
      this.#tips = this.#code.project(this.#tips, this.#stored[seq], seq, horizon, this.#limits)
    }
    // An import projects the whole log, whose ids it knows.
    if (this.#tips === undefined) this.#tips = this.#code.whole(EntryLog.of(this.#stored), horizon, this.#limits)
    return horizon
  }

  #project(tips: Tips | undefined, slot: EntrySlot, seq: Seq): Tips | undefined {
    return this.#code.project(tips, slot, seq, this.#horizon, this.#limits)
  }

  #wholeTips(slots: readonly EntrySlot[]): Tips | undefined {
    return this.#code.whole(EntryLog.of(slots), this.#horizon, this.#limits)
  }

  #newId(writer: Writer): string {
    const other = this.#dice.pick(this.#stored)
    const repeat = this.#rules.repeats && this.#dice.chance(0.1) && other !== undefined
    return repeat ? other.id : `${writer.name}${this.#made}`
  }

  // ---- checks --------------------------------------------------------------------------------------------------------------------

  #check(): string | undefined {
    const stored = this.#stored
    const truth = trueTips(stored, this.#horizon)
    const log = EntryLog.of(stored)
    const whole = this.#code.whole(log, this.#horizon, EVERYTHING)
    this.#counts.checks++
    this.#counts.open += truth.open.length
    if (truth.open.length === 0) this.#counts.silent++
    return (
      differs("the whole log", seqsOf(whole), truth.open) ??
      this.#checkCurrent("the whole log", whole, truth) ??
      this.#checkKept(truth) ??
      this.#checkHeld(truth) ??
      this.#checkKnowledge(truth) ??
      this.#checkCoverage(truth, whole)
    )
  }

  /** The projection, which has limits. */
  #checkKept(truth: TrueTips): string | undefined {
    const tips = this.#tips
    if (tips === undefined) {
      this.#counts.unknown++
      return undefined
    }
    const named = seqsOf(tips)
    const more = tips.more ?? 0
    this.#counts.notKept += more
    const missing = truth.open.length - named.length
    if (missing > more)
      return `the projection names ${named.length} and counts ${more} more; there are ${truth.open.length}`
    // Any of them may be the ones that are not kept.
    const expected = more === 0 ? truth.open : truth.open.filter((seq) => named.includes(seq))
    if (tips.tips.length > this.#limits.tips) return `the projection keeps ${tips.tips.length} tips`
    const problem = differs("the projection", named, expected)
    // A tip that is not kept may become the current one again.
    return (
      problem ?? (more > 0 && tips.current === null ? undefined : this.#checkCurrent("the projection", tips, truth))
    )
  }

  #checkCurrent(what: string, tips: Tips, { current, settled, tips: all }: TrueTips): string | undefined {
    const expected = current !== null && all.includes(current) && !settled.has(current) ? current : null
    return tips.current === expected ? undefined : `${what} has the current tip ${tips.current}, not ${expected}`
  }

  /** The end of the log that is in memory after opening. */
  #checkHeld(truth: TrueTips): string | undefined {
    if (this.#rules.damage) return undefined
    const from = this.#dice.below(this.#stored.length)
    const held = EntryLog.of(this.#stored.slice(from), from)
    const tips = this.#code.whole(held, this.#horizon, EVERYTHING)
    const expected = truth.open.filter((seq) => seq >= from)
    return differs(`the log from ${from} on`, seqsOf(tips), expected)
  }

  /** Tips are settled by what their writers knew, and by nothing else. */
  #checkKnowledge(truth: TrueTips): string | undefined {
    const { older, damage, imported, repeats } = this.#rules
    // A damaged line may be one that settled a tip, and a reader of older lines guesses who left what.
    if (damage || (older && (imported || repeats || this.#writers.length > 1))) return undefined
    const left = (seq: Seq): readonly string[] | undefined => this.#left.get(this.#stored[seq]?.["made"])
    return differs("what the writers knew", trueTips(this.#stored, this.#horizon, left).open, truth.open)
  }

  /** Without branches each message is on the current path, or on that of an open tip. */
  #checkCoverage(truth: TrueTips, whole: Tips): string | undefined {
    const { branches, damage, repeats, imported } = this.#rules
    if (branches || damage || repeats) return undefined
    const current = this.#stored.findLastIndex((slot) => slot !== undefined)
    const on = ancestorsOf(truth, [current < 0 ? null : current, ...seqsOf(whole)])
    const hidden = this.#stored.findIndex(
      (slot, seq) => seq >= this.#horizon && slot?.type === "message" && !on.has(seq),
    )
    if (hidden >= 0) return `message ${hidden} is on no path`
    const alone = this.#writers.length === 1 && truth.open.length > 0 && !imported
    return alone ? "one writer without branches has an open tip" : undefined
  }
}

/** The ids of the tips that a writer leaves, as its caller sees it. `lines`: the writer's memory. */
function knowinglyLeft(
  lines: readonly EntrySlot[],
  truth: TrueTips,
  leaving: Leaving,
  carried: Tips | undefined,
): readonly string[] {
  const tipOf = (seq: Seq | null): Entry | undefined => {
    const anchor = seq === null ? null : (truth.anchors[seq] as Seq | null)
    return anchor !== null && truth.tips.includes(anchor) ? lines[anchor] : undefined
  }
  const own = tipOf(leaving.leaf)
  const target = tipOf(leaving.target)
  const isLast = own !== undefined && lines.findLast((slot) => slot?.id === own.id) === own
  // Settling a tip again changes nothing, unless its id is repeated later.
  const isSettled = (seq: Seq): boolean => carried !== undefined && carried.more === undefined && truth.settled.has(seq)
  const reported = [...leaving.reported].filter(({ seq }) => truth.tips.includes(seq) && !isSettled(seq))
  const left = [
    ...(isLast ? [own.id] : []),
    ...(target === undefined ? [] : reported.map(({ id }) => id)),
    ...leaving.named,
  ]
  return left.filter((id) => id !== target?.id)
}

function seqsOf(tips: Tips): Seq[] {
  return openTips(tips)
    .tips.map(({ seq }) => seq)
    .reverse()
}

function lastOf(lines: readonly EntrySlot[], entry: Entry | null): Seq {
  return entry === null ? -1 : lines.lastIndexOf(entry)
}

function differs(what: string, found: readonly Seq[], expected: readonly Seq[]): string | undefined {
  const missed = expected.filter((seq) => !found.includes(seq))
  const wrong = found.filter((seq) => !expected.includes(seq))
  if (missed.length === 0 && wrong.length === 0) return undefined
  return `${what}: missed [${missed.join()}], false [${wrong.join()}]`
}

const CONVERSATION: readonly string[] = [
  "message message message message custom_message later_type a:b:c",
  "compaction model_change context_edit reset_boundary mode_change acme:turn",
].flatMap((types) => types.split(" "))

/** Types of annotations. */
const ANNOTATIONS: readonly string[] = [
  "label",
  "title_change",
  "metadata",
  "usage",
  "tombstone",
  "file_snapshot",
  "custom",
  "acme:note",
]
