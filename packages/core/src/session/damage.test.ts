import { createMemoryStorage } from "@sessions/memory"
import { describe, expect, test } from "vitest"
import { assistant, chain, linesOf, role, textsOf, user } from "../../test/chain.ts"
import { longPathTest, tombstonesTest } from "../../test/linear-time.ts"
import { HEADER } from "../../test/logs.ts"
import { whyRefused } from "../../test/sendable.ts"
import { sessionsReading, STORED_ID, storeLines } from "../../test/stored.ts"
import type { SessionStorage } from "../storage/contract.ts"
import { readLines } from "../log/load.ts"
import { createSessions } from "./repository.ts"

const linesIn = (storage: SessionStorage): Promise<string[]> => readLines(storage, STORED_ID, {})

/** Opens a log with the given lines, appends a message, and opens it again. */
async function goOn(lines: readonly string[]) {
  const storage = await storeLines(lines)
  const session = await sessionsReading(storage, 1).open(STORED_ID)
  const before = await session.context()
  await session.append({ type: "message", message: { role: "user", content: "more" } })
  const after = await (await sessionsReading(storage, 1).open(STORED_ID)).context()
  return { before, after, kept: (await linesIn(storage)).slice(0, lines.length), storage }
}

describe("damage hides nothing but itself", () => {
  const log = chain(user("a"), assistant("b"), user("c"), assistant("d"), user("e"))
  const lines = linesOf(log, HEADER)

  test("a bad line in the middle drops no earlier history, is reported, and is never rewritten", async () => {
    for (const bad of ["not JSON", "[1]", '{"half":', "5", lines[3]?.slice(0, 40) ?? ""]) {
      const damaged = lines.with(3, bad)
      const { before, after, kept, storage } = await goOn(damaged)
      expect(textsOf(before.messages)).toEqual(["a", "b", "d", "e"])
      expect(textsOf(after.messages)).toEqual(["a", "b", "d", "e", "more"])
      expect(before.diagnostics.map(({ code }) => code)).toEqual(["missing_parent"])
      const session = await createSessions({ storage }).open(STORED_ID)
      expect(session.diagnostics).toMatchObject([{ code: "unparsable_line", seq: 3 }])
      expect(kept).toEqual(damaged)
    }
  })

  test("a lost line drops no earlier history", async () => {
    const { before, after } = await goOn(lines.toSpliced(3, 1))
    expect(textsOf(before.messages)).toEqual(["a", "b", "d", "e"])
    expect(textsOf(after.messages)).toEqual(["a", "b", "d", "e", "more"])
  })

  test("a duplicate id drops no history, wherever the second entry is", async () => {
    for (const [place, id] of [
      [2, "e1"],
      [3, "e1"],
      [5, "e2"],
      [4, "e3"],
    ] as const) {
      const next = place + 1
      const twin = log.map((slot, seq) => {
        if (slot === undefined) return undefined
        return seq === place ? { ...slot, id } : seq === next ? { ...slot, parentId: id } : slot
      })
      const { before, after } = await goOn(linesOf(twin, HEADER))
      expect(textsOf(before.messages)).toEqual(["a", "b", "c", "d", "e"])
      expect(textsOf(after.messages)).toEqual(["a", "b", "c", "d", "e", "more"])
    }
  })

  test("a parent that is missing, comes later or is the entry itself drops no ancestors", async () => {
    for (const parentId of ["nobody", "e5", "e3"]) {
      const damaged = log.map((slot, seq) => (slot !== undefined && seq === 3 ? { ...slot, parentId } : slot))
      const { before, after } = await goOn(linesOf(damaged, HEADER))
      expect(textsOf(before.messages)).toEqual(["a", "b", "c", "d", "e"])
      expect(textsOf(after.messages)).toEqual(["a", "b", "c", "d", "e", "more"])
      const code = parentId === "nobody" ? "missing_parent" : "forward_reference"
      // Only a reader of the whole log knows that the entry has no other parent and so begins no branch.
      expect(before.diagnostics.filter((one) => one.code !== "diverged")).toMatchObject([{ code, seq: 3 }])
    }
  })

  test("a cycle of parents ends the walk and drops no history", async () => {
    const circle = Array.from({ length: 15_000 }, (_, n) => user(`${n}`, { parentId: n === 0 ? "e15000" : `e${n}` }))
    const session = await createSessions({ storage: await storeLines(linesOf(chain(...circle), HEADER)) }).open(
      STORED_ID,
    )
    expect((await session.context()).messages).toHaveLength(15_000)
  })

  test("U+2028, U+2029 and U+0085 in a text do not separate lines", async () => {
    const text = "one\u2028two\u2029three\u0085four\rfive"
    const storage = createMemoryStorage()
    const session = await createSessions({ storage }).create({ id: STORED_ID })
    await session.append({ type: "message", message: { role: "user", content: text } })
    const again = await sessionsReading(storage, 1).open(STORED_ID)
    expect(textsOf((await again.context()).messages)).toEqual([text])
    expect((await createSessions({ storage }).info(STORED_ID)).messageCount).toBe(1)
  })

  test("a BOM before the header and a CR after each line change nothing", async () => {
    const { before, after, kept } = await goOn(lines.map((line, seq) => `${seq === 0 ? "\ufeff" : ""}${line}\r`))
    expect(textsOf(before.messages)).toEqual(["a", "b", "c", "d", "e"])
    expect(textsOf(after.messages)).toEqual(["a", "b", "c", "d", "e", "more"])
    expect(kept[0]?.startsWith("\ufeff")).toBe(true)
  })
})

describe("after a resume", () => {
  test("an entry's parent is the entry before it, and the session can branch from an earlier one", async () => {
    const storage = createMemoryStorage()
    const first = await createSessions({ storage }).create({ id: STORED_ID })
    const { ids } = await first.append([
      { type: "message", message: { role: "user", content: "a" } },
      { type: "message", message: { role: "assistant", content: "b" } },
    ])
    await first.close()
    const second = await sessionsReading(storage, 1).open(STORED_ID)
    const { ids: more } = await second.append({ type: "message", message: { role: "user", content: "c" } })
    expect(await second.entry(more[0] ?? "")).toMatchObject({ parentId: ids[1] })
    await second.close()
    const third = await sessionsReading(storage, 1).open(STORED_ID)
    await third.branch(ids[0] ?? "")
    await third.close()
    const fourth = await sessionsReading(storage, 1).open(STORED_ID)
    expect(textsOf((await fourth.context()).messages)).toEqual(["a"])
  })

  test("the message count covers all messages", async () => {
    const talk = chain(...Array.from({ length: 8_000 }, (_, n) => user(`${n}`)))
    const storage = await storeLines(linesOf(talk, HEADER))
    const sessions = createSessions({ storage })
    expect((await sessions.info(STORED_ID)).messageCount).toBe(8_000)
    expect((await sessions.list()).sessions[0]?.messageCount).toBe(8_000)
    const session = await sessions.open(STORED_ID)
    await session.append({ type: "message", message: { role: "user", content: "more" } })
    expect((await sessions.info(STORED_ID)).messageCount).toBe(8_001)
  })

  test("a turn that was cut off between its calls is sendable after every later open", async () => {
    const call = (id: string) => ({ type: "toolCall", id, name: "bash", arguments: {} })
    const asked = role("assistant", { content: [call("x"), call("y")] })
    const answered = role("toolResult", { toolCallId: "x", isError: false, content: [] })
    const lonely = role("toolResult", { toolCallId: "z", isError: false, content: [] })
    for (const log of [
      chain(user("a"), asked),
      chain(user("a"), asked, answered),
      chain(lonely, user("a"), asked, answered),
    ]) {
      const { before, after } = await goOn(linesOf(log, HEADER))
      expect(whyRefused(before.messages)).toBeUndefined()
      expect(whyRefused(after.messages)).toBeUndefined()
    }
  })
})

test("an id that would escape its folder is rejected before any storage call", async () => {
  const storage = new Proxy(createMemoryStorage(), {
    get: (target, key) => {
      if (key === "capabilities" || key === "description" || key === "docs" || key === "blobs")
        return Reflect.get(target, key)
      throw new Error(`The storage was asked to ${String(key)}.`)
    },
  })
  const sessions = createSessions({ storage })
  for (const id of ["../x", "..", "a/b", "a\\b", "", "a\0b", "x".repeat(129), ".a", "a..b", "a b"]) {
    const refused = expect.objectContaining({ code: "invalid" })
    await expect(sessions.create({ id })).rejects.toEqual(refused)
    await expect(sessions.open(id)).rejects.toEqual(refused)
    await expect(sessions.delete(id)).rejects.toEqual(refused)
    await expect(sessions.info(id)).rejects.toEqual(refused)
  }
})

describe("through a session, in linear time", () => {
  longPathTest(12_000)
  tombstonesTest(4_000)
})
