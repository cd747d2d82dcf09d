import { expect, test } from "vitest"
import { changesOf } from "./changed-units.ts"
import type { Entry } from "../format/entry.ts"
import { EntryLog } from "../log/entry-log.ts"
import { buildSessionContext } from "./build.ts"
import { renderMessages } from "./render.ts"
import { measure, reportedInput, type Ruler } from "./ruler.ts"
import { selectContext, type Selection } from "./select.ts"

test("a report is the larger of the input with caches and the total without the output, in either spelling", () => {
  const reported = (usage: object, more = {}): number =>
    reportedInput({ role: "assistant", content: [], usage, ...more })
  expect(reported({ input: 1, output: 2, cacheRead: 3, cacheWrite: 4 })).toBe(8)
  expect(reported({ inputTokens: 1, outputTokens: 2, cacheRead: 3 })).toBe(4)
  expect(reported({ outputTokens: 1, totalTokens: 5 })).toBe(4)
  expect(reported({ input: 5, output: 300, cacheRead: 185_000, totalTokens: 305 })).toBe(185_005)
  expect(reported({ inputTokens: "1" })).toBe(0)
  for (const stopReason of ["error", "aborted"]) expect(reported({ input: 9 }, { stopReason })).toBe(0)
})

test("without a report a context is its estimate and what the program says that it sends beside it", () => {
  expect(rulerOf([said(), said()]).tokens).toBe(2 * ONE)
  expect(rulerOf([said(), said()], { overheadTokens: 5_000 }).tokens).toBe(5_000 + 2 * ONE)
})

test("a context is its last report and what is new: the rest of one report is overhead", () => {
  const ruler = rulerOf([said(), answered(5_100), said()], { overheadTokens: 9 })
  expect(ruler).toMatchObject({ overhead: 5_000, tokens: 5_100 + 2 * ONE })
})

test("two reports measure the messages between them, and the next messages are counted alike", () => {
  // 200 units are 600 tokens.
  const ruler = rulerOf([said(), answered(1_000), said(), answered(1_600), said()])
  expect(ruler.sizes.map(Math.round)).toEqual([300, 300, 300, 300, 300])
  expect(ruler).toMatchObject({ overhead: 700, tokens: 1_600 + 600, measured: { tokens: 600, units: 200 } })
})

test("stretches keep their own scale: what comes after English is not counted as English", () => {
  const ruler = rulerOf([answered(100), said(), answered(300), said(), answered(1_100), said()])
  expect(ruler.sizes.map(Math.round)).toEqual([100, 100, 400, 400, 250, 250])
})

test("if the messages alone are more than the report, all of them count less, and the overhead is 0", () => {
  expect(rulerOf([said(), said(), answered(100), said()])).toMatchObject({ overhead: 0, tokens: 200, k: 0.5 })
})

test("reports of nothing, of far too little, and without the cached beginning are ignored", () => {
  const talk = [said(), answered(5_100), said()]
  const { tokens } = rulerOf([...talk, said()])
  for (const input of [0, 4, 900]) expect(rulerOf([...talk, answered(input)]).tokens).toBe(tokens)
})

test("a deleted or edited message is taken off the report that has counted it", () => {
  const talk = [said(), said(), answered(5_200)]
  expect(rulerOf([...talk, tomb("e1")])).toMatchObject({ overhead: 5_000, tokens: 5_200 })
  const edit = {
    type: "context_edit",
    targetId: "e1",
    replacement: { content: [{ type: "text", text: "x".repeat(40) }] },
  }
  expect(rulerOf([...talk, edit])).toMatchObject({ overhead: 5_000, tokens: 5_000 + 10 + 2 * ONE })
  // The next report has counted the change, and is no stretch of the one before.
  expect(rulerOf([...talk, tomb("e1"), answered(4_000)])).toMatchObject({ overhead: 3_800, measured: NONE })
  // An entry of another branch.
  const aside = { ...said(), parent: "e1" }
  expect(rulerOf([said(), aside, { ...answered(500), parent: "e1" }, tomb("e2")])).toMatchObject({ overhead: 400 })
})

test("behind a compaction the stored sizes hold until the next report", () => {
  const ruler = { overhead: 5_000, measured: { tokens: 300, units: 100 }, limits: { m: { accepted: 7 } } }
  const compaction = { type: "compaction", summary: TEXT, firstKeptEntryId: "e3", tokensBefore: 1, ruler }
  const talk = [said(), answered(9_000), said(), compaction]
  expect(rulerOf(talk)).toMatchObject({
    overhead: 5_000,
    k: 3,
    limits: { m: { accepted: 7 } },
    tokens: 5_000 + 2 * 3 * ONE,
  })
  expect(rulerOf([...talk, answered(6_000)])).toMatchObject({ overhead: 5_400, tokens: 6_300 })
  const wrong = { ...compaction, ruler: { ...ruler, measured: { tokens: "300", units: 100 } } }
  expect(rulerOf([...talk.slice(0, 3), wrong])).toMatchObject({ overhead: 0, k: 1 })
})

test("the reports of the kept messages measure them, but not the context behind the compaction", () => {
  const compaction = { type: "compaction", summary: TEXT, firstKeptEntryId: "e1", tokensBefore: 1 }
  const { sizes, overhead } = rulerOf([answered(1_000), said(), answered(1_600), compaction])
  expect({ sizes, overhead }).toEqual({ sizes: [100, 300, 300, 100], overhead: 0 })
})

test("a program's own count is not scaled; overhead is added", () => {
  const count = () => 7
  expect(rulerOf([said(), answered(1_000), said(), answered(1_600), said()], { count })).toMatchObject({
    overhead: 1_600 - 3 * 7,
    tokens: 1_600 + 2 * 7,
    k: 1,
  })
  expect(rulerOf([said(), answered(3)], { count })).toMatchObject({ overhead: 0, tokens: 14 })
})

test("the current model's reports count; until there is one, those of the last model", () => {
  const by = (model: string, input: number) => ({ ...answered(input), model, provider: "p" })
  const change = { type: "model_change", provider: "p", model: "b" }
  const talk = [said(), by("a", 1_100), change, said()]
  expect(rulerOf(talk).tokens).toBe(1_300)
  expect(rulerOf([...talk, by("b", 2_300), said()]).tokens).toBe(2_500)
  // No stretch of two models.
  expect(rulerOf([...talk, by("b", 2_300), said()]).measured).toEqual(NONE)
})

test("a request that was accepted raises the limit of its model", () => {
  const ruler = rulerOf([said(), { ...answered(5_100), model: "a", provider: "p" }])
  expect([ruler.limit(1_000), ruler.limit(9_000)]).toEqual([5_100, 9_000])
})

test("a model of any name has its own limits, also behind a compaction", () => {
  for (const name of ["__proto__", "constructor", "m"]) {
    const change = { type: "model_change", provider: "p", model: name }
    const refusal = {
      type: "context_refusal",
      kind: "tokens",
      provider: "p",
      model: name,
      units: 9,
      bytes: 9,
      count: 5_000,
    }
    const answer = { ...answered(2_000), model: name, provider: "p" }
    const { limits, limit } = rulerOf([change, said(), refusal, answer])
    expect([name, limit(9_000)]).toEqual([name, 4_900])
    const stored = JSON.parse(JSON.stringify({ overhead: 0, limits }))
    const summary = { type: "compaction", summary: "", firstKeptEntryId: "e3", tokensBefore: 0, ruler: stored }
    const ruler = rulerOf([change, said(), summary, said()])
    expect([name, ruler.limit(9_000)]).toEqual([name, 4_900])
    expect(JSON.stringify(ruler.limits)).toBe(JSON.stringify(limits))
    expect(rulerOf([said()]).limit(9_000)).toBe(9_000)
    expect({}).not.toHaveProperty("accepted")
  }
})

test("each beginning of a log has the same sizes, whatever follows", () => {
  const records = [said(), answered(1_000), said(), tomb("e1"), answered(1_600), said(), answered(2_000)]
  for (let end = 1; end <= records.length; end++) {
    const log = logOf(records)
    const alone = buildSessionContext(EntryLog.of(log.slots.slice(0, end + 1)), `e${end}`, { window: 900 })
    const { tokens, fits } = buildSessionContext(log.slots.slice(0, end + 1), undefined, { window: 900 })
    expect({ tokens, fits }).toEqual({ tokens: alone.tokens, fits: alone.fits })
    expect(tokens).toBe(rulerOf(records.slice(0, end)).tokens)
  }
})

test("a stored measure of any size makes no more tokens of a unit than a provider can count", () => {
  for (const [measured, k] of [
    [{ tokens: 5, units: 1e-320 }, 6],
    [{ tokens: 1e308, units: 5 }, 6],
    [{ tokens: 5, units: 0 }, 6],
    [{ tokens: 0, units: 0 }, 1],
    [{ tokens: 10, units: 100 }, 0.1],
  ] as const) {
    const compaction = {
      type: "compaction",
      summary: TEXT,
      firstKeptEntryId: "e1",
      tokensBefore: 1,
      ruler: { measured },
    }
    const found = rulerOf([said(), compaction])
    expect([found.k, Number.isFinite(found.tokens)], JSON.stringify(measured)).toEqual([k, true])
  }
})

test("a count in a refusal that is far below the request was misread: the estimate of the request counts", () => {
  const refusal = (count: number) => ({
    type: "context_refusal",
    kind: "tokens",
    model: "",
    units: 4_000,
    bytes: 9,
    count,
  })
  expect(rulerOf([said(), refusal(1)]).limits).toMatchObject({ "": { units: 4_000 } })
  expect(rulerOf([said(), refusal(3_000)]).limits).toMatchObject({ "": { count: 3_000 } })
})

const NONE = { tokens: 0, units: 0 }
const TEXT = "x".repeat(400)
const ONE = 100

function said() {
  return { role: "user", content: [{ type: "text", text: TEXT }] }
}

function answered(input: number) {
  return { ...said(), role: "assistant", usage: { input } }
}

function tomb(targetId: string) {
  return { type: "tombstone", targetId }
}

/** Each entry's parent is the one before it, or the given one. */
function logOf(records: readonly object[]): { readonly log: EntryLog; readonly slots: (Entry | undefined)[] } {
  const entries = records.map((record, index): Entry => {
    const { parent, ...rest } = record as { readonly parent?: string; readonly type?: string }
    const payload = rest.type === undefined ? { type: "message", message: rest } : rest
    const parentId = parent ?? (index === 0 ? null : `e${index}`)
    return { ...payload, id: `e${index + 1}`, parentId, seq: index + 1, timestamp: "" } as Entry
  })
  const slots = [undefined, ...entries]
  return { log: EntryLog.of(slots), slots }
}

function rulerOf(records: readonly object[], o: Parameters<typeof measure>[3] = {}): Ruler {
  const { log } = logOf(records)
  const selection = selectContext(log, records.length) as Selection
  return measure(log, selection, { messages: renderMessages(selection.entries).messages }, { changesOf, ...o })
}
