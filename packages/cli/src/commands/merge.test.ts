import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createSessions } from "@sessions/core"
import { mergeSession, verifySession } from "@sessions/core/transfer"
import { createFileStorage } from "@sessions/fs"
import { createMemoryStorage } from "@sessions/memory"
import { createSqliteStorage } from "@sessions/sqlite"
import { afterEach, beforeEach, expect, test } from "vitest"
import { createCli } from "../../test/harness.ts"
import { makeSample } from "../../test/sample.ts"

let cwd = ""
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "sessions-merge-"))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

test("merge brings a session of two stores to the same entries and the same title", async () => {
  const cli = createCli({ cwd })
  await cli.use((sessions) => makeSample(sessions, { id: "a" }))
  await cli("merge", "a", "--with", "mem:other")
  await cli("rename", "a", "here")
  await cli("rename", "a", "there", "--store", "mem:other")
  expect(await cli.json("merge", "a", "--with", "mem:other")).toMatchObject({
    id: "a",
    sent: 1,
    received: 1,
    differing: [],
  })
  const shown = async (...store: string[]) =>
    ((await cli.json("list", ...store)) as { sessions: unknown[] }).sessions[0]
  const { title } = (await shown()) as { title?: string }
  expect(await shown("--store", "mem:other")).toMatchObject({ title })
  expect((await cli("merge", "a", "--with", "mem:other")).stdout).toMatch(/sent 0 entries, received 0\n/)
})

test("merge --all merges every session of the store, and names each that it cannot merge", async () => {
  const cli = createCli({ cwd })
  await cli.use((sessions) => makeSample(sessions, { id: "a" }))
  await cli.use((sessions) => makeSample(sessions, { id: "b" }))
  const { exit, stdout } = await cli("merge", "--all", "--with", "mem:other")
  expect({ exit, stdout }).toMatchObject({
    exit: 0,
    stdout: expect.stringMatching(/merged 2 sessions with .*, 0 not merged\n$/),
  })
  await cli("rm", "b", "--yes", "--store", "mem:other")
  const again = await cli("merge", "--all", "--with", "mem:other")
  expect(again.stdout).toMatch(/not merged b {2}not_found .+\nmerged 1 session with .*, 1 not merged\n$/)
  expect(again.exit).toBe(1)
})

test("merge needs either an id or --all, and a store", async () => {
  const cli = createCli({ cwd })
  expect((await cli("merge", "--with", "mem:other")).stderr).toBe("sessions: merge needs either an ID or --all.\n")
  expect((await cli("merge", "--all")).stderr).toBe("sessions: merge needs --with URL, the other store.\n")
})

test("a session in memory, in files and in SQLite is the same after merges in a ring", async () => {
  const stores = [
    createMemoryStorage(),
    createFileStorage({ root: join(cwd, "files") }),
    createSqliteStorage({ path: join(cwd, "s.db") }),
  ]
  const [first, ...others] = stores.map((storage) => createSessions({ storage }))
  const data = btoa("an image ".repeat(200))
  const made = await first?.create({ id: "s" })
  await made?.append({
    type: "message",
    message: { role: "user", content: [{ type: "image", mimeType: "image/png", data }] },
  })
  await made?.close()
  const all = [first as NonNullable<typeof first>, ...others]
  const round = async (): Promise<number> => {
    let moved = 0
    for (const [n, sessions] of all.entries()) {
      const { sent, received } = await mergeSession(
        sessions,
        "s",
        all[(n + 1) % all.length]?.storage as (typeof stores)[number],
      )
      moved += sent + received
    }
    return moved
  }
  await round()
  for (const [n, sessions] of all.entries()) {
    const session = await sessions.open("s")
    await session.append({ type: "message", message: { role: "user", content: `offline ${n}` } })
    await session.title(`title ${n}`)
    await session.close()
  }
  while ((await round()) > 0) continue
  const seen = await Promise.all(
    all.map(async (sessions) => {
      const session = await sessions.open("s")
      const { messages } = await session.context()
      const { title, openTips } = await session.info()
      await session.close()
      expect((await verifySession(sessions, "s")).diagnostics.filter(({ code }) => code !== "diverged")).toEqual([])
      return { messages, title, tips: openTips?.tips.map(({ id }) => id).toSorted() }
    }),
  )
  expect(seen[1]).toEqual(seen[0])
  expect(seen[2]).toEqual(seen[0])
  expect(seen[0]).toMatchObject({ title: "title 2", tips: [expect.any(String), expect.any(String)] })
  expect(seen[0]?.messages[0]?.message.content).toMatchObject([{ data }])
  for (const sessions of all) await sessions.close()
})
