import { describe, expect, test } from "vitest"
import type { Entry } from "../format/entry.ts"
import { callStates } from "./call-states.ts"

interface Line {
  readonly type: string
  readonly id: string
  readonly parentId?: string | null
  readonly [key: string]: unknown
}

/** A log: each entry follows the one before it, unless it names its parent. */
function log(...entries: readonly Line[]) {
  const slots: (Entry | undefined)[] = [undefined]
  for (const entry of entries) {
    const parentId = entry.parentId === undefined ? (slots.at(-1)?.id ?? null) : entry.parentId
    slots.push({ timestamp: "2026-01-01T00:00:00.000Z", ...entry, parentId, seq: slots.length } as Entry)
  }
  return slots
}

const message = (id: string, role: string, content: unknown, more: object = {}, o: object = {}) => ({
  type: "message",
  id,
  message: { role, content, ...more },
  ...o,
})
const user = (id: string, o: object = {}) => message(id, "user", [{ type: "text", text: id }], {}, o)
const calls = (id: string, ...names: readonly string[]) =>
  message(
    id,
    "assistant",
    names.map((name, index) => ({ type: "toolCall", id: `c${index}`, name, arguments: { index } })),
  )
const result = (id: string, toolCallId: string, o: object = {}) =>
  message(id, "toolResult", [{ type: "text", text: "ok" }], { toolCallId, toolName: "x", isError: false }, o)
const policy = (id = "p") => ({ type: "tool_policy", id, never: ["charge"], safe: ["look"] })
const start = (targetId: string, call: number, attempt = 1, o: object = {}) => ({
  type: "tool_start",
  id: `${targetId}.${call}.${attempt}`,
  targetId,
  callId: `c${call}`,
  call,
  toolName: "charge",
  attempt,
  key: `key ${call}`,
  run: `run ${attempt}`,
  ...o,
})
const states = (entries: ReturnType<typeof log>, leaf?: string) =>
  callStates(entries, leaf)?.calls.map(({ state }) => state)

test("each call has the state that results, starts and the record of its turn give it", () => {
  const found = callStates(
    log(
      user("u"),
      policy(),
      calls("a", "charge", "charge", "look", "other", "charge"),
      start("a", 0),
      result("r", "c4"),
    ),
  )
  expect(found).toEqual({
    entryId: "a",
    calls: [
      {
        state: "unknown",
        call: 0,
        callId: "c0",
        toolName: "charge",
        arguments: { index: 0 },
        start: "a.0.1",
        attempt: 1,
        key: "key 0",
        run: "run 1",
      },
      { state: "waiting", call: 1, callId: "c1", toolName: "charge", arguments: { index: 1 } },
      { state: "repeatable", call: 2, callId: "c2", toolName: "look", arguments: { index: 2 } },
      { state: "unrecorded", call: 3, callId: "c3", toolName: "other", arguments: { index: 3 } },
      { state: "done", call: 4, callId: "c4", toolName: "charge", arguments: { index: 4 }, result: "r" },
    ],
  })
})

describe("a record covers a message", () => {
  test("behind the question of its turn, before the message", () => {
    expect(states(log(user("u"), policy(), calls("a", "charge")))).toEqual(["waiting"])
    expect(states(log(user("u"), calls("a", "charge"), policy()))).toEqual(["unrecorded"])
  })

  test("not before the question: a batch that a crash has cut off leaves it to whoever asks next", () => {
    expect(states(log(policy(), user("u"), calls("a", "charge")))).toEqual(["unrecorded"])
  })

  test("in further steps of its turn, not in the next turn", () => {
    const turn = [user("u"), policy(), calls("a", "look"), result("r", "c0"), calls("b", "charge")]
    expect(states(log(...turn))).toEqual(["waiting"])
    const next = message("end", "assistant", [{ type: "text", text: "Done." }])
    expect(states(log(...turn.slice(0, 4), next, user("v"), calls("d", "charge")))).toEqual(["unrecorded"])
  })

  test("of several the last one before it", () => {
    const other = { type: "tool_policy", id: "q", never: [], safe: ["charge"] }
    expect(states(log(user("u"), policy(), other, calls("a", "charge")))).toEqual(["repeatable"])
  })

  test("not across a compaction that does not repeat it", () => {
    const compaction = { type: "compaction", id: "k", summary: "s", firstKeptEntryId: "u", tokensBefore: 1 }
    expect(states(log(user("u"), policy(), compaction, calls("a", "charge")))).toEqual(["unrecorded"])
    expect(states(log(user("u"), policy(), compaction, policy("q"), calls("a", "charge")))).toEqual(["waiting"])
  })
})

test("a start counts on every branch, and without a record", () => {
  const branched = log(user("u"), policy(), calls("a", "charge"), start("a", 0), result("r", "c0"), user("v"), {
    type: "leaf",
    id: "l",
    parentId: "a",
  })
  expect(callStates(branched)?.calls[0]).toMatchObject({
    state: "unknown",
    start: "a.0.1",
    elsewhere: { start: "a.0.1", result: "r" },
  })
  expect(states(branched, "r")).toEqual(["done"])
  expect(states(log(user("u"), calls("a", "charge"), start("a", 0)))).toEqual(["unknown"])
})

test("a call whose result is on another branch, or was deleted, has run", () => {
  const deleted = { type: "tombstone", id: "t", targetId: "r" }
  expect(states(log(user("u"), policy(), calls("a", "charge"), result("r", "c0"), deleted))).toEqual(["unknown"])
  const back = { type: "leaf", id: "l", parentId: "a" }
  expect(states(log(user("u"), policy(), calls("a", "charge"), result("r", "c0"), back))).toEqual(["unknown"])
})

test("the newest attempt is the start of a call", () => {
  const found = callStates(log(user("u"), policy(), calls("a", "charge"), start("a", 0), start("a", 0, 2)))
  expect(found?.calls[0]).toMatchObject({ state: "unknown", start: "a.0.2", attempt: 2, run: "run 2" })
})

test("an edit of the message keeps the places of its calls", () => {
  const edit = {
    type: "context_edit",
    id: "e",
    targetId: "a",
    replacement: {
      content: [
        { type: "toolCall", id: "c1", name: "charge", arguments: { less: true } },
        { type: "toolCall", id: "new", name: "charge", arguments: {} },
      ],
    },
  }
  const found = callStates(log(user("u"), policy(), calls("a", "charge", "charge"), start("a", 1), edit))
  expect(found?.calls).toMatchObject([{ call: 1, state: "unknown", arguments: { less: true } }])
})

test("calls with one id are told apart by their places", () => {
  const block = { type: "toolCall", id: "x", name: "charge", arguments: {} }
  const twice = message("a", "assistant", [block, block])
  expect(states(log(user("u"), policy(), twice, { ...start("a", 1), callId: "x" }))).toEqual(["waiting", "unknown"])
  expect(states(log(user("u"), policy(), twice, result("r", "x")))).toEqual(["done", "waiting"])
})

describe("the conversation goes on behind the message", () => {
  const before = [user("u"), policy(), calls("a", "charge", "charge")] as const
  const by = (...after: readonly Line[]) => callStates(log(...before, ...after))?.continuedBy

  test("with another message, on whatever branch it is", () => {
    expect(by(user("stop"))).toBe("stop")
    expect(by(result("r", "c0"), user("stop", { parentId: "a" }), result("s", "c1", { parentId: "r" }))).toBe("stop")
    expect(by({ type: "custom_message", id: "m", customType: "x", content: [], display: true })).toBe("m")
  })

  test("not with starts, annotations, settings and results of its calls", () => {
    const setting = { type: "model_change", id: "m", provider: "p", model: "m" }
    expect(by(start("a", 0), result("r", "c0"), { type: "title_change", id: "t", title: "x" }, setting)).toBeUndefined()
    expect(by(result("r", "other"))).toBe("r")
  })

  test("not with a message on a branch that was left since, or that was deleted, or that is beside it", () => {
    expect(by(user("v"), { type: "leaf", id: "l", parentId: "a" })).toBeUndefined()
    expect(by(user("v"), { type: "tombstone", id: "t", targetId: "v" })).toBeUndefined()
    expect(by(user("v", { parentId: "u" }), start("a", 0, 1, { parentId: "a" }))).toBeUndefined()
  })

  test("with a compaction that does not keep it", () => {
    const compaction = { type: "compaction", id: "k", summary: "s", tokensBefore: 1 }
    expect(by({ ...compaction, firstKeptEntryId: "k" })).toBe("k")
    expect(by({ ...compaction, firstKeptEntryId: "a" })).toBeUndefined()
  })
})

test("there is nothing to tell without a message with calls", () => {
  expect(callStates([])).toBeUndefined()
  expect(callStates(log(user("u")))).toBeUndefined()
  expect(callStates(log(user("u"), message("a", "assistant", [])))).toBeUndefined()
  expect(
    callStates(log(user("u"), calls("a", "charge"), { type: "tombstone", id: "t", targetId: "a" })),
  ).toBeUndefined()
  expect(callStates(log(user("u"), calls("a", "charge")), null)).toBeUndefined()
  expect(() => callStates(log(user("u")), "z")).toThrow(expect.objectContaining({ code: "not_found" }))
})

test("fields of any value are no error", () => {
  const odd = log(user("u"), { ...policy(), never: 1, safe: null }, calls("a", "charge"), {
    ...start("a", 0),
    targetId: 1,
    key: 2,
    attempt: null,
  })
  expect(states(odd)).toEqual(["unrecorded"])
})
