/** A disk that fails once, at any step of anything: what is refused has not happened, and what comes next works. */
import * as fs from "node:fs"
import { join } from "node:path"
import type { Head, SessionStorage } from "@sessions/core/storage"
import { expect, test } from "vitest"
import { isChange, systemError } from "./faulty-files.ts"
import { chunked, fill, lineAt, linesOf, linesTo, makeRoot, openAt } from "./helpers.ts"

/** What a folder says of session `a` and of its document. */
interface State {
  readonly lines: readonly string[]
  readonly doc: string | undefined
}

interface Change {
  readonly name: string
  readonly before: State
  readonly after: State
  readonly run: (storage: SessionStorage, head: Head) => Promise<unknown>
}

const NEW = ["new 0", "new 1"]
const changes: readonly Change[] = [
  {
    name: "an append",
    before: { lines: linesTo(2), doc: "text" },
    after: { lines: linesTo(4), doc: "text" },
    run: (storage, head) => storage.append("a", [lineAt(2), lineAt(3)], { expect: head }),
  },
  {
    name: "an append that begins a part",
    before: { lines: linesTo(5), doc: "text" },
    after: { lines: linesTo(7), doc: "text" },
    run: (storage, head) => storage.append("a", [lineAt(5), lineAt(6)], { expect: head }),
  },
  {
    name: "a creation",
    before: { lines: [], doc: undefined },
    after: { lines: linesTo(3), doc: undefined },
    run: (storage) => storage.append("a", linesTo(3), { expect: 0 }),
  },
  {
    name: "a creation beside a document",
    before: { lines: [], doc: "text" },
    after: { lines: linesTo(3), doc: "text" },
    run: (storage) => storage.append("a", linesTo(3), { expect: 0 }),
  },
  {
    name: "a replace",
    before: { lines: linesTo(8), doc: "text" },
    after: { lines: NEW, doc: "text" },
    run: async (storage, head) => storage.replace?.("a", chunked(NEW), { expect: head }),
  },
  {
    name: "a deletion",
    before: { lines: linesTo(8), doc: "text" },
    after: { lines: [], doc: undefined },
    run: (storage) => storage.delete("a"),
  },
  {
    name: "a change of a document",
    before: { lines: linesTo(2), doc: "text" },
    after: { lines: linesTo(2), doc: "other" },
    run: async ({ docs }) =>
      docs.put("sessions/a/d", "other", { expect: (await docs.get("sessions/a/d"))?.version ?? null }),
  },
  {
    name: "the deletion of a document",
    before: { lines: linesTo(2), doc: "text" },
    after: { lines: linesTo(2), doc: undefined },
    run: async ({ docs }) => docs.delete("sessions/a/d", { expect: (await docs.get("sessions/a/d"))?.version ?? "" }),
  },
]

for (const durability of ["os", "disk"] as const) {
  for (const { name, before, after, run } of changes) {
    test(`durability ${durability}: ${name} on a disk that fails at any step has happened, or not, as it says`, async () => {
      const codes = new Set<string>()
      let step = 0
      for (let failed = true; failed; step++) {
        const root = makeRoot()
        await prepare(root, before)
        const { storage, files } = openAt(root, { durability, maxPartBytes: 130 })
        const head = await headOf(storage)
        let left = step
        let failing = ""
        failed = false
        files.fault = (call, proceed) => {
          if (failed || !isChange(call) || left-- > 0) return proceed()
          failed = true
          failing = `${call.op} ${call.path.slice(root.length)}`
          throw systemError(step % 2 === 0 ? "EIO" : "ENOSPC")
        }
        const code = await run(storage, head).then(
          () => "done",
          (error: unknown) => String((error as { code?: string }).code),
        )
        files.fault = undefined
        codes.add(code)
        const state = await stateOf(openAt(root).storage)
        const possible = code === "done" ? [after] : code === "indeterminate" ? [before, after] : [before]
        expect(possible, `step ${step}, ${failing}: ${code}`).toContainEqual(state)
        expect(["done", "unavailable", "quota", "indeterminate"]).toContain(code)
        await goOn(storage, state)
      }
      expect(step).toBeGreaterThan(name.includes("append") ? 1 : 3)
      expect(codes.size).toBeGreaterThan(1)
    })
  }
}

test("durability disk: a failed sync takes the information along, and cuts no further than what was safe before", async () => {
  const root = makeRoot()
  const { storage, files } = openAt(root, { durability: "disk" })
  const first = await storage.append("a", linesTo(2), { expect: 0 })
  const head = await storage.append("a", [lineAt(2)], { expect: first, info: "of three" })
  let cut: number | undefined
  const size = fs.statSync(join(root, "a", "session.jsonl")).size
  files.fault = ({ op, path }, proceed) => {
    if (op === "truncate") {
      const outcome = proceed()
      cut = fs.statSync(path).size
      files.fault = undefined
      return outcome
    }
    return op === "fdatasync" && cut === undefined ? Promise.reject(systemError("EIO")) : proceed()
  }
  await expect(storage.append("a", [lineAt(3)], { expect: head, info: "of four" })).rejects.toMatchObject({
    code: "unavailable",
  })
  expect(cut).toBe(size)
  expect(await storage.head("a")).toMatchObject({ next: 3, info: { text: "of three", next: 3 } })
})

test("durability disk: what another writer left unsynced is synced before the first append behind it", async () => {
  const root = makeRoot()
  const head = await fill(openAt(root).storage, "a", 3)
  const { storage, files } = openAt(root, { durability: "disk" })
  const steps: string[] = []
  files.fault = ({ op, path }, proceed) => {
    if (path.endsWith(".jsonl") && (op === "write" || op === "fdatasync")) steps.push(op)
    return proceed()
  }
  await storage.append("a", [lineAt(3)], { expect: head })
  files.fault = undefined
  expect(steps).toEqual(["fdatasync", "write", "fdatasync"])
})

async function prepare(root: string, { lines, doc }: State): Promise<void> {
  const { storage } = openAt(root, { maxPartBytes: 130 })
  if (lines.length > 0) await fill(storage, "a", lines.length)
  if (doc !== undefined) await storage.docs.put("sessions/a/d", doc, { expect: null })
  await storage[Symbol.asyncDispose]()
}

async function stateOf(storage: SessionStorage): Promise<State> {
  const doc = await storage.docs.get("sessions/a/d")
  return { lines: await linesOf(storage, "a"), doc: doc?.text }
}

/** The same storage object goes on as if nothing had happened. */
async function goOn(storage: SessionStorage, { lines, doc }: State): Promise<void> {
  await storage.append("a", ["on"], { expect: lines.length === 0 ? 0 : await headOf(storage) })
  const version = (await storage.docs.get("sessions/a/d"))?.version ?? null
  await storage.docs.put("sessions/a/d", `${doc} on`, { expect: version })
  expect(await stateOf(storage)).toEqual({ lines: [...lines, "on"], doc: `${doc} on` })
}

async function headOf(storage: SessionStorage): Promise<Head> {
  const info = await storage.head("a")
  return { next: info?.next ?? 0, log: info?.log ?? "" }
}
