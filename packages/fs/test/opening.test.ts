/** What looking at a log costs in operations on files, and that nothing is missed by looking less. */
import * as fs from "node:fs"
import { join } from "node:path"
import { createSessions } from "@sessions/core"
import { compact } from "@sessions/core/compaction"
import type { SessionStorage } from "@sessions/core/storage"
import { describe, expect, test, vi } from "vitest"
import { bytesOf, chunked, fill, lineAt, linesOf, linesTo, makeRoot, type Opened, openAt } from "./helpers.ts"

const PART = { maxPartBytes: 20_000 }

test("a log in many parts is opened by looking into the last one: each of the others costs one look at its size", async () => {
  const costs: number[] = []
  for (const lines of [60, 212]) {
    const root = await filled(lines)
    makeOld(root)
    const parts = fs.readdirSync(join(root, "a")).filter((name) => name.endsWith(".jsonl")).length
    const opened = openAt(root, PART)
    const calls = countCalls(opened)
    expect(await opened.storage.head("a")).toMatchObject({ next: lines })
    expect(await linesOf(opened.storage, "a", { from: 0, to: 1 })).toEqual([lineAt(0, 1_000)])
    const last = linesTo(lines, 1_000).slice(-3)
    expect(await linesOf(opened.storage, "a", { maxBytes: bytesOf(last) })).toEqual(last)
    expect(calls.filter((call) => call.startsWith("open") && call.endsWith(".jsonl")).length).toBe(3)
    expect(calls.filter((call) => call.endsWith(".marks"))).toEqual([])
    costs.push(calls.length - parts)
    expect(calls.length - parts).toBeLessThan(40)
  }
  expect(costs[0]).toBe(costs[1])
})

describe("opening a compacted session of several parts and its context", () => {
  test("trusts metadata of these very files: it lists no folder, and opens the metadata, the first part and the last", async () => {
    const { root, id } = await compacted()
    // File times of the last 100 ms prove nothing.
    vi.spyOn(Date, "now").mockReturnValue(Date.now() + 60_000)
    try {
      const count = await countsOfOpening(root, id)
      expect(count("readdir")).toBe(0)
      expect(count("open")).toBe(3)
      // One of them looks at the root, once per storage object.
      expect(count("lstat", "fstat")).toBeLessThanOrEqual(17)
    } finally {
      vi.restoreAllMocks()
    }
  })

  test("reads the folder once if its files are others, such as a copy that was put back", async () => {
    const { root, id } = await compacted()
    makeOld(root, id)
    const count = await countsOfOpening(root, id)
    expect(count("readdir")).toBe(1)
    expect(count("open")).toBeLessThanOrEqual(5)
    expect(count("lstat", "fstat")).toBeLessThanOrEqual(24)
  })

  async function compacted(): Promise<{ root: string; id: string }> {
    const root = makeRoot()
    const writing = createSessions({ storage: openAt(root, PART).storage })
    const session = await writing.create()
    for (let turn = 0; turn < 60; turn++) {
      await session.append({ type: "message", message: { role: "user", content: "x".repeat(1_000) } })
    }
    await compact(session, { summarize: () => Promise.resolve("Goal: go on."), keepRecentTokens: 1_000 })
    await writing.close()
    return { root, id: session.id }
  }

  async function countsOfOpening(root: string, id: string): Promise<(...ops: string[]) => number> {
    const opened = openAt(root, PART)
    const calls = countCalls(opened)
    const context = await (await createSessions({ storage: opened.storage }).open(id)).context()
    expect(context.messages.length).toBeGreaterThan(2)
    return (...ops) => calls.filter((call) => ops.includes(call.split(" ")[0] ?? "")).length
  }
})

test("a log whose folder stands still is read without listing its parts or reading its identity again", async () => {
  const { root, ...opened } = await still(60)
  const { storage } = opened
  const calls = countCalls(opened)
  for (const last of [1, 2, 3]) {
    calls.length = 0
    const lines = linesTo(60, 1_000).slice(-last)
    expect(await linesOf(storage, "a", { maxBytes: bytesOf(lines) })).toEqual(lines)
    expect(calls).not.toContain(`readdir ${join(root, "a")}`)
    expect(calls).not.toContain(`open ${join(root, "a", "log.id")}`)
    expect(calls.length).toBeLessThan(20)
  }
})

test("a log that was copied in without its identity is identified once for each read, however many parts it has", async () => {
  const opens = async (lines: number): Promise<number> => {
    const root = await filled(lines)
    fs.rmSync(join(root, "a", "log.id"))
    makeOld(root)
    const opened = openAt(root, PART)
    const calls = countCalls(opened)
    expect(await linesOf(opened.storage, "a")).toEqual(linesTo(lines, 1_000))
    return calls.filter((call) => call === `open ${join(root, "a", "log.id")}`).length
  }
  expect(await opens(212)).toBe(await opens(60))
})

test.each<readonly [string, (other: SessionStorage, root: string) => Promise<readonly string[]>]>([
  [
    "grows",
    async (other) => {
      await append(other, 1)
      return linesTo(61, 1_000)
    },
  ],
  [
    "grows by several parts",
    async (other) => {
      await append(other, 60)
      return linesTo(120, 1_000)
    },
  ],
  [
    "is deleted and made anew",
    async (other) => {
      await other.delete("a")
      await fill(other, "a", 60, 1_000)
      return linesTo(60, 1_000)
    },
  ],
  [
    "is replaced",
    async (other) => {
      const { next, log } = (await other.head("a")) ?? { next: 0, log: "" }
      await other.replace?.("a", chunked(["one", "two"]), { expect: { next, log } })
      return ["one", "two"]
    },
  ],
  [
    "loses its last line to a hand with an editor",
    async (_, root) => {
      const last = fs.readdirSync(join(root, "a")).filter((name) => name.endsWith(".jsonl"))
      const path = join(root, "a", last.sort((a, b) => partOf(a) - partOf(b)).at(-1) ?? "")
      fs.truncateSync(path, fs.statSync(path).size - lineAt(59, 1_000).length - 1)
      return linesTo(59, 1_000)
    },
  ],
])("a log that stood still for long and %s is read as it is now", async (_, change) => {
  const { storage, root } = await still(60)
  expect(await linesOf(storage, "a")).toEqual(linesTo(60, 1_000))
  const other = openAt(root, PART).storage
  const expected = await change(other, root)
  expect(await storage.head("a")).toMatchObject({ next: expected.length })
  expect(await linesOf(storage, "a")).toEqual(expected)
  expect(await storage.head("a")).toEqual(await openAt(root, PART).storage.head("a"))
})

test.each([
  ["is older than its files", 0, "another writer"],
  ["stands still", 1_000_000_500, "its own writer"],
] as const)("where the time of a folder %s, a log that grows by parts is read whole", async (_, time, who) => {
  const root = await filled(10)
  makeOld(root)
  const { storage, files } = openAt(root, PART)
  files.fault = ({ op, path }, proceed) => {
    const outcome = proceed()
    const isFolder = op === "lstat" && path === join(root, "a") && outcome !== undefined
    return isFolder ? Object.assign(outcome as object, { mtimeMs: time, ctimeMs: time }) : outcome
  }
  expect(await linesOf(storage, "a")).toEqual(linesTo(10, 1_000))
  await append(who === "its own writer" ? storage : openAt(root, PART).storage, 50)
  expect(await linesOf(storage, "a")).toEqual(linesTo(60, 1_000))
  files.fault = undefined
})

test("a part that has other bytes than were kept of it is counted: lines of a late writer behind its end are void", async () => {
  const root = await filled(60)
  const before = await openAt(root, PART).storage.head("a")
  fs.appendFileSync(join(root, "a", "session.jsonl"), `${lineAt(1_000)}\n`)
  const { storage } = openAt(root, PART)
  expect(await storage.head("a")).toEqual(before)
  expect(await linesOf(storage, "a")).toEqual(linesTo(60, 1_000))
})

test("sizes that were kept of another log, or of parts that ended elsewhere, are not believed", async () => {
  const root = await filled(60)
  const before = await openAt(root, PART).storage.head("a")
  const path = join(root, "a", "metadata.json")
  const kept = JSON.parse(fs.readFileSync(path, "utf8")) as { parts: { from: number }[] }
  const late = join(root, "a", "session.jsonl")
  fs.appendFileSync(late, `${lineAt(1_000)}\n`)
  const bytes = fs.statSync(late).size
  const [first, second, ...rest] = kept.parts
  for (const wrong of [
    { ...kept, log: "another", parts: [{ ...first, bytes }, second, ...rest] },
    { ...kept, parts: [{ ...first, bytes }, ...rest] },
  ]) {
    fs.writeFileSync(path, JSON.stringify(wrong))
    const { storage } = openAt(root, PART)
    expect({ ...(await storage.head("a")), info: undefined }).toEqual({ ...before, info: undefined })
    expect(await linesOf(storage, "a")).toEqual(linesTo(60, 1_000))
  }
})

test("the end that was kept is believed only where the bytes before it are the same, and what was appended since is counted on", async () => {
  const root = await filled(50)
  const path = join(root, "a", "metadata.json")
  const early = fs.readFileSync(path)
  const last = join(root, "a", "session_part3.38.jsonl")
  const whole = fs.readFileSync(last)
  expect(JSON.parse(early.toString())).toMatchObject({ next: 50, check: expect.any(Number) as number })

  await append(openAt(root, PART).storage, 5)
  fs.writeFileSync(path, early)
  expect(await linesOf(openAt(root, PART).storage, "a")).toEqual(linesTo(55, 1_000))
  expect(await openAt(root, PART).storage.head("a")).toMatchObject({ next: 55 })

  const lines = [...linesTo(44, 1_000).slice(38), "short"]
  fs.writeFileSync(last, `${lines.join("\n")}\n${"y".repeat(whole.length - lines.join("\n").length - 2)}\n`)
  expect(fs.statSync(last).size).toBe(whole.length)
  fs.writeFileSync(path, early)
  const { storage } = openAt(root, PART)
  expect(await storage.head("a")).toMatchObject({ next: 46 })
  await append(storage, 1)
  expect((await linesOf(storage, "a")).length).toBe(47)
})

test("nothing is appended to a part whose lines were changed by hand, but for its end", async () => {
  const root = await filled(50)
  const last = join(root, "a", "session_part3.38.jsonl")
  const text = fs.readFileSync(last, "utf8")
  fs.writeFileSync(last, text.replace("\n", " "))
  const { storage } = openAt(root, PART)
  await expect(append(storage, 1)).rejects.toMatchObject({
    code: "corrupt",
    message: expect.stringContaining("metadata.json") as string,
  })
  expect(fs.readFileSync(last, "utf8")).toBe(text.replace("\n", " "))
  await storage[Symbol.asyncDispose]()
  fs.rmSync(join(root, "a", "metadata.json"))
  const again = openAt(root, PART).storage
  await append(again, 1)
  expect(await again.head("a")).toMatchObject({ next: 50 })
})

async function filled(lines: number): Promise<string> {
  const root = makeRoot()
  const { storage } = openAt(root, PART)
  await fill(storage, "a", lines, 1_000)
  await storage[Symbol.asyncDispose]()
  return root
}

/** A storage that has looked at a log which nobody had touched for long. */
async function still(lines: number): Promise<Opened & { readonly root: string }> {
  const root = await filled(lines)
  makeOld(root)
  const opened = openAt(root, PART)
  await opened.storage.head("a")
  return { ...opened, root }
}

/** Time stamps of now may not tell whether something has changed since. */
function makeOld(root: string, session = "a"): void {
  for (const name of ["", ...fs.readdirSync(join(root, session))]) {
    fs.utimesSync(join(root, session, name), 1_000_000, 1_000_000)
  }
}

function countCalls({ files }: Opened): string[] {
  const calls: string[] = []
  files.fault = ({ op, path }, proceed) => {
    calls.push(`${op} ${path}`)
    return proceed()
  }
  return calls
}

async function append(storage: SessionStorage, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const { next, log } = (await storage.head("a")) ?? { next: 0, log: "" }
    await storage.append("a", [lineAt(next, 1_000)], { expect: { next, log } })
  }
}

function partOf(name: string): number {
  return Number(/part(\d+)/.exec(name)?.[1] ?? 1)
}
