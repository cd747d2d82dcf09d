import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { cpuTime } from "../../test/cpu-time.ts"
import { growthOf, MOST_GROWTH, times } from "../../test/growth-of.ts"
import { anyLog, headerOf, slotsOf } from "../../test/logs.ts"
import { holds } from "../../test/property.ts"
import { whyRefused } from "../../test/sendable.ts"
import type { ModelMessage } from "../format/message.ts"
import type { Header } from "../format/header.ts"
import { buildSessionContext } from "./build.ts"
import { toModelMessages } from "./model-messages.ts"
import { missingResultText, repairMessages } from "./repair.ts"
import type { ContextMessage, RepairMode } from "./types.ts"

type Item = ContextMessage<ModelMessage>

const MODES: readonly RepairMode[] = ["synthesize", "drop"]

/** Messages in short form: `u` is a user, `a:x,y` an assistant that calls x and y, `r:x` the result of x, `s` the system. */
function items(...told: readonly string[]): Item[] {
  return told.map((one, index): Item => {
    const [kind, ids = ""] = one.split(":")
    const text = [{ type: "text" as const, text: one }]
    const calls = ids.split(",").filter((id) => id !== "")
    const entryId = `e${index}`
    if (kind === "u") return { entryId, kind: "message", message: { role: "user", content: text } }
    if (kind === "s") return { entryId, kind: "message", message: { role: "system", content: text } }
    if (kind === "r") {
      return {
        entryId,
        kind: "message",
        message: { role: "toolResult", toolCallId: ids, isError: false, content: text },
      }
    }
    const content = calls.map((id) => ({ type: "toolCall" as const, id, name: "bash", arguments: {} }))
    return {
      entryId,
      kind: "message",
      message: { role: "assistant", content: kind === "A" ? content : [...text, ...content] },
    }
  })
}

/** Messages back in short form; a synthesized result is `made:x`. */
function told(messages: readonly Item[]): string[] {
  return messages.map(({ kind, message }) => {
    if (message.role === "user") return "u"
    if (message.role === "system") return "s"
    if (message.role === "toolResult") return `${kind === "repair" ? "made" : "r"}:${message.toolCallId}`
    const calls = message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []))
    return calls.length === 0 ? "a" : `a:${calls.join(",")}`
  })
}

function repaired(mode: RepairMode, ...messages: readonly string[]): string[] {
  return told(repairMessages(items(...messages), mode).messages)
}

describe("a context is sendable", () => {
  const chaos = fc.array(
    fc.oneof(
      fc.constantFrom("u", "s", "a", "A"),
      fc.array(fc.constantFrom("x", "y", "x_2"), { maxLength: 4 }).map((ids) => `A:${ids.join(",")}`),
      fc.constantFrom("a:x", "a:x,y", "r:x", "r:y", "r:x_2", "r:nobody"),
    ),
    { maxLength: 16 },
  )

  test("for any order of calls and results", () => {
    holds(
      fc.property(chaos, fc.constantFrom(...MODES), (messages, mode) => {
        expect(whyRefused(repairMessages(items(...messages), mode).messages)).toBeUndefined()
      }),
      2_000,
    )
  })

  test("for any damage to the log, at its last entry and at every other", () => {
    holds(
      fc.property(anyLog, fc.nat(), (lines, n) => {
        const slots = slotsOf(lines)
        const ids = slots.flatMap((slot) => (slot === undefined ? [] : [slot.id]))
        const header = headerOf(lines) as unknown as Header
        for (const leafId of [undefined, ids[n % ids.length]]) {
          const context = buildSessionContext(slots, leafId, { header })
          for (const summaryAs of ["user", "pair"] as const) {
            const { messages } = toModelMessages(context.messages, summaryAs)
            for (const mode of MODES) expect(whyRefused(repairMessages(messages, mode).messages)).toBeUndefined()
          }
        }
      }),
      300,
    )
  })

  test("and repairing it again changes nothing", () => {
    holds(
      fc.property(chaos, fc.constantFrom(...MODES), (messages, mode) => {
        const once = repairMessages(items(...messages), mode)
        expect(repairMessages(once.messages, mode)).toEqual({ messages: once.messages, diagnostics: [] })
      }),
      1_000,
    )
  })

  test("and a sound one is not changed", () => {
    const sound = items("u", "a:x,y", "r:y", "s", "r:x", "a", "u", "a:x", "r:x")
    for (const mode of MODES) {
      const { messages, diagnostics } = repairMessages(sound, mode)
      expect(told(messages)).toEqual(["u", "a:x,y", "r:y", "r:x", "s", "a", "u", "a:x", "r:x"])
      expect(diagnostics).toEqual([])
    }
  })

  test("unless repair is `none`, which changes nothing", () => {
    holds(
      fc.property(chaos, (messages) => {
        const before = items(...messages)
        expect(repairMessages(before, "none")).toEqual({ messages: before, diagnostics: [] })
      }),
    )
  })
})

test("a call without a result gets one that states this, with the call's entry id", () => {
  const { messages, diagnostics } = repairMessages(items("u", "a:x,y", "r:y", "u"), "synthesize")
  expect(told(messages)).toEqual(["u", "a:x,y", "r:y", "made:x", "u"])
  expect(messages[3]).toEqual({
    entryId: "e1",
    kind: "repair",
    message: {
      role: "toolResult",
      toolCallId: "x",
      toolName: "bash",
      isError: true,
      content: [{ type: "text", text: missingResultText({ state: "unrecorded" }) }],
    },
  })
  expect(diagnostics).toMatchObject([{ code: "repaired", entryId: "e1" }])
})

test("with `drop` a call without a result is left out, and so is a message with no other content", () => {
  expect(repaired("drop", "u", "a:x,y", "r:y", "u")).toEqual(["u", "a:y", "r:y", "u"])
  expect(repaired("drop", "u", "A:x,y", "u")).toEqual(["u", "u"])
  expect(repaired("drop", "u", "a:x", "u")).toEqual(["u", "a", "u"])
  expect(repairMessages(items("u", "A:x,y", "u"), "drop").diagnostics).toMatchObject([
    { code: "repaired", entryId: "e1" },
  ])
})

test("a result later on the path moves up to its call", () => {
  const { messages, diagnostics } = repairMessages(items("a:x", "u", "r:x", "u"), "synthesize")
  expect(told(messages)).toEqual(["a:x", "r:x", "u", "u"])
  expect(diagnostics).toMatchObject([{ code: "repaired", entryId: "e2" }])
})

test("a result belongs to the nearest call before it that has its id", () => {
  expect(repaired("synthesize", "A:x", "r:x", "u", "A:x", "r:x")).toEqual(["a:x", "r:x", "u", "a:x", "r:x"])
  expect(repaired("synthesize", "A:x", "A:x", "r:x")).toEqual(["a:x", "made:x", "a:x", "r:x"])
})

test("a second result of one call is left out, and so is one without a call", () => {
  const { messages, diagnostics } = repairMessages(items("r:x", "A:x", "r:x", "r:x", "r:y"), "synthesize")
  expect(told(messages)).toEqual(["a:x", "r:x"])
  expect(messages[1]?.entryId).toBe("e2")
  expect(diagnostics.map(({ entryId }) => entryId)).toEqual(["e0", "e3", "e4"])
})

test("of calls of one message that share an id all but the first get a new id, and so do their results", () => {
  expect(repaired("synthesize", "A:x,x", "r:x", "r:x")).toEqual(["a:x,x_2", "r:x", "r:x_2"])
  expect(repaired("synthesize", "A:x,x", "r:x")).toEqual(["a:x,x_2", "r:x", "made:x_2"])
  expect(repaired("synthesize", "A:x,x")).toEqual(["a:x,x_2", "made:x", "made:x_2"])
  expect(repaired("drop", "A:x,x", "r:x")).toEqual(["a:x", "r:x"])
  expect(repaired("drop", "A:x,x", "r:x_2")).toEqual(["a:x_2", "r:x_2"])
  // The result has the id that its call has in the context.
  expect(repaired("synthesize", "A:x,x", "r:x_2", "r:x")).toEqual(["a:x,x_2", "r:x_2", "r:x"])
  // The new id is no other call's.
  expect(repaired("synthesize", "A:x,x_2,x,x", "r:x", "r:x_2", "r:x", "r:x")).toEqual([
    "a:x,x_2,x_3,x_4",
    "r:x",
    "r:x_2",
    "r:x_3",
    "r:x_4",
  ])
  const { diagnostics } = repairMessages(items("A:x,x", "r:x", "r:x"), "synthesize")
  expect(diagnostics).toMatchObject([{ code: "repaired", entryId: "e0" }])
})

describe("a block that providers refuse is left out", () => {
  const block = (role: string, ...content: readonly object[]): Item =>
    ({ entryId: "e", kind: "message", message: { role, content, toolCallId: "x", isError: false } }) as unknown as Item
  const kept = (role: string, ...content: readonly object[]): unknown =>
    repairMessages([block(role, { type: "text", text: "t" }, ...content)], "synthesize").messages[0]?.message.content
  const [call] = items("A:x")
  const text = { type: "text", text: "t" }

  const refused: readonly (readonly [role: string, block: object])[] = [
    ["user", { type: "text" }],
    ["user", { type: "text", text: 5 }],
    ["user", { type: "text", text: "" }],
    ["assistant", { type: "text", text: " \n" }],
    ["user", { type: "image", mimeType: "image/png" }],
    ["user", { type: "image", data: 5, mimeType: "image/png" }],
    ["user", { type: "image", data: "", mimeType: "image/png" }],
    ["user", { type: "image", data: "QQ==" }],
    ["user", { type: "file", path: "a.txt" }],
    ["assistant", { type: "thinking" }],
    ["assistant", { type: "thinking", thinking: "" }],
    ["assistant", { type: "thinking", thinking: "so", signature: 5 }],
    ["user", { type: "thinking", thinking: "so" }],
    ["assistant", { type: "toolCall", id: "x", name: 5, arguments: {} }],
    ["user", { type: "toolCall", id: "x", name: "bash", arguments: {} }],
  ]
  test.each(refused)("%s %j", (role, one) => {
    expect(kept(role, one)).toEqual([text])
    const { messages, diagnostics } = repairMessages([block(role, one)], "drop")
    expect(messages).toEqual([])
    expect(diagnostics.map(({ code }) => code)).toEqual(["repaired", "repaired"])
    expect(repairMessages([block(role, one)], "none").messages).toEqual([block(role, one)])
  })

  test("with a diagnostic that names the entry and the type", () => {
    const { diagnostics } = repairMessages([block("user", text, { type: "image" }, { type: "text" })], "synthesize")
    const message = "Entry e: 2 block(s) that providers refuse are left out: image, text."
    expect(diagnostics).toEqual([{ code: "repaired", entryId: "e", message }])
  })

  test("but not a withheld thought, a line break that a tool gave, or a block of another type", () => {
    const thought = { type: "thinking", thinking: "", signature: "s" }
    expect(kept("assistant", thought, { type: "audio" })).toEqual([text, thought, { type: "audio" }])
    const result = (content: string): Item => block("toolResult", { type: "text", text: content })
    const lines = repairMessages([call as Item, result("\n")], "synthesize")
    expect(lines).toEqual({ messages: [call, result("\n")], diagnostics: [] })
    expect(repairMessages([call as Item, result("")], "synthesize").messages[1]?.message.content).toEqual([])
  })
})

test("arguments that are no object are replaced by the one in their JSON text, or by an empty one", () => {
  const cases: readonly (readonly [unknown, object])[] = [
    ['{"path":"a"}', { path: "a" }],
    ["[1]", {}],
    ["{", {}],
    [null, {}],
    [undefined, {}],
  ]
  for (const [args, expected] of cases) {
    const [item, result] = items("A:x", "r:x") as [Item, Item]
    const content = [{ ...item.message.content[0], arguments: args }]
    const broken = { ...item, message: { ...item.message, content } } as Item
    const { messages, diagnostics } = repairMessages([broken, result], "synthesize")
    expect(messages[0]?.message.content).toEqual([{ ...item.message.content[0], arguments: expected }])
    expect(messages).toHaveLength(2)
    expect(diagnostics).toMatchObject([{ code: "repaired", entryId: "e0" }])
  }
})

test("a message without content is left out, but not a result without output", () => {
  const empty = (role: string): Item => ({ entryId: role, kind: "message", message: { role, content: [] } as never })
  const [call] = items("A:x")
  const result: Item = {
    entryId: "r",
    kind: "message",
    message: { role: "toolResult", toolCallId: "x", isError: false, content: [] },
  }
  const log = [empty("user"), empty("assistant"), empty("system"), call as Item, result]
  for (const mode of MODES) {
    const { messages, diagnostics } = repairMessages(log, mode)
    expect(messages.map(({ entryId }) => entryId)).toEqual(["e0", "r"])
    expect(diagnostics.map(({ entryId }) => entryId)).toEqual(["user", "assistant", "system"])
  }
})

test("a call without an id, as damage leaves it, is left out, and so is a result without one", () => {
  const broken = { type: "toolCall", name: "bash", arguments: {} }
  const log = [
    { entryId: "a", kind: "message", message: { role: "assistant", content: [{ type: "text", text: "t" }, broken] } },
    { entryId: "r", kind: "message", message: { role: "toolResult", isError: false, content: [] } },
  ] as unknown as Item[]
  for (const mode of MODES) {
    const { messages } = repairMessages(log, mode)
    expect(whyRefused(messages)).toBeUndefined()
    expect(messages.map(({ entryId }) => entryId)).toEqual(["a"])
  }
})

test("many calls of one message are paired in linear time", async () => {
  const logs = (count: number): readonly (readonly Item[])[] => {
    const ids = times(count, (n) => `c${n}`)
    // Backwards, so that a search among the open calls finds each at the end.
    const sound = items(`A:${ids.join(",")}`, ...ids.toReversed().map((id) => `r:${id}`))
    return [sound, items(`A:${ids.map(() => "c").join(",")}`, ...ids.map(() => "r:c"))]
  }
  const repair = (made: ReturnType<typeof logs>): void => {
    for (const log of made) expect(repairMessages(log, "synthesize").messages).toHaveLength(log.length)
  }
  expect(await growthOf(2_500, logs, repair)).toBeLessThan(MOST_GROWTH)
})

test("many calls whose results all come at the end are paired in linear time", () => {
  const ids = Array.from({ length: 20_000 }, (_, index) => `c${index}`)
  const log = items(...ids.flatMap((id) => [`A:${id}`, "u"]), ...ids.map((id) => `r:${id}`))
  const start = cpuTime()
  const { messages } = repairMessages(log, "synthesize")
  expect(cpuTime() - start).toBeLessThan(2_000)
  expect(told(messages).slice(0, 3)).toEqual(["a:c0", "r:c0", "u"])
})
