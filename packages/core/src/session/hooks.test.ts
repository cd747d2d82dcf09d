import { compact } from "@sessions/core/compaction"
import { createMemoryLocation } from "@sessions/memory"
import { expect, test } from "vitest"
import {
  codeOf,
  contextTexts,
  createWriter,
  note,
  reopened,
  storedEntries,
  storedIds,
  user,
} from "../../test/writers.ts"
import { soon } from "../../test/soon.ts"
import type { NewEntry } from "../format/new-entry.ts"
import type { Head } from "../storage/contract.ts"
import type { Hooks } from "./hooks.ts"
import { piLogs } from "../transfer/migrate/index.ts"

const textOf = (entry: NewEntry): string =>
  ((entry as { message?: { content?: unknown } }).message?.content as string | undefined) ?? ""

test("append hooks change and reject entries, and are awaited in the order of the appends", async () => {
  const location = createMemoryLocation()
  const order: string[] = []
  const redact: Hooks = {
    append: async (entry) => {
      const text = textOf(entry)
      await new Promise((resolve) => setTimeout(resolve, text === "slow" ? 10 : 0))
      order.push(text)
      if (text === "refuse") throw new RangeError("not this one")
      return text === "secret" ? user("[redacted]") : undefined
    },
  }
  const count: Hooks = { append: (entry) => user(`${textOf(entry)}!`) }
  const { sessions } = createWriter(location, { hooks: [redact, count] })
  const session = await sessions.create({ id: "s" })
  const outcomes = await Promise.allSettled(
    ["slow", "secret", "refuse", "last"].map((text) => session.append(user(text))),
  )
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"])
  expect(order).toEqual(["slow", "secret", "refuse", "last"])
  expect(await contextTexts(await reopened(location))).toEqual(["slow!", "[redacted]!", "last!"])
  expect(JSON.stringify(await storedEntries(location))).not.toContain("secret")
})

test("an abort ends an append whose hook hangs, and the appends behind it go on", async () => {
  const location = createMemoryLocation()
  const stop = new AbortController()
  const hooks: Hooks = {
    append: (entry) => {
      if (textOf(entry) !== "hang") return
      stop.abort("enough")
      return new Promise(() => undefined)
    },
  }
  const session = await createWriter(location, { hooks }).sessions.create({ id: "s" })
  const hung = session.append([user("hang"), user("never asked")], { signal: stop.signal })
  const next = session.append(user("next"))
  await expect(hung).rejects.toMatchObject({ code: "aborted", sent: false, cause: "enough" })
  expect(await soon(next)).not.toBe("still waiting")
  expect(await contextTexts(await reopened(location))).toEqual(["next"])
})

test("if a hook rejects one entry, the whole append is rejected", async () => {
  const location = createMemoryLocation()
  const hooks: Hooks = {
    append: (entry) => {
      if (textOf(entry) === "refuse") throw new RangeError("no")
    },
  }
  const session = await createWriter(location, { hooks }).sessions.create({ id: "s" })
  await expect(session.append([user("a"), user("refuse"), user("b")])).rejects.toThrow("no")
  expect(session.leafId).toBeNull()
  expect(await storedIds(location)).toEqual([])
})

test("changing the object while hooks run changes neither memory nor log", async () => {
  const location = createMemoryLocation()
  const hooks: Hooks = { append: () => new Promise((resolve) => setTimeout(resolve, 5)) }
  const session = await createWriter(location, { hooks }).sessions.create({ id: "s" })
  const entry = { type: "message" as const, id: "a", message: { role: "user" as const, content: "as it was" } }
  const list: NewEntry[] = [entry]
  const appended = session.append(list)
  entry.message.content = "changed"
  list.push(user("more"))
  await appended
  expect(await contextTexts(session)).toEqual(["as it was"])
  expect(await storedIds(location)).toEqual(["a"])
})

test("a branch runs the append hooks and keeps its target", async () => {
  const location = createMemoryLocation()
  const hooks: Hooks = { append: (entry) => ({ ...entry }) }
  const session = await createWriter(location, { hooks }).sessions.create({ id: "s" })
  await session.append([user("a", "a"), user("b", "b")])
  await session.branch("a")
  await session.append(user("c", "c"))
  expect(await contextTexts(await reopened(location))).toEqual(["a", "c"])
})

test("a signal ends the wait for a hook, and the entry is not appended", async () => {
  const location = createMemoryLocation()
  let go = (): void => undefined
  const hooks: Hooks = {
    append: (entry) => (textOf(entry) === "stuck" ? new Promise((resolve) => (go = resolve)) : undefined),
  }
  const session = await createWriter(location, { hooks }).sessions.create({ id: "s" })
  const controller = new AbortController()
  const stuck = codeOf(session.append(user("stuck"), { signal: controller.signal }))
  await new Promise((resolve) => setImmediate(resolve))
  controller.abort()
  expect(await stuck).toBe("aborted")
  const next = session.append(user("next", "n"))
  go()
  await next
  expect(await storedIds(location)).toEqual(["n"])
})

test("close waits for appends whose hooks are still running", async () => {
  const location = createMemoryLocation()
  const hooks: Hooks = { append: () => new Promise((resolve) => setTimeout(resolve, 5)) }
  const session = await createWriter(location, { hooks }).sessions.create({ id: "s" })
  const appended = [session.append(user("a", "a")), session.append(user("b", "b"))]
  await session.close()
  await Promise.all(appended)
  expect(await storedIds(location)).toEqual(["a", "b"])
})

test("appends that wait for a log's migration keep the order of their calls", async () => {
  const location = createMemoryLocation()
  let called = async (): Promise<void> => undefined
  const { storage, sessions } = createWriter(location, {
    readers: [piLogs],
    faulty: { pause: async () => void called() },
  })
  const old = [
    '{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}',
    '{"type":"message","id":"m","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"old"}}',
  ]
  await storage.append("s", old, { expect: 0 })
  const session = await sessions.open("s")
  const ids: string[] = []
  const made: Promise<unknown>[] = []
  const append = (): void => {
    const id = `e${ids.length}`
    ids.push(id)
    made.push(session.append(user(id, id)))
  }
  for (let n = 0; n < 50; n++) append()
  // Once the log is rewritten, each storage call starts some more appends, so that they arrive at every moment of the migration's end.
  const replace = storage.replace?.bind(storage)
  storage.replace = async (...args) => {
    const head = await replace?.(...args)
    called = async () => {
      for (let n = 0; n < 100 && ids.length < 1_000; n++) {
        append()
        await Promise.resolve()
      }
    }
    return head as Head
  }
  for (const one of made) await one
  expect(ids.length).toBeGreaterThan(50)
  expect((await storedIds(location)).filter((id) => id.startsWith("e"))).toEqual(ids)
})

test("the save hook gets the ids after their acknowledgement, batch by batch", async () => {
  const location = createMemoryLocation()
  const saved: unknown[] = []
  const hooks: Hooks = {
    save: ({ session, ids, head }) => saved.push([session, ids, head.next, location.logs.get("s")?.lines.length]),
  }
  const { sessions, storage } = createWriter(location, { hooks })
  const session = await sessions.create({ id: "s" })
  await session.append(user("a", "a"))
  storage.fail("append", "quota")
  await codeOf(session.append(user("lost", "lost")))
  storage.fail("append", "response lost")
  await session.append([user("b", "b"), user("c", "c")])
  await session.append(note("d", "d"))
  expect(saved).toEqual([
    ["s", ["a"], 2, 2],
    ["s", ["b", "c"], 4, 4],
    ["s", ["d"], 5, 5],
  ])
})

test("a save hook or a listener that throws or rejects stops nothing and is reported", async () => {
  const location = createMemoryLocation()
  const throwing: Hooks = {
    save: () => {
      throw new RangeError("save throws")
    },
  }
  const rejecting: Hooks = { save: async () => Promise.reject(new RangeError("save rejects")) }
  const { sessions } = createWriter(location, { hooks: [throwing, rejecting] })
  const session = await sessions.create({ id: "s" })
  const reported: unknown[] = []
  session.on("hook_failed", ({ hook, error }) => reported.push([hook, (error as Error).message]))
  session.on("appended", () => {
    throw new RangeError("listener throws")
  })
  const rejects: (event: unknown) => unknown = async () => Promise.reject(new RangeError("listener rejects"))
  session.on("appended", rejects)
  session.on("hook_failed", () => {
    throw new RangeError("nobody is left to tell")
  })
  await session.append(user("a", "a"))
  await session.append(user("b", "b"))
  expect(await storedIds(location)).toEqual(["a", "b"])
  expect(new Set(reported.map((one) => JSON.stringify(one)))).toEqual(
    new Set(
      [
        ["save", "save throws"],
        ["save", "save rejects"],
        ['on("appended")', "listener throws"],
        ['on("appended")', "listener rejects"],
      ].map((one) => JSON.stringify(one)),
    ),
  )
  expect(reported).toHaveLength(8)
})

test("the appended event has the entries as they are in the log", async () => {
  const location = createMemoryLocation()
  const session = await createWriter(location).sessions.create({ id: "s" })
  const seen: unknown[] = []
  session.on("appended", ({ entries }) => seen.push(...entries))
  await Promise.all([
    session.append([user("a", "a"), user("b", "b")]),
    session.append({ type: "tombstone", targetId: "a" }),
  ])
  expect(seen).toEqual(await storedEntries(location))
})

test("`onHookFailed` hears of each hook that throws or rejects where that has no other effect, and may throw itself", async () => {
  for (const fail of [
    () => {
      throw new Error("bad")
    },
    () => Promise.reject(new Error("bad")),
  ]) {
    const failed: string[] = []
    const { sessions } = createWriter(createMemoryLocation(), {
      hooks: { save: fail, create: fail, delete: fail, compact: { after: fail } },
      onHookFailed(hook) {
        failed.push(hook)
        throw new Error("worse")
      },
    })
    const session = await sessions.create({ id: "s" })
    await session.append([user("one ".repeat(200)), user("two")])
    await compact(session, { summarize: async () => "a summary", keepRecentTokens: 0 })
    await session.close()
    await sessions.delete("s")
    // Of a hook that rejects, once its promise has.
    await new Promise((resolve) => void setImmediate(resolve))
    expect(new Set(failed)).toEqual(new Set(["create", "save", "compact.after", "delete"]))
  }
})
