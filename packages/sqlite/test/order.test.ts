/** The order of the list, whose index is not written by each append. */
import type { Chunk, Head, ListRow, SessionStorage } from "@sessions/core/storage"
import type { SqliteDatabase } from "@sessions/sqlite"
import { expect, onTestFinished, test, vi } from "vitest"
import { createConnection } from "../src/driver/connection.ts"
import { upgrade, UPGRADES } from "../src/schema.ts"
import { connectTo, fill, lineAt, linesOf, newPath, openAt, openWithCommits } from "./helpers.ts"

/** Sets the clock of this process. */
function setClock(): (now: number) => void {
  let time = 0
  const clock = vi.spyOn(Date, "now").mockImplementation(() => time)
  onTestFinished(() => clock.mockRestore())
  return (now) => (time = now)
}

async function rowsOf(storage: SessionStorage): Promise<ListRow[]> {
  const rows: ListRow[] = []
  for await (const row of storage.list()) rows.push(row)
  return rows
}

async function* chunkOf(line: string): AsyncGenerator<Chunk> {
  yield { from: 0, lines: [line] }
}

async function timesOf(storage: SessionStorage): Promise<(readonly [id: string, updatedAt: unknown])[]> {
  return (await rowsOf(storage)).map((row) => [row.id, row.updatedAt])
}

/** Random whole numbers below `most`, the same for the same seed. */
function dice(seed: number): (most: number) => number {
  let state = seed
  return (most) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * most)
  }
}

const seed = Number(process.env["SEED"] ?? Date.now() % 2 ** 31)
const STEPS = 600

test("the list is newest first after each append, deletion and replacement, also while the clock goes back", async () => {
  console.info(`SEED=${seed}`)
  const random = dice(seed)
  const setTime = setClock()
  const path = newPath()
  const storages = [openAt(path), openAt(path)] as const
  const expected = new Map<string, number>()
  let now = 1_000_000
  for (let step = 0; step < STEPS; step++) {
    // Mostly forwards: a clock that falls behind all sessions changes no order.
    now += [0, 0, 1, 2, 5, 5, -1, -4][random(8)] as number
    setTime(now)
    const storage = storages[random(2)] as SessionStorage
    // Half of the appends are to one session.
    const id = `s${random(2) === 0 ? random(4) : 0}`
    const what = random(20)
    const head = await storage.head(id)
    if (what === 0) {
      await storage.delete(id)
      expected.delete(id)
    } else if (what < 4 && head !== undefined) {
      await storage.replace?.(id, chunkOf(lineAt(step)), { expect: head })
      expected.set(id, Math.max(now, expected.get(id) ?? 0))
    } else {
      await storage.append(id, [lineAt(step)], { expect: head ?? 0 })
      expected.set(id, Math.max(now, expected.get(id) ?? 0))
    }
    const newestFirst = [...expected].sort(([a, x], [b, y]) => y - x || (a < b ? 1 : -1))
    expect(await timesOf(storage), `SEED=${seed}, step ${step}`).toEqual(newestFirst)
  }
})

test("an append to the first session of the list does not write the index of the list", async () => {
  const setTime = setClock()
  const path = newPath()
  const storage = openAt(path)
  setTime(1_000)
  const head = await fill(storage, "a", 1)
  setTime(2_000)
  await storage.append("a", [lineAt(1)], { expect: head })
  expect(await storage.head("a")).toMatchObject({ updatedAt: 2_000 })
  // The index has `updated_at`.
  expect(connectTo(path).prepare("SELECT updated_at FROM session").all()).toMatchObject([{ updated_at: 1_000 }])
})

test("a session that is created or replaced after the clock went back is listed after one with a later time", async () => {
  const setTime = setClock()
  const storage = openAt(newPath())
  setTime(1_000)
  await fill(storage, "a", 1)
  const b = await fill(storage, "b", 1)
  setTime(2_000)
  await storage.append("b", [lineAt(1)], { expect: b })
  setTime(1_500)
  await storage.replace?.("a", chunkOf("1"), { expect: (await storage.head("a")) as Head })
  expect(await timesOf(storage)).toEqual([
    ["b", 2_000],
    ["a", 1_500],
  ])
  await fill(storage, "c", 1)
  expect(await timesOf(storage)).toEqual([
    ["b", 2_000],
    ["c", 1_500],
    ["a", 1_500],
  ])
})

test("an append whose commit fails leaves the order as it was", async () => {
  const setTime = setClock()
  const path = newPath()
  let fails = false
  const storage = openAt(path, { open: (at) => failing(at, () => fails) })
  setTime(10)
  const b = await fill(storage, "b", 1)
  setTime(20)
  const a = await fill(storage, "a", 1)
  setTime(30)
  for (const [id, head] of [["a", a] as const, ["b", b] as const]) {
    fails = true
    await expect(storage.append(id, ["x"], { expect: head })).rejects.toMatchObject({ code: "quota" })
    fails = false
    expect(await timesOf(storage)).toEqual([
      ["a", 20],
      ["b", 10],
    ])
  }
  // The append that failed was to `b`, which is not the first.
  await storage.append("b", ["x"], { expect: b })
  expect(await timesOf(storage)).toEqual([
    ["b", 30],
    ["a", 20],
  ])
})

/** A file whose commits fail before they are executed while `fails` says so. */
function failing(path: string, fails: () => boolean): SqliteDatabase {
  return openWithCommits(path, (commit) => {
    if (fails()) throw Object.assign(new Error("database is full"), { errcode: 13, errno: 13 })
    return commit()
  })
}

test("a file of version 1 keeps its order and its lines, and its sessions move up", async () => {
  const setTime = setClock()
  const path = newPath()
  const old = openVersion1(path)
  for (const [id, time] of [["a", 20] as const, ["b", 30] as const, ["c", 10] as const]) old.create(id, time)
  old.db.exec("INSERT INTO session (log, next, bytes, updated_at) VALUES ('deleted', 1, 3, 40)")
  const storage = openAt(path)
  expect((await rowsOf(storage)).map(({ id }) => id)).toEqual(["b", "a", "c"])
  expect(await linesOf(storage, "c")).toEqual(["00"])
  setTime(25)
  await storage.append("c", ["21"], { expect: { next: 1, log: "log" } })
  expect((await rowsOf(storage)).map(({ id }) => id)).toEqual(["b", "c", "a"])
  expect(await linesOf(storage, "c")).toEqual(["00", "21"])
})

test("a process of version 1 that has the file open goes on beside one of this version: both have the same order", async () => {
  const setTime = setClock()
  const path = newPath()
  const old = openVersion1(path)
  old.create("a", 10)
  old.create("b", 20)
  const storage = openAt(path)
  expect(await timesOf(storage)).toEqual([
    ["b", 20],
    ["a", 10],
  ])
  setTime(30)
  const head = await storage.append("b", ["11"], { expect: { next: 1, log: "log" } })
  setTime(40)
  await storage.append("b", ["12"], { expect: head })
  old.append("a", { next: 1, now: 50 })
  old.create("c", 60)
  expect(await timesOf(storage)).toEqual([
    ["c", 60],
    ["a", 50],
    ["b", 40],
  ])
  expect(old.ids()).toEqual(["c", "a", "b"])
  old.append("b", { next: 3, now: 70 })
  setTime(80)
  await storage.append("a", ["11"], { expect: { next: 2, log: "log" } })
  expect(await timesOf(storage)).toEqual([
    ["a", 80],
    ["b", 70],
    ["c", 60],
  ])
  expect(old.ids()).toEqual(["a", "b", "c"])
  expect(await linesOf(storage, "b")).toEqual(["00", "11", "12", "old"])
  // Its clock is behind: no time is lost.
  old.append("a", { next: 3, now: 75 })
  expect((await storage.head("a"))?.updatedAt).toBe(80)
})

test("a file whose version a process of version 1 has set back can be opened, and has its version again", async () => {
  const path = newPath()
  const storage = openAt(path)
  await fill(storage, "a", 2)
  const other = connectTo(path)
  // As the `sync` of version 1 does.
  other.exec("PRAGMA user_version = 1")
  expect(await linesOf(openAt(path), "a")).toHaveLength(2)
  expect(other.prepare("PRAGMA user_version").get()).toEqual({ user_version: UPGRADES.length })
  expect(await linesOf(storage, "a")).toHaveLength(2)
})

test("a sync keeps the version to which a newer process has led the file", async () => {
  const path = newPath()
  const storage = openAt(path)
  await fill(storage, "a", 1)
  const other = connectTo(path)
  other.exec("PRAGMA user_version = 99")
  await storage.sync?.("a")
  expect(other.prepare("PRAGMA user_version").get()).toEqual({ user_version: 99 })
})

interface Version1 {
  readonly db: SqliteDatabase
  readonly create: (id: string, now: number) => void
  readonly append: (id: string, o: { readonly next: number; readonly now: number }) => void
  readonly ids: () => unknown[]
}

/** A connection of version 1 of this package, with its statements, compiled before the file is upgraded. */
function openVersion1(path: string): Version1 {
  const db = connectTo(path)
  db.exec("PRAGMA journal_mode = WAL")
  upgrade(createConnection(db), UPGRADES.slice(0, 1))
  const create = db.prepare(`INSERT INTO session (id, log, next, bytes, updated_at, info, info_next)
    VALUES (?, 'log', 1, 3, ?, NULL, NULL) ON CONFLICT DO NOTHING RETURNING n`)
  const grow = db.prepare(`UPDATE session SET next = ?, bytes = bytes + ?, updated_at = max(updated_at, ?),
    info = coalesce(?, info), info_next = coalesce(?, info_next)
    WHERE id = ? AND log = 'log' AND next = ? AND bytes >= 2 * next RETURNING n`)
  const insert = db.prepare("INSERT INTO batch (n, seq, lines, bytes, append, body) VALUES (?, ?, 1, ?, 'x', ?)")
  const list = db.prepare("SELECT id FROM session WHERE id IS NOT NULL ORDER BY updated_at DESC, id DESC LIMIT ?")
  const write = (row: unknown, seq: number, line: string): void => {
    insert.run((row as { n: number }).n, seq, line.length, new TextEncoder().encode(line))
  }
  return {
    db,
    create: (id, now) => write(create.get(id, now), 0, "00\n"),
    append: (id, { next, now }) => write(grow.get(next + 1, 4, now, null, null, id, next), next, "old\n"),
    ids: () => list.all(-1).map((row) => (row as { id: string }).id),
  }
}
