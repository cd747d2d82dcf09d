/** A type is added to the table, as a later version would, and nothing else is changed. */
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { afterAll, beforeAll, expect, test } from "vitest"
import { codeOf, contextTexts, createWriter, reopened, storedEntries, twoWriters, user } from "../../test/writers.ts"
import { createSessions } from "../session/repository.ts"
import { copySession, forkSession, verifySession } from "../transfer/index.ts"
import type { NewEntry } from "./new-entry.ts"
import { ENTRY_TYPES, type EntryTraits, hasMessage } from "./entry-types.ts"
import { isString, shape } from "./shape.ts"

const ADDED: Readonly<Record<string, EntryTraits>> = {
  comment: { kind: "annotation", hint: { field: "targetSeq", id: "targetId" } },
  headline: { kind: "annotation", lastWriterWins: true },
  chapter: { kind: "boundary", placed: true, small: true },
  remark: { kind: "content" },
}
const table = ENTRY_TYPES as Map<string, unknown>

beforeAll(() => {
  for (const [type, traits] of Object.entries(ADDED)) table.set(type, { ...traits, check: shape({ text: isString }) })
})

afterAll(() => {
  for (const type of Object.keys(ADDED)) table.delete(type)
})

const entry = (type: string, fields: object = {}): NewEntry => ({ type, text: "t", ...fields }) as unknown as NewEntry

test("the fields of an entry of the type are checked, and its name is known", async () => {
  const session = await createWriter().sessions.create()
  await expect(session.append(entry("comment", { text: 1 }))).rejects.toThrow("text must be a string")
  await expect(session.append(entry("comentt"))).rejects.toThrow('"comment"')
  await session.append(entry("comment", { targetId: (await session.append(user("a"))).ids[0] }))
})

test("an entry about another one names its line, and a fork has it only with that one", async () => {
  const location = createMemoryLocation()
  const { sessions } = createWriter(location)
  const session = await sessions.create({ id: "s" })
  await session.append([user("a", "a"), user("b", "b")])
  await session.append(entry("comment", { id: "c", targetId: "b" }))
  expect((await storedEntries(location)).at(-1)).toMatchObject({ id: "c", targetId: "b", targetSeq: 2 })
  const other = await forkSession(sessions, "s", { at: "a", id: "f" })
  expect((await storedEntries(location, other.id)).map(({ id }) => id)).not.toContain("c")
  await session.append(entry("comment", { targetId: "missing" }))
  const { diagnostics } = await verifySession(sessions, "s")
  expect(diagnostics.map(({ code }) => code)).toEqual(["missing_target"])
})

test("content of another writer is a divergence, and annotations and changes are none", async () => {
  for (const type of Object.keys(ADDED)) {
    const { one, two } = await twoWriters({}, [user("a", "a")])
    await one.append(entry(type))
    const { diverged } = await two.append(user("b", "b"))
    expect([type, diverged === undefined]).toEqual([type, !hasMessage(type)])
  }
})

test("of an annotation with a stamp the newest time takes effect, also of a writer whose clock is behind", async () => {
  const location = createMemoryLocation()
  const ahead = createSessions({ storage: createMemoryStorage({ location }), now: () => 2_000_000 })
  await (await ahead.create({ id: "s" })).append(entry("headline"))
  const behind = createSessions({ storage: createMemoryStorage({ location }), now: () => 1_000_000 })
  await (await behind.open("s")).append(entry("headline"))
  const [first, second] = (await storedEntries(location)).map(({ timestamp }) => Date.parse(timestamp))
  expect(second).toBeGreaterThan(first as number)
})

test("an entry that depends on its place is not placed behind another writer's", async () => {
  for (const [type, { placed = false }] of Object.entries(ADDED)) {
    const { one } = await twoWriters({}, [user("a", "a")])
    const code = await codeOf(one.append(entry(type), { onConflict: "rebase" }))
    expect([type, code === "invalid"]).toEqual([type, placed])
  }
})

test("another repository without the type keeps the entries, and merges them", async () => {
  const { location, one } = await twoWriters({}, [user("a", "a")])
  await one.append([entry("comment", { targetId: "a" }), entry("remark"), user("b", "b")])
  const before = await storedEntries(location)
  const target = createMemoryLocation()
  for (const type of Object.keys(ADDED)) table.delete(type)
  const sessions = createSessions({ storage: createMemoryStorage({ location }) })
  await copySession(sessions, "s", createMemoryStorage({ location: target }))
  expect(await storedEntries(target)).toEqual(before)
  expect(await contextTexts(await reopened(target))).toEqual(["a", "b"])
})
