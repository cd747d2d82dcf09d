import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { codeOf, sessionsIn, textOf } from "../../test/transfer.ts"
import type { SessionStorage } from "../storage/contract.ts"
import { copySession, exportSession, mergeSession, verifySession } from "./index.ts"
import { withId, withOriginLines } from "./headers.ts"

const LINE = '{"type":"session","format":"@sessions","version":4,"id":"a.b-c","timestamp":"t","x":{"id":"a.b-c"}}'

test("setting the id changes only the id, and the rest of the line stays", () => {
  expect(withId(LINE, "new")).toBe(LINE.replace('"a.b-c"', '"new"'))
  expect(withId(LINE, "a.b-c")).toBe(LINE)
  expect(withId(`\uFEFF${LINE}\r`, "new")).toBe(`\uFEFF${LINE.replace('"a.b-c"', '"new"')}\r`)
})

test("an id of an earlier nested object is not taken for the header's", () => {
  const nested = '{"type":"session","parentSession":{"id":"a"}, "n":1e400,"id":"a","version":4}'
  expect(withId(nested, "new")).toBe(nested.replace('"n":1e400,"id":"a"', '"n":1e400,"id":"new"'))
})

test("a header without an id, or with an escaped one, is written again with its keys in order", () => {
  expect(withId('{"type":"session","version":4}', "new")).toBe('{"type":"session","version":4,"id":"new"}')
  expect(withId('{"type":"session","id":"\\u0061"}', "$&")).toBe('{"type":"session","id":"$&"}')
})

test("the line count is added to an existing origin, and never decreases", () => {
  const origin = (line: string) => JSON.parse(line).origin
  expect(origin(withOriginLines(LINE, 7, "was"))).toEqual({ format: "@sessions", version: 4, id: "was", lines: 7 })
  const imported = LINE.replace('"x":', '"origin":{"format":"pi","version":1,"lines":9},"x":')
  expect(origin(withOriginLines(imported, 7, "was"))).toEqual({ format: "pi", version: 1, lines: 9 })
  expect(origin(withOriginLines(imported, 12, "was"))).toMatchObject({ format: "pi", version: 1, lines: 12 })
})

test("a larger line count settles no branch behind the lines that came from another system", () => {
  const of = (origin: object): unknown =>
    JSON.parse(withOriginLines(LINE.replace('"x":', `"origin":${JSON.stringify(origin)},"x":`), 12, "was")).origin
  expect(of({ format: "pi", lines: 9 })).toEqual({ format: "pi", lines: 12, settled: 9 })
  expect(of({ format: "pi", lines: 9, settled: 5 })).toEqual({ format: "pi", lines: 12, settled: 5 })
  expect(of({ format: "pi" })).toEqual({ format: "pi", lines: 12, settled: 0 })
  expect(of({ format: "pi", lines: 20 })).toEqual({ format: "pi", lines: 20 })
  // Branches of this format leave `leaf` entries.
  expect(of({ format: "@sessions", lines: 9 })).toEqual({ format: "@sessions", lines: 12 })
})

test("the line count changes nothing else in the header", () => {
  const fragile = '{ "type":"session","version":4,"id":"a","n":1e400 }'
  const origin = '"origin":{"format":"@sessions","version":4,"id":"a","lines":7}'
  expect(withOriginLines(fragile, 7, "a")).toBe(`{ "type":"session","version":4,"id":"a","n":1e400,${origin} }`)
  expect(withOriginLines(`{"n":1e400,${origin},"id":"a","type":"session"}`, 9, "a")).toBe(
    `{"n":1e400,${origin.replace("7", "9")},"id":"a","type":"session"}`,
  )
})

test("a session that is deleted between the reads of its head and its header is not found", async () => {
  const storage = createMemoryStorage()
  const deleted: SessionStorage = {
    ...storage,
    async head(id, o) {
      const { first: _, ...head } = (await storage.head(id, o)) ?? {}
      await storage.delete(id)
      return head as Awaited<ReturnType<SessionStorage["head"]>>
    },
  }
  const sessions = sessionsIn(deleted)
  for (const call of [
    () => copySession(sessions, "s", createMemoryStorage()),
    () => mergeSession(sessions, "s", createMemoryStorage()),
    () => verifySession(sessions, "s"),
    () => textOf(exportSession(sessions, "s")),
  ]) {
    await (await sessionsIn(storage).create({ id: "s" })).close()
    expect(await codeOf(call())).toBe("not_found")
  }
})
