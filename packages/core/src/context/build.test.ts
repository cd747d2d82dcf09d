import { describe, expect, test } from "vitest"
import { assistant, chain, compaction, edit, role, textsOf, tombstone, user } from "../../test/chain.ts"
import { EntryLog, type EntrySlot } from "../log/entry-log.ts"
import { buildSessionContext } from "./build.ts"
import { selectContext } from "./select.ts"

function texts(slots: readonly EntrySlot[], leafId?: string | null): string[] {
  return textsOf(buildSessionContext(slots, leafId).messages)
}

describe("the leaf", () => {
  const log = chain(user("a"), user("b"), user("c", { parentId: "e1" }))

  test("is the last entry by default, and any named entry", () => {
    expect(texts(log)).toEqual(["a", "c"])
    expect(texts(log, "e2")).toEqual(["a", "b"])
  })

  test("null is the empty context, in the state before the first entry", () => {
    const { messages, thinkingLevel, mode, models } = buildSessionContext(log, null)
    expect({ messages, thinkingLevel, mode, models }).toEqual({
      messages: [],
      thinkingLevel: "off",
      mode: "none",
      models: {},
    })
  })

  test("is `not_found` if no entry has the id", () => {
    expect(() => buildSessionContext(log, "e9")).toThrow(expect.objectContaining({ code: "not_found" }))
  })

  test("is absent in a log without entries", () => {
    expect(texts(chain())).toEqual([])
    expect(texts(chain(undefined, undefined))).toEqual([])
  })

  test("is `invalid` if only part of the log is in memory and older lines are needed", () => {
    const end = EntryLog.of(chain(user("a"), user("b")).slice(2), 2)
    expect(() => buildSessionContext(end)).toThrow(expect.objectContaining({ code: "invalid" }))
  })
})

test("every message names its entry and the entry's type", () => {
  const log = chain(
    compaction(undefined, { firstKeptEntryId: "e1" }),
    user("a"),
    { type: "custom_message", customType: "note", content: [{ type: "text", text: "n" }], display: false },
    { type: "branch_summary", fromId: "root", summary: "s" },
    role("bare"),
  )
  expect(buildSessionContext(log).messages.map(({ entryId, kind }) => [entryId, kind])).toEqual([
    ["e1", "compaction"],
    ["e2", "message"],
    ["e3", "custom"],
    ["e4", "branch_summary"],
    ["e5", "message"],
  ])
})

describe("a compaction", () => {
  test("comes first, then the entries that it keeps, then those that follow it", () => {
    expect(texts(chain(user("a"), user("b"), compaction("e2"), user("c")))).toEqual(["so far", "b", "c"])
  })

  test("that names itself as first kept entry keeps nothing, without a diagnostic", () => {
    const context = buildSessionContext(chain(user("a"), compaction("e2"), user("b")))
    expect(textsOf(context.messages)).toEqual(["so far", "b"])
    expect(context.diagnostics).toEqual([])
    expect(context.compaction).toEqual({ entryId: "e2", tokensBefore: 9 })
  })

  test("before another one on the path adds nothing to what the later one keeps", () => {
    const log = chain(
      user("a"),
      user("b"),
      compaction("e2", { summary: "one" }),
      user("c"),
      compaction("e1", { summary: "two" }),
    )
    expect(texts(log)).toEqual(["two", "a", "b", "c"])
  })

  test("that was deleted is replaced by the one before it, or by the whole path", () => {
    const log = chain(
      user("a"),
      compaction("e2", { summary: "one" }),
      user("b"),
      compaction("e4", { summary: "two" }),
      user("c"),
    )
    expect(texts([...log, ...chain(tombstone("e4", { id: "t1", parentId: "e5" })).slice(1)])).toEqual(["one", "b", "c"])
    const both = [
      ...log,
      ...chain(tombstone("e4", { id: "t1", parentId: "e5" }), tombstone("e2", { id: "t2" })).slice(1),
    ]
    expect(texts(both)).toEqual(["a", "b", "c"])
  })

  test("without a summary cuts nothing, and is reported", () => {
    const context = buildSessionContext(chain(user("a"), compaction("e2", { summary: null }), user("b")))
    expect(textsOf(context.messages)).toEqual(["a", "b"])
    expect(context.diagnostics).toMatchObject([{ code: "invalid_record", entryId: "e2" }])
    expect(context).not.toHaveProperty("compaction")
  })

  test("whose first kept entry was deleted keeps the entries after it", () => {
    expect(texts(chain(user("a"), user("b"), user("c"), compaction("e2"), tombstone("e2")))).toEqual(["so far", "c"])
  })

  test("whose first kept entry is missing or on another branch keeps nothing, and is reported", () => {
    const nowhere = buildSessionContext(chain(user("a"), compaction("e9"), user("b")))
    const elsewhere = buildSessionContext(chain(user("a"), user("b"), user("c", { parentId: "e1" }), compaction("e2")))
    const unnamed = buildSessionContext(chain(user("a"), compaction(undefined), user("b")))
    expect(textsOf(nowhere.messages)).toEqual(["so far", "b"])
    expect(textsOf(elsewhere.messages)).toEqual(["so far"])
    expect(textsOf(unnamed.messages)).toEqual(["so far", "b"])
    for (const { diagnostics } of [nowhere, elsewhere, unnamed]) {
      expect(diagnostics.map(({ code }) => code)).toEqual(["missing_first_kept"])
    }
  })

  test("whose first kept entry is on another branch needs no line before that entry's position", () => {
    const state = { thinkingLevel: "off", models: {}, modelIsExplicit: false, mode: "none", injectedTtsrRules: [] }
    const log = chain(
      user("a"),
      user("b"),
      user("c"),
      user("d", { parentId: "e2" }),
      compaction("e3", { state }),
      user("e"),
    )
    const end = EntryLog.of(log.slice(2), 2)
    expect(selectContext(end, 6)).toMatchObject({ entries: [{ seq: 5 }, { seq: 6 }] })
  })
})

describe("a reset boundary", () => {
  test("after the last compaction starts the context behind it", () => {
    expect(texts(chain(user("a"), compaction("e1"), user("b"), { type: "reset_boundary" }, user("c")))).toEqual(["c"])
    expect(texts(chain(user("a"), { type: "reset_boundary" }))).toEqual([])
  })

  test("before the last compaction changes nothing, not even in the entries that it keeps", () => {
    expect(texts(chain(user("a"), { type: "reset_boundary" }, user("b"), compaction("e1"), user("c")))).toEqual([
      "so far",
      "a",
      "b",
      "c",
    ])
  })

  test("that was deleted has no effect", () => {
    expect(texts(chain(user("a"), { type: "reset_boundary" }, user("b"), tombstone("e2")))).toEqual(["a", "b"])
  })

  test("on another branch has no effect", () => {
    expect(texts(chain(user("a"), { type: "reset_boundary" }, user("b", { parentId: "e1" })))).toEqual(["a", "b"])
  })

  test("does not change the state", () => {
    const log = chain({ type: "thinking_level_change", thinkingLevel: "high" }, { type: "reset_boundary" })
    expect(buildSessionContext(log).thinkingLevel).toBe("high")
  })
})

describe("a tombstone", () => {
  test("deletes its target from any position, also from another branch", () => {
    expect(
      texts(chain(user("a"), user("b"), tombstone("e2", { parentId: null }), user("c", { parentId: "e2" }))),
    ).toEqual(["a", "c"])
    expect(texts(chain(user("a"), user("b"), tombstone("e1")), "e2")).toEqual(["b"])
  })

  test("means the nearest entry before it if an id is duplicate, and never a later one", () => {
    const log = chain(user("a", { id: "x" }), user("b", { id: "x" }), tombstone("x"), user("c", { id: "x" }))
    expect(texts(log)).toEqual(["a", "c"])
  })

  test("of an edit does not revert the edit", () => {
    expect(texts(chain(user("a"), edit("e1", "b"), tombstone("e2")))).toEqual(["a"])
  })

  test("does not change the state", () => {
    const log = chain({ type: "mode_change", mode: "plan" }, assistant("a", { provider: "p", model: "m" }))
    const gone = [
      ...log,
      ...chain(tombstone("e1", { id: "t1", parentId: "e2" }), tombstone("e2", { id: "t2" })).slice(1),
    ]
    const { mode, model, messages } = buildSessionContext(gone)
    expect({ mode, model, messages }).toEqual({ mode: "plan", model: { provider: "p", model: "m" }, messages: [] })
  })
})

describe("an edit", () => {
  test("replaces the content of its target, and null leaves the target out", () => {
    expect(texts(chain(user("a"), user("b"), edit("e1", "edited"), edit("e2", null)))).toEqual(["edited"])
  })

  test("applies on its own path only, and the latest on the path wins", () => {
    const log = chain(user("a"), edit("e1", "one"), edit("e1", "two"), edit("e1", "three", { parentId: "e2" }))
    expect(texts(log, "e3")).toEqual(["two"])
    expect(texts(log, "e4")).toEqual(["three"])
    expect(texts(log, "e1")).toEqual(["a"])
  })

  test("with an invalid replacement changes nothing, hides no other edit, and is reported", () => {
    const broken = { type: "context_edit", targetId: "e1", replacement: { content: 5 } }
    const context = buildSessionContext(chain(user("a"), edit("e1", "sound"), broken))
    expect(textsOf(context.messages)).toEqual(["sound"])
    expect(context.diagnostics).toMatchObject([{ code: "invalid_record", seq: 3, entryId: "e3" }])
  })

  test("keeps all fields of a message except its content", () => {
    const result = role("toolResult", { toolCallId: "x", isError: true, content: [] })
    const [item] = buildSessionContext(chain(result, edit("e1", "cut"))).messages
    expect(item?.message).toEqual({
      role: "toolResult",
      toolCallId: "x",
      isError: true,
      content: [{ type: "text", text: "cut" }],
    })
  })

  test("of a compaction has no effect", () => {
    const { messages } = buildSessionContext(chain(user("a"), compaction("e2"), edit("e2", "no")))
    expect(messages.map(({ message }) => message)).toEqual([
      { role: "compactionSummary", summaryText: "so far", tokensBefore: 9 },
    ])
  })
})

describe("damage in the log", () => {
  test("is bridged and reported if a parent is missing or comes later", () => {
    const orphan = buildSessionContext(chain(user("a"), user("b"), user("c", { parentId: "gone" })))
    const forward = buildSessionContext(chain(user("a"), user("b", { parentId: "e3" }), user("c")))
    const self = buildSessionContext(chain(user("a"), user("b", { parentId: "e2" })))
    expect(textsOf(orphan.messages)).toEqual(["a", "b", "c"])
    expect(textsOf(forward.messages)).toEqual(["a", "b", "c"])
    expect(textsOf(self.messages)).toEqual(["a", "b"])
    expect(orphan.diagnostics).toMatchObject([{ code: "missing_parent", seq: 3, entryId: "e3" }])
    expect(forward.diagnostics).toMatchObject([{ code: "forward_reference", seq: 2 }])
    expect(self.diagnostics).toMatchObject([{ code: "forward_reference", seq: 2 }])
  })

  test("keeps its position: an invalid message is reported, and the messages around it stay", () => {
    const context = buildSessionContext(chain(user("a"), { type: "message", message: 5 }, undefined, user("b")))
    expect(textsOf(context.messages)).toEqual(["a", "b"])
    expect(context.diagnostics).toMatchObject([{ code: "invalid_record", seq: 2, entryId: "e2" }])
  })

  test("is reported in the order of the path", () => {
    const log = chain(user("a", { parentId: "x" }), user("b"), user("c", { parentId: "y" }), compaction("z"))
    expect(buildSessionContext(log).diagnostics.map(({ seq }) => seq)).toEqual([1, 3, 4])
  })
})

test("`fits` is present if a window was given", () => {
  const log = chain(user("abcdefgh"))
  expect(buildSessionContext(log)).toMatchObject({ tokens: 2 })
  expect(buildSessionContext(log)).not.toHaveProperty("fits")
  expect(buildSessionContext(log, undefined, { window: 2 }).fits).toBe(true)
  expect(buildSessionContext(log, undefined, { window: 1 }).fits).toBe(false)
})
