import { createMemoryStorage } from "@sessions/memory"
import { StorageError } from "../storage/errors.ts"
import { expect, test } from "vitest"
import { codeOf, user } from "../../test/writers.ts"
import { createSessions } from "../session/repository.ts"
import { continueRecent, forkSession, getPointer, setPointer } from "./index.ts"

test("a pointer for this cwd opens its session, even if another session is newer", async () => {
  const { sessions } = await three()
  await setPointer(sessions, "p", { session: "older", cwd: "/x" })
  expect((await continueRecent(sessions, { cwd: "/x", pointer: "p" })).id).toBe("older")
})

test("a pointer of another cwd is ignored: the newest session of this cwd opens, and the pointer is set to it", async () => {
  const { sessions } = await three()
  for (const cwd of ["/y", undefined]) {
    await setPointer(sessions, "p", { session: "older", ...(cwd === undefined ? {} : { cwd }) })
    expect((await continueRecent(sessions, { cwd: "/x", pointer: "p" })).id).toBe("newer")
    expect(await getPointer(sessions, "p")).toEqual({ session: "newer", cwd: "/x" })
  }
  expect((await continueRecent(sessions, { cwd: "/x" })).id).toBe("newer")
  await sessions.move("newer", { cwd: "/z" })
  expect((await continueRecent(sessions, { cwd: "/x" })).id).toBe("older")
})

test("an unreachable session is neither replaced by another one nor created again", async () => {
  const { storage } = await three()
  const away = createSessions({
    storage: {
      ...storage,
      head(id, o) {
        if (id === "newer") throw new StorageError("unavailable", "It does not answer.")
        return storage.head(id, o)
      },
      async *list(o) {
        for await (const { info: _, ...row } of storage.list(o)) yield row
      },
      read(id, range, o) {
        if (id === "newer") throw new StorageError("unavailable", "It does not answer.")
        return storage.read(id, range, o)
      },
    },
  })
  expect(await codeOf(continueRecent(away, { cwd: "/x" }))).toBe("unavailable")
  expect((await away.list()).sessions.map(({ id }) => id).toSorted()).toEqual(["elsewhere", "older"])
})

test("a pointer to a missing or invalid session falls back to the newest session", async () => {
  const { sessions, storage } = await three()
  await setPointer(sessions, "p", { session: "older", cwd: "/x" })
  await sessions.delete("older")
  expect((await continueRecent(sessions, { cwd: "/x", pointer: "p" })).id).toBe("newer")
  await storage.append("foreign", ['{"type":"something"}'], { expect: 0 })
  await setPointer(sessions, "p", { session: "foreign", cwd: "/x" })
  expect((await continueRecent(sessions, { cwd: "/x", pointer: "p" })).id).toBe("newer")
})

test("if the cwd has no session, one is created and the pointer is set to it", async () => {
  const { sessions } = await three()
  const session = await continueRecent(sessions, { cwd: "/new", pointer: "p" })
  expect(["older", "newer", "elsewhere"]).not.toContain(session.id)
  expect(session.header.cwd).toBe("/new")
  expect((await continueRecent(sessions, { cwd: "/new", pointer: "p" })).id).toBe(session.id)
  await session.append(user("hello"))
  expect((await continueRecent(sessions, { cwd: "/new" })).id).toBe(session.id)
})

test("an incomplete session is never the most recent one, even if there are many", async () => {
  const { sessions, storage } = await three()
  for (let n = 0; n < 25; n++) {
    const at = `2030-01-01T00:00:${n + 10}.000Z`
    const header = { type: "session", format: "@sessions", version: 4, id: `cut${n}`, timestamp: at, cwd: "/x" }
    const origin = { format: "pi", version: 3, lines: 9 }
    await storage.append(`cut${n}`, [JSON.stringify({ ...header, origin })], { expect: 0 })
  }
  expect((await sessions.list({ cwd: "/x", limit: 1 })).sessions[0]?.incomplete).toBe(true)
  expect((await continueRecent(sessions, { cwd: "/x" })).id).toBe("newer")
})

test("a session with a kind is not the most recent one, unless a pointer names it", async () => {
  const { sessions } = await three()
  for (const cwd of ["/x", "/graphs"]) {
    const session = await sessions.create({ id: `graph${cwd.length}`, cwd, kind: "langgraph" })
    await session.append(user("hello"))
    await session.close()
  }
  expect((await continueRecent(sessions, { cwd: "/x" })).id).toBe("newer")
  const created = await continueRecent(sessions, { cwd: "/graphs" })
  expect(created.header).not.toHaveProperty("kind")
  expect(created.id).not.toBe("graph7")
  await setPointer(sessions, "p", { session: "graph2", cwd: "/x" })
  expect((await continueRecent(sessions, { cwd: "/x", pointer: "p" })).id).toBe("graph2")
})

test("a session of a schedule, an empty one and one that programs alone wrote in are not the most recent one", async () => {
  const { sessions } = await three()
  const synthetic = { type: "message", message: { role: "user", content: "the time is", synthetic: true } } as const
  const cron = await sessions.create({ id: "cron", cwd: "/x", source: "cron" })
  await cron.append(user("nightly report"))
  await sessions.create({ id: "empty", cwd: "/x" })
  const made = await sessions.create({ id: "made", cwd: "/x" })
  await made.append(synthetic)
  expect((await continueRecent(sessions, { cwd: "/x" })).id).toBe("newer")
  const image = await sessions.create({ id: "image", cwd: "/x" })
  const blocks = [{ type: "image", mimeType: "image/png", data: "AA==" }] as const
  await image.append([synthetic, { type: "message", message: { role: "user", content: blocks } }])
  expect((await continueRecent(sessions, { cwd: "/x" })).id).toBe("image")
  expect((await forkSession(sessions, "older", { id: "zz-fork" })).id).toBe("zz-fork")
  await (await sessions.open("zz-fork")).append(user("go on"))
  expect((await continueRecent(sessions, { cwd: "/x" })).id).toBe("zz-fork")
})

test("without a cwd, and without creating, the newest session of all folders is the most recent one", async () => {
  const { sessions } = await three()
  expect((await continueRecent(sessions, { create: false })).id).toBe("elsewhere")
  const wrong = [{}, { create: true }, { create: false, pointer: "p" }, { create: false, cwd: 5 }] as never[]
  for (const o of wrong) expect(await codeOf(continueRecent(sessions, o))).toBe("invalid")
  for (const id of ["older", "newer", "elsewhere"]) await sessions.delete(id)
  expect(await codeOf(continueRecent(sessions, { create: false }))).toBe("not_found")
})

test("a pointer's name is checked before anything is created", async () => {
  const { sessions } = await three()
  expect(await codeOf(continueRecent(sessions, { cwd: "/none", pointer: "../x" }))).toBe("invalid")
  expect((await sessions.list({ cwd: "/none" })).sessions).toEqual([])
})

async function three() {
  let now = Date.UTC(2026, 0, 31)
  const storage = createMemoryStorage({ clock: () => now })
  const sessions = createSessions({ storage, now: () => now })
  for (const [id, cwd] of [
    ["older", "/x"],
    ["newer", "/x"],
    ["elsewhere", "/y"],
  ] as const) {
    now += 1_000
    const session = await sessions.create({ id, cwd })
    await session.append(user("hello"))
    await session.close()
  }
  return { sessions, storage }
}
