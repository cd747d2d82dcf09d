/** Searches that need the index of words: behind so many newer prompts that these are not looked at one by one. */
import { createMemoryHistory, type PromptHistory } from "@sessions/history"
import { transaction } from "@sessions/sqlite/driver"
import { array, assert, asyncProperty, constantFrom, integer, nat, tuple } from "fast-check"
import { expect, test } from "vitest"
import { normalize } from "../src/words.ts"
import { prompts } from "./cases.ts"
import { connectTo, newPath, openAt } from "./files.ts"

/** More than a search looks at without the index. */
const NEWER = 4_100

/** Adds to several histories alike; consecutive prompts differ. */
async function fill(histories: readonly PromptHistory[], prompts: Iterable<string>, cwd?: string): Promise<void> {
  for (const prompt of prompts) {
    for (const history of histories) history.add(prompt, cwd === undefined ? {} : { cwd })
  }
  await Promise.all(histories.map((history) => history.flush()))
}

function* newer(word: string): Generator<string> {
  for (let n = 0; n < NEWER; n++) yield `${word} x${n}`
}

test("words, parts of words, signs and operators find old prompts as they find new ones", async () => {
  const path = newPath()
  const old = [
    "fix the Café AND",
    "fix app.ts",
    "fixture",
    "say 'a' \"b\"",
    "日本語 テスト",
    "ΛΌΓΟΣ",
    "foo_bar",
    "fix fix",
  ]
  const [sqlite, memory] = [openAt(path), createMemoryHistory()]
  await fill([sqlite, memory], old)
  await fill([sqlite, memory], newer("later"))
  const texts = [
    "fix",
    "fi the",
    "cafe",
    "and",
    "app.ts",
    "app ts",
    "fixt",
    "'a'",
    '"a" "b"',
    "日本",
    "本",
    "λόγος",
    "bar",
    "fix x",
  ]
  for (const text of [
    ...texts,
    "AND OR NOT",
    "fix*",
    "^fix",
    "prompt:fix",
    "f",
    "later fix",
    "later x77",
    "x4099",
    "fix -a",
  ]) {
    expect({ text, found: await prompts(sqlite.search(text)) }).toEqual({
      text,
      found: await prompts(memory.search(text)),
    })
  }
})

test("a frequent word together with a rare one, and frequent words that are seldom together, find old prompts", async () => {
  const [sqlite, memory] = [openAt(newPath()), createMemoryHistory()]
  const histories = [sqlite, memory]
  await fill(histories, ["please test zebra", "please zebra", "test all please", "please test x1"])
  await fill(
    histories,
    Array.from({ length: 9_000 }, (_, n) => `${n % 2 === 0 ? "please" : "test"} ${n}`),
  )
  for (const text of ["please test zebra", "please zebra", "test please", "plea tes", "please 7"]) {
    expect({ text, found: await prompts(sqlite.search(text)) }).toEqual({
      text,
      found: await prompts(memory.search(text)),
    })
  }
})

test("a search of one folder finds its old prompts, whether few or many", async () => {
  const [sqlite, memory] = [openAt(newPath()), createMemoryHistory()]
  const histories = [sqlite, memory]
  await fill(histories, ["deploy one", "deploy two"], "/few")
  await fill(histories, ["deploy three", "zebra four"], "/many")
  await fill(histories, newer("deploy"), "/other")
  await fill(histories, newer("later"), "/many")
  for (const [text, cwd] of [
    ["dep", "/few"],
    ["two", "/few"],
    ["dep", "/many"],
    ["zebra", "/many"],
    ["four deploy", "/many"],
  ]) {
    const o = { cwd: cwd as string }
    expect({ text, cwd, found: await prompts(sqlite.search(text as string, o)) }).toEqual({
      text,
      cwd,
      found: await prompts(memory.search(text as string, o)),
    })
  }
})

test("a search stops looking at long prompts one by one, and takes them from the index", async () => {
  const [sqlite, memory] = [openAt(newPath()), createMemoryHistory()]
  await fill([sqlite, memory], ["zebra one", "zebra two"])
  await fill(
    [sqlite, memory],
    Array.from({ length: 12 }, (_, n) => `${n} ${"long ".repeat(20_000)}`),
  )
  for (const text of ["zebra", "zeb one", "long", "3 long"]) {
    expect(await prompts(sqlite.search(text))).toEqual(await prompts(memory.search(text)))
  }
})

const WORD = constantFrom(
  "fix",
  "fixture",
  "Fix",
  "a",
  "ab",
  "b.c",
  "b",
  "c",
  "é",
  "e",
  "über",
  "9",
  "10",
  "_x",
  "日本",
  "AND",
  '"',
  "*",
)
const TEXT = array(WORD, { minLength: 1, maxLength: 5 }).map((words) => words.join(" "))

test("old prompts are found exactly as a history in memory finds them", async () => {
  await assert(
    asyncProperty(
      array(TEXT, { minLength: 1, maxLength: 60 }),
      array(tuple(TEXT, integer({ min: 1, max: 8 })), { minLength: 5, maxLength: 15 }),
      nat(59),
      async (texts, searches, gone) => {
        const [sqlite, memory] = [openAt(newPath()), createMemoryHistory()]
        await fill([sqlite, memory], texts)
        await fill([sqlite, memory], newer("later"))
        for (const history of [sqlite, memory]) await history.delete(gone + 1)
        for (const [text, limit] of searches) {
          expect(await sqlite.search(text, { limit })).toMatchObject(
            (await memory.search(text, { limit })).map(({ prompt, id }) => ({ prompt, id })),
          )
        }
        await sqlite.close()
      },
    ),
    { numRuns: Number(process.env["FC_RUNS"] ?? 3), ...(process.env["SEED"] && { seed: Number(process.env["SEED"]) }) },
  )
})

/** Code points of the scripts that most people write in, where SQLite's Unicode 6.1 and the runtime's version agree. */
const RANGES = [
  [0x20, 0x17e],
  [0x386, 0x3ce],
  [0x400, 0x481],
  [0x5d0, 0x5ea],
  [0x620, 0x669],
  [0x904, 0x96f],
  [0xe01, 0xe5b],
  [0x1e00, 0x1e9a],
  [0x1ea0, 0x1ef9],
  [0x2000, 0x2064],
  [0x2190, 0x23f3],
  [0x3001, 0x30ff],
  [0x4e00, 0x4eff],
  [0xac00, 0xacff],
  [0xff01, 0xff5e],
  [0x1f300, 0x1f320],
  [0x300, 0x331],
] as const

test("the words of a text are those that the index has, for each letter and sign", () => {
  const db = connectTo(newPath())
  db.exec("CREATE VIRTUAL TABLE t USING fts5(x); CREATE VIRTUAL TABLE v USING fts5vocab(t, instance)")
  const points = RANGES.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, n) => from + n)).filter(
    (point) => !/\p{Cn}/u.test(String.fromCodePoint(point)),
  )
  transaction(db, () => {
    for (const point of points)
      db.run("INSERT INTO t (rowid, x) VALUES (?, ?)", point, `x${String.fromCodePoint(point)}y`)
  })
  const words = new Map<number, string[]>()
  for (const { doc, term } of db
    .query<{ doc: number; term: string }>("SELECT doc, term FROM v ORDER BY doc, offset")
    .all())
    words.set(doc, [...(words.get(doc) ?? []), term])
  const differing = points.filter((point) => {
    const own = normalize(`x${String.fromCodePoint(point)}y`).trim()
    return own !== words.get(point)?.join(" ")
  })
  expect(differing.map((point) => point.toString(16))).toEqual([])
})
