/** What the index in SQLite keeps: nothing that was deleted, nothing for other users; and what it does with damaged and newer files. */
import { appendFileSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { createSessions } from "@sessions/core"
import { connect } from "@sessions/sqlite/driver"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { createSearch } from "../src/index.ts"
import { createSqliteIndex } from "../src/sqlite/index.ts"
import { openWithoutFullText } from "../../sqlite/test/without-full-text.ts"
import { createWorld, say } from "./helpers.ts"
import { HARMS, sqlitePlace } from "./indexes.ts"

let place: ReturnType<typeof sqlitePlace>
beforeEach(() => {
  place = sqlitePlace()
})
afterEach(() => place.remove())

const bytes = (): string =>
  place
    .files()
    .map((file) => readFileSync(file, "latin1"))
    .join("")

test("a SQLite without full-text search is `unsupported`, and the message says which to use", async () => {
  const index = createSqliteIndex({ folder: place.folder, open: openWithoutFullText })
  const search = createSearch({ storage: createMemoryStorage(), index })
  await expect(search.search("word")).rejects.toMatchObject({
    code: "unsupported",
    message: expect.stringContaining("Node before 22.16") as string,
  })
})

describe("the index in SQLite", () => {
  test("has no byte of what was deleted or hidden, once catching up has ended", async () => {
    const { sessions, search, find } = createWorld({ index: place.open() })
    const [kept, gone] = [await sessions.create(), await sessions.create()]
    const secret = await say(kept, "zqtombstoned zqtail")
    const edited = await say(kept, "zqedited")
    for (let count = 0; count < 30; count++) await say(gone, `zqdeleted${count} ${"filler ".repeat(count)}`)
    await say(kept, "zqkept")
    await search.catchUp()
    for (const word of ["zqtombstoned", "zqedited", "zqdeleted7"]) expect(bytes().includes(word), word).toBe(true)
    await kept.tombstone(secret)
    await kept.edit(edited, null)
    await sessions.delete(gone.id)
    await search.catchUp()
    for (const word of ["zqtombstoned", "zqtail", "zqedited", "zqdeleted"])
      expect(bytes().includes(word), word).toBe(false)
    expect(await find("zqkept")).toHaveLength(1)
    expect(bytes().includes("zqkept")).toBe(true)
    await search.close()
  })

  test("says that deleted bytes are left while another process reads an older state, and removes them later", async () => {
    const { sessions, search } = createWorld({ index: place.open() })
    const session = await sessions.create()
    const id = await say(session, "zqsecret")
    await search.catchUp()
    const reader = connect(place.files().find((name) => name.endsWith(".db")) as string)
    reader.exec("BEGIN")
    expect(reader.query("SELECT n FROM log").all()).toHaveLength(1)
    await session.tombstone(id)
    await expect(search.catchUp()).rejects.toMatchObject({ code: "unavailable" })
    expect((await search.search("zqsecret")).hits).toEqual([])
    reader.exec("ROLLBACK")
    reader.close()
    await search.catchUp()
    expect(bytes().includes("zqsecret")).toBe(false)
    await search.close()
  })

  test.runIf(process.platform !== "win32")("can be read by this user alone", async () => {
    const index = createSqliteIndex({ folder: join(place.folder, "search") })
    const { sessions, search } = createWorld({ index })
    await say(await sessions.create(), "word")
    await search.catchUp()
    expect(statSync(join(place.folder, "search")).mode & 0o777).toBe(0o700)
    const files = readdirSync(join(place.folder, "search"))
    expect(files.length).toBeGreaterThan(0)
    for (const file of files) expect(statSync(join(place.folder, "search", file)).mode & 0o777, file).toBe(0o600)
    await search.close()
  })

  test.each(HARMS)("is built again if its files are harmed while it is open (%s)", async (how) => {
    const { sessions, search, find } = createWorld({ index: place.open() })
    const session = await sessions.create()
    const ids = [await say(session, "word one"), await say(session, "word two")]
    expect(await find("word")).toEqual(ids.toReversed())
    await place.harm(how)
    for (const catchUp of ["own", "all"] as const) expect(await find("word", { catchUp })).toEqual(ids.toReversed())
    await search.close()
    const later = createWorld({ index: place.open() })
    expect(await later.find("word")).toEqual([])
    await later.search.close()
  })

  test.each([
    ["a row whose text was changed", "UPDATE entry SET text = '\"another word\"'"],
    ["a row whose entry was changed", "UPDATE entry SET id = '\"x\"'"],
    ["a log whose end was changed", "UPDATE log SET next = next + 1"],
    ["a missing table", "DROP TABLE log"],
    ["missing words", "DROP TABLE word"],
    ["an older version", "PRAGMA user_version = -1"],
    ["tables without a version", "PRAGMA user_version = 0"],
  ])("is built again if it has %s", async (_, sql) => {
    const location = createMemoryLocation()
    const sessions = createSessions({ storage: createMemoryStorage({ location }) })
    const session = await sessions.create()
    const id = await say(session, "word")
    const open = (): ReturnType<typeof createSearch> =>
      createSearch({ storage: createMemoryStorage({ location }), index: place.open() })
    const before = open()
    await before.catchUp()
    await before.close()
    const [file] = place.files() as [string]
    const db = connect(file)
    db.exec(sql)
    db.close()
    const search = open()
    expect((await search.search("word")).hits.map(({ entryId }) => entryId)).toEqual([id])
    await search.close()
    expect(place.files().some((name) => name === file)).toBe(false)
  })

  test("is built again if its file says that SQLite cannot read it", async () => {
    const first = createWorld({ index: place.open() })
    const id = await say(await first.sessions.create(), "word")
    await first.search.catchUp()
    await first.search.close()
    const [file] = place.files() as [string]
    const bytes = readFileSync(file)
    // The number of the format of tables.
    bytes[47] = 0x84
    writeFileSync(file, bytes)
    const search = createSearch({ storage: first.storage, index: place.open() })
    expect((await search.search("word")).hits.map(({ entryId }) => entryId)).toEqual([id])
    await search.close()
  })

  test("is built again by a search that meets damage in the index of words", async () => {
    const first = createWorld({ index: place.open() })
    const id = await say(await first.sessions.create(), "word")
    await first.search.catchUp()
    await first.search.close()
    const [file] = place.files() as [string]
    const db = connect(file)
    // Where the words are: https://sqlite.org/fts5.html#fts5_data_structures.
    const structure = db.query<{ block: Uint8Array }>("SELECT block FROM word_data WHERE id = 10").get()?.block
    db.close()
    const bytes = readFileSync(file)
    const at = bytes.indexOf(structure as Uint8Array)
    bytes.fill(0xff, at, at + (structure as Uint8Array).length)
    writeFileSync(file, bytes)
    const search = createSearch({ storage: first.storage, index: place.open() })
    expect((await search.search("word")).hits.map(({ entryId }) => entryId)).toEqual([id])
    await search.close()
  })

  test("of a newer version is left alone, with an error that says what to do", async () => {
    const first = createWorld({ index: place.open() })
    await first.search.catchUp()
    await first.search.close()
    const [file] = place.files() as [string]
    const db = connect(file)
    db.exec("PRAGMA user_version = 1000")
    db.close()
    const { search } = createWorld({ index: place.open() })
    await expect(search.search("word")).rejects.toMatchObject({
      code: "newer_version",
      message: expect.stringContaining(place.folder),
    })
    await search.close()
    expect(place.files()).toContain(file)
  })

  test("in a folder that cannot be made is `misconfigured`", async () => {
    const file = join(place.folder, "file")
    appendFileSync(file, "text")
    const { search } = createWorld({ index: createSqliteIndex({ folder: join(file, "search") }) })
    await expect(search.search("word")).rejects.toMatchObject({ code: "misconfigured" })
    await search.close()
    expect(() => createSqliteIndex({ folder: "" })).toThrow(expect.objectContaining({ code: "invalid" }))
    expect(() => createSqliteIndex({ folder: "a", path: "b" } as never)).toThrow(
      expect.objectContaining({ code: "invalid" }),
    )
  })

  test("is shared by several searches, which see what the others wrote and removed", async () => {
    const location = createMemoryLocation()
    const sessions = createSessions({ storage: createMemoryStorage({ location }) })
    const open = (): ReturnType<typeof createSearch> =>
      createSearch({ storage: createMemoryStorage({ location }), index: place.open() })
    const searches = [open(), open(), open()]
    const session = await sessions.create()
    for (let round = 0; round < 10; round++) {
      await say(session, `word ${round}`)
      const found = await Promise.all(searches.map((one) => one.search("word", { limit: 200 })))
      for (const { hits } of found) expect(hits).toHaveLength(round + 1)
    }
    await searches[0]?.clear()
    for (const one of searches) expect((await one.search("word", { limit: 200 })).hits).toHaveLength(10)
    for (const one of searches) await one.close()
    expect(place.files()).toHaveLength(1)
  })
})
