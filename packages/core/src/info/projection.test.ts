import * as fc from "fast-check"
import { expect, test } from "vitest"
import { expectInfo } from "../../test/expect-info.ts"
import { infoLog } from "../../test/info-logs.ts"
import { anyLog, HEADER, headerOf, slotsOf } from "../../test/logs.ts"
import { holds } from "../../test/property.ts"
import type { Entry } from "../format/entry.ts"
import { EntryLog, type EntrySlot } from "../log/entry-log.ts"
import { NO_TIPS, openTips } from "../log/projected-tips.ts"
import { settledLines } from "../log/tips.ts"
import { tipsOfLog } from "../log/tips-of-log.ts"
import type { HeadInfo } from "../storage/contract.ts"
import { encodeProjection, parseProjection } from "./projection-text.ts"
import {
  type InfoProjection,
  projectEntry,
  projectFurther,
  ownCopy,
  projectInPlace,
  projectWhole,
  type SessionInfo,
  startProjection,
  toSessionInfo,
} from "./projection.ts"

const NOW = Date.UTC(2026, 5, 1)
const head: HeadInfo = { next: 2, log: "l", bytes: 10, updatedAt: NOW }

test("the projection of a whole log agrees with its entries", () => {
  holds(
    fc.property(fc.oneof(infoLog, anyLog), (lines) => {
      const slots = slotsOf(lines)
      const projection = projectAll(headerOf(lines), slots)
      expect(projection.stale).toBeUndefined()
      expect(shown(projection)).toEqual(expectInfo(slots, headerOf(lines), NOW))
    }),
    150,
  )
})

test("a stored projection that is continued equals the projection of the whole log, or is stale", () => {
  holds(
    fc.property(fc.oneof(infoLog, anyLog), (lines) => {
      const slots = slotsOf(lines)
      let projection = startProjection(headerOf(lines), "l")
      for (const [index, slot] of slots.slice(1).entries())
        projection = parseProjection(encodeProjection(projectEntry(projection, slot, index + 1))) as InfoProjection
      const expected = expectInfo(slots, headerOf(lines), NOW)
      expect(certain(projection, shown(projection))).toEqual(certain(projection, expected))
    }),
    150,
  )
})

test("a stored projection that is continued by many lines at once is right, or is stale", () => {
  holds(
    fc.property(fc.oneof(infoLog, anyLog), fc.nat({ max: 99 }), (lines, percent) => {
      const slots = slotsOf(lines)
      const header = headerOf(lines)
      const cut = Math.ceil((slots.length * percent) / 100)
      const start = projectAll(header, slots.slice(0, Math.max(1, cut)))
      const held = { header, log: EntryLog.of(slots.slice(cut), cut) }
      const projection = projectFurther(parseProjection(encodeProjection(start)) as InfoProjection, held)
      const expected = expectInfo(slots, header, NOW)
      expect(certain(projection, shown(projection))).toEqual(certain(projection, expected))
    }),
    150,
  )
})

test("a projection that is continued in place equals one that is copied for each line, and keeps the copies that were taken", () => {
  holds(
    fc.property(fc.oneof(infoLog, anyLog), (lines) => {
      const slots = slotsOf(lines)
      let copied = startProjection(headerOf(lines), "l")
      const inPlace = ownCopy(copied)
      for (const [index, slot] of slots.slice(1).entries()) {
        const before = ownCopy(inPlace)
        projectInPlace(inPlace, slot, index + 1)
        expect(before).toEqual(copied)
        copied = projectEntry(copied, slot, index + 1)
        expect(inPlace).toEqual(copied)
      }
    }),
    80,
  )
})

test("the tips of a stored projection that is continued are those of the whole log, or are not known", () => {
  const known = { yes: 0, no: 0 }
  holds(
    fc.property(infoLog, fc.nat({ max: 20 }), (lines, settled) => {
      const slots = slotsOf(lines)
      const header = { ...headerOf(lines), origin: { settled } }
      let projection = startProjection(header, "l")
      for (const [index, slot] of slots.slice(1).entries())
        projection = parseProjection(encodeProjection(projectEntry(projection, slot, index + 1))) as InfoProjection
      const whole = projectAll(header, slots)
      expect(whole.tips).toEqual(projection.tips)
      known[projection.tips === undefined ? "no" : "yes"]++
      if (projection.tips === undefined) return
      expect(openTips(projection.tips)).toEqual(openTips(tipsOfLog(EntryLog.of(slots), settledLines(header))))
    }),
    150,
  )
  expect(known.yes).toBeGreaterThan(known.no)
})

test("a line that is not an entry keeps the tips and counts for the end of the lines that came from another system", () => {
  const header = { ...HEADER, origin: { format: "pi", version: 3, lines: 4 } }
  const message = (id: string, parentId: string | null): Entry => ({ ...user(id, id), parentId })
  let projection = projectAll(header, [undefined, message("a", null), message("b", null)])
  expect(projection).toMatchObject({ settled: 4, tips: { tips: [{ id: "a" }, { id: "b" }] } })
  projection = projectEntry(projection, undefined, 3)
  expect(projection.tips).toMatchObject({ tips: [{ id: "b" }], current: 2, doubt: 104 })
  expect(projection).not.toHaveProperty("settled")
})

test("tips that are not known stay unknown, and everything else is projected", () => {
  const { tips: _, ...older } = startProjection({}, "l")
  const projection = projectEntry(projectEntry(older, user("a", "1"), 1), undefined, 2)
  expect(projection).not.toHaveProperty("tips")
  expect(projection).toMatchObject({ messageCount: 1, to: { seq: 2, id: "" } })
  expect(startProjection({}, "l").tips).toEqual(NO_TIPS)
})

test("information has a valid time, whatever time a damaged head has", () => {
  for (const updatedAt of [1e300, 2 ** 53 - 1, -1e300, Number.NaN, Number.POSITIVE_INFINITY]) {
    const { updatedAt: time } = toSessionInfo("s", startProjection({}, "l"), { ...head, updatedAt })
    expect(Number.isNaN(Date.parse(time))).toBe(false)
  }
})

test("the deletion of a prompt that is not the first one changes nothing", () => {
  const projection = projected([user("a", "1"), user("b", "2"), gone("2"), user("c", "3")])
  expect(projection.stale).toBeUndefined()
  expect(toSessionInfo("s", projection, head).firstPrompt).toBe("a")
})

test("if the first prompt is deleted or edited, the projection is stale and has no text of it; the whole log shows which one takes over", () => {
  const edit = entry("context_edit", { targetId: "1", replacement: { content: "better" } })
  for (const [change, shows] of [
    [gone("1"), "b"],
    [edit, "better"],
  ] as const) {
    const entries = [user("secret", "1"), user("b", "2"), change]
    const projection = projected(entries)
    expect(projection.stale).toBe(true)
    expect(encodeProjection(projection)).not.toContain("secret")
    expect(promptOf(entries)).toBe(shows)
  }
  expect(promptOf([user("a", "1"), gone("1")])).toBeUndefined()
})

test("the log is asked for the first prompt after an edit that may bring back the text of an earlier one, and after no other", () => {
  const edit = (targetId: string, replacement: unknown) => entry("context_edit", { targetId, replacement })
  const hidden = placed([user("a", "1"), user("b", "2"), edit("1", null), user("c", "3")])
  const projection = projectAll(HEADER, [undefined, ...hidden])
  expect(projection).toMatchObject({ firstPrompt: { text: "b" } })
  const isStale = (start: InfoProjection, change: Entry): boolean =>
    projectEntry(start, { ...change, parentId: start.leaf }, start.to.seq + 1).stale === true
  expect(isStale(projection, edit("1", { content: "back" }))).toBe(true)
  expect(isStale(projection, gone("3"))).toBe(false)
  expect(isStale(projectAll(HEADER, [undefined, ...hidden.slice(0, 2)]), edit("2", null))).toBe(false)
})

test("an edit replaces the first prompt, one without text removes it, and a later one restores it", () => {
  const said = [user("secret", "1"), user("next", "2")]
  const edit = (replacement: unknown) => entry("context_edit", { targetId: "1", replacement })
  expect(promptOf([...said, edit({ content: "better" })])).toBe("better")
  expect(promptOf([...said, edit({ content: [] })])).toBe("next")
  expect(promptOf([...said, edit(null)])).toBe("next")
  expect(promptOf([...said, edit(null), edit({ content: "back" })])).toBe("back")
  expect(promptOf([...said, edit(null), gone("1"), edit({ content: "never" })])).toBe("next")
})

test("a tombstone or an edit with its target's id means the entry before it", () => {
  const edit = { ...entry("context_edit", { targetId: "1", replacement: null }), id: "1" }
  expect(promptOf([user("a", "1"), edit, user("b", "2")])).toBe("b")
  expect(promptOf([user("a", "1"), { ...gone("1"), id: "1" }, user("b", "2")])).toBe("b")
  const after = entry("context_edit", { targetId: "1", replacement: { content: "c" } })
  expect(promptOf([user("a", "1"), { ...entry("custom", {}), id: "1" }, after])).toBe("a")
})

test("the first prompt has at most 200 UTF-16 units, does not split a surrogate pair, and starts at the first text that is not blank", () => {
  expect(promptOf([user("x".repeat(500), "1")])).toHaveLength(200)
  expect(promptOf([user(`${"x".repeat(199)}😀`, "1")])).toBe("x".repeat(199))
  expect(promptOf([user(`${"x".repeat(198)}😀 more`, "1")])).toBe(`${"x".repeat(198)}😀`)
  expect(promptOf([user(`${" ".repeat(5_000)}late`, "1")])).toBe("late")
  const blocks = [
    { type: "image", data: "AAAA", mimeType: "image/png" },
    { type: "text", text: " \n" },
    { type: "text", text: "said" },
  ]
  expect(promptOf([entry("message", { message: { role: "user", content: blocks } })])).toBe("said")
})

test("messages that the program made are not prompts", () => {
  const made = { role: "user", content: [{ type: "text", text: "made" }] }
  const entries = [
    { ...made, synthetic: true },
    { ...made, summary: true },
  ].map((message) => entry("message", { message }))
  expect(promptOf([...entries, user("said", "9")])).toBe("said")
})

test("a user's title wins over an automatic one in any order, and both win over the header's", () => {
  const auto = entry("title_change", { title: "auto", source: "auto" })
  const own = entry("title_change", { title: "mine", source: "user" })
  expect(titleOf([])).toEqual(["from the header", undefined])
  expect(titleOf([auto])).toEqual(["auto", "auto"])
  expect(titleOf([auto, own])).toEqual(["mine", "user"])
  expect(titleOf([own, auto])).toEqual(["mine", "user"])
})

test("null clears the title: from the user every title, from the program only its own; a later title applies again", () => {
  const change = (title: string | null, source: "user" | "auto") => entry("title_change", { title, source })
  expect(titleOf([change("mine", "user"), change("auto", "auto"), change(null, "user")])).toEqual([
    undefined,
    undefined,
  ])
  expect(titleOf([change(null, "user"), change("auto", "auto")])).toEqual(["auto", "auto"])
  expect(titleOf([change("auto", "auto"), change(null, "auto")])).toEqual(["from the header", undefined])
  expect(titleOf([change("mine", "user"), change(null, "auto")])).toEqual(["mine", "user"])
})

test("messages of every branch count, and a tombstone removes none", () => {
  const projection = projected([user("a", "1"), user("b", "2"), { ...user("c", "3"), parentId: "1" }, gone("2")])
  expect(projection.messageCount).toBe(3)
})

test("lastMessageAt is the newest message's time, never later than updatedAt, and no other entry changes it", () => {
  const at = (timestamp: string, one: Entry) => ({ ...one, timestamp })
  const projection = projected([
    at("2026-03-01T00:00:00+02:00", user("a", "1")),
    at("2026-02-01T00:00:00.000Z", user("b", "2")),
    at("2026-04-01T00:00:00.000Z", entry("metadata", { key: "k", value: 1 })),
  ])
  expect(toSessionInfo("s", projection, head).lastMessageAt).toBe("2026-02-28T22:00:00.000Z")
  const ahead = projected([at("2099-01-01T00:00:00.000Z", user("a", "1"))])
  expect(toSessionInfo("s", ahead, head)).toMatchObject({
    lastMessageAt: new Date(NOW).toISOString(),
    updatedAt: new Date(NOW).toISOString(),
  })
  expect(toSessionInfo("s", projected([]), head).lastMessageAt).toBe("2026-01-31T09:30:00.000Z")
})

test("times have one form whatever the header's form, so that they sort", () => {
  const createdAt = (timestamp: unknown) => startProjection({ timestamp }, "l").createdAt
  expect(createdAt("2026-01-31T11:30:00+02:00")).toBe("2026-01-31T09:30:00.000Z")
  expect(createdAt("yesterday")).toBe("1970-01-01T00:00:00.000Z")
  expect(createdAt(7)).toBe("1970-01-01T00:00:00.000Z")
})

test("usage is the sum over assistant messages and usage entries of every branch; invalid numbers count as nothing", () => {
  const call = (usage: unknown, id: string, parentId: string | null = null) => ({
    ...entry("message", { message: { role: "assistant", content: [], usage } }),
    id,
    parentId,
  })
  const projection = projected([
    call({ input: 10, output: 5, cost: { total: 0.5 } }, "1"),
    call({ input: 1, output: 1, cacheRead: 1, cacheWrite: 1, totalTokens: 100, cost: 0.25 }, "2"),
    call({ input: "7", output: Number.NaN, totalTokens: "many" }, "3", "1"),
    call(undefined, "4", "1"),
    entry("usage", { kind: "title", usage: { input: 2 } }),
    entry("usage", { kind: "title", usage: null }),
  ])
  const expected = { input: 13, output: 6, cacheRead: 1, cacheWrite: 1, totalTokens: 117, cost: 0.75, calls: 6 }
  expect(projection.metrics).toEqual(expected)
})

test("usage counts `inputTokens` and `outputTokens` as `input` and `output`, unless those are there", () => {
  const message = { role: "assistant", content: [], usage: { inputTokens: 10, outputTokens: 5 } }
  const projection = projected([
    entry("message", { message }),
    entry("usage", { kind: "title", usage: { input: 2, inputTokens: 100, outputTokens: "7" } }),
  ])
  expect(projection.metrics).toMatchObject({ input: 12, output: 5, totalTokens: 17, calls: 2 })
})

test("metadata keys may have any name, and cwd wins over the header's only if it is a text", () => {
  const set = (key: string, value: unknown) => entry("metadata", { key, value })
  const projection = projected([set("__proto__", 1), set("cwd", "/there"), set("cwd", 5), set("gone", undefined)])
  expect(Object.entries(projection.metadata)).toEqual([
    ["__proto__", 1],
    ["cwd", 5],
  ])
  expect(Object.getPrototypeOf(shown(projection).metadata)).toBe(Object.prototype)
  expect(projection.cwd).toBe("/there")
})

test("a compaction's stored state determines the current model, also after a branch", () => {
  const state = {
    thinkingLevel: "off",
    models: { default: { provider: "p", model: "m" } },
    modelIsExplicit: true,
    mode: "none",
    injectedTtsrRules: [],
  }
  const compaction = {
    summary: "s",
    firstKeptEntryId: "c",
    firstKeptSeq: 4,
    tokensBefore: 1,
    readFiles: [],
    modifiedFiles: [],
    state,
  }
  const projection = projected([
    user("a", "1"),
    user("b", "2"),
    { ...entry("leaf", {}), parentId: "1" },
    { ...entry("compaction", compaction), id: "c" },
  ])
  expect(projection).toMatchObject({
    model: { provider: "p", model: "m" },
    modelIsExplicit: true,
    compaction: { id: "c", firstKeptSeq: 4 },
  })
})

test("the compaction is dropped when the path no longer rests on it", () => {
  const compaction = {
    ...entry("compaction", { summary: "s", firstKeptEntryId: "c", tokensBefore: 1, readFiles: [], modifiedFiles: [] }),
    id: "c",
  }
  const start = [user("a", "1"), compaction]
  expect(projected(start).compaction).toEqual({ seq: 2, id: "c" })
  expect(projected([...start, gone("c")]).compaction).toBeUndefined()
  expect(projected([...start, entry("reset_boundary", {})]).compaction).toBeUndefined()
  expect(projected([...start, { ...entry("leaf", {}), parentId: "1" }]).compaction).toBeUndefined()
})

let count = 0

/** Its parent is the entry before it, unless the test sets one. */
function entry(type: Entry["type"], payload: object): Entry {
  return {
    type,
    id: `x${count++}`,
    parentId: LAST,
    seq: 0,
    timestamp: "2026-01-31T09:30:00.000Z",
    ...payload,
  } as Entry
}

const LAST = "the last one"

function user(text: string, id: string): Entry {
  return { ...entry("message", { message: { role: "user", content: [{ type: "text", text }] } }), id }
}

function gone(targetId: string): Entry {
  return entry("tombstone", { targetId })
}

function projected(entries: readonly Entry[], header: object = HEADER): InfoProjection {
  const start = startProjection(header, "l")
  return placed(entries).reduce((projection, entry) => projectEntry(projection, entry, entry.seq), start)
}

/** The entries as they follow each other in a log. */
function placed(entries: readonly Entry[]): readonly Entry[] {
  return entries.map((one, index) => {
    const parentId = one.parentId === LAST ? (entries[index - 1]?.id ?? null) : one.parentId
    return { ...one, parentId, seq: index + 1 }
  })
}

function projectAll(header: object, slots: readonly EntrySlot[]): InfoProjection {
  return projectWhole({ header, log: EntryLog.of(slots) }, "l")
}

/** Of a log that is read at once. */
function promptOf(entries: readonly Entry[]): string | undefined {
  return toSessionInfo("s", projectAll(HEADER, [undefined, ...placed(entries)]), head).firstPrompt
}

function titleOf(entries: readonly Entry[]): readonly unknown[] {
  const { title, titleSource } = toSessionInfo("s", projected(entries, { ...HEADER, title: "from the header" }), head)
  return [title, titleSource]
}

/** Information is shown unless it is stale. Then everything but the first prompt and the model is right. */
function certain(projection: InfoProjection, info: Partial<SessionInfo>): Partial<SessionInfo> {
  const { firstPrompt: _, model: __, ...rest } = info
  return projection.stale ? rest : info
}

function shown(projection: InfoProjection): Partial<SessionInfo> {
  const {
    id: _,
    updatedAt: __,
    bytes: ___,
    parts: ____,
    incomplete: _____,
    openTips: ______,
    ...rest
  } = toSessionInfo("s", projection, head)
  return rest
}
