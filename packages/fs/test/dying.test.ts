/** A process that ends before any step of anything: another one finds what was before, or what comes after, and can go on. */
import { join } from "node:path"
import type { Head, SessionStorage } from "@sessions/core/storage"
import { expect, test } from "vitest"
import { dead, type FaultyFiles, isChange } from "./faulty-files.ts"
import { chunked, fill, lineAt, linesOf, linesTo, makeRoot, openAt } from "./helpers.ts"
import { killOwners } from "./subject.ts"

test("a process that dies anywhere in a creation leaves no session or a whole one, and the place can be used", async () => {
  const steps = await atEachStep(
    async (root, fault) => {
      const { storage, files } = openAt(root)
      fault(files)
      return storage.append("a", linesTo(3), { expect: 0 })
    },
    async (storage) => {
      const lines = await linesOf(storage, "a")
      expect([0, 3]).toContain(lines.length)
      const head = lines.length === 0 ? await storage.append("a", linesTo(3), { expect: 0 }) : await headOf(storage)
      await storage.append("a", [lineAt(3)], { expect: head })
      expect(await linesOf(storage, "a")).toEqual(linesTo(4))
    },
  )
  expect(steps).toBeGreaterThan(3)
})

test("a process that dies anywhere in a replace leaves the old log or the new one, with its documents", async () => {
  const after: string[] = []
  const steps = await atEachStep(
    async (root, fault) => {
      const { storage, files } = openAt(root, { maxPartBytes: 100 })
      const head = await fill(storage, "a", 6)
      await storage.docs.put("sessions/a/d", "mine", { expect: null })
      fault(files)
      await storage.replace?.("a", chunked(["new 0", "new 1"], ["new 2"]), { expect: head })
    },
    async (storage) => {
      const lines = await linesOf(storage, "a")
      after.push(lines[0] ?? "nothing")
      expect([linesTo(6), ["new 0", "new 1", "new 2"]]).toContainEqual(lines)
      const ids: string[] = []
      for await (const row of storage.list()) ids.push(row.id)
      for await (const key of storage.docs.list("sessions/a/")) ids.push(key)
      expect(ids).toEqual(["a", "sessions/a/d"])
      expect((await storage.docs.get("sessions/a/d"))?.text).toBe("mine")
      await storage.docs.put("sessions/a/e", "new", { expect: null })
      await storage.append("a", ["on"], { expect: await headOf(storage) })
      expect(await linesOf(storage, "a")).toEqual([...lines, "on"])
    },
  )
  expect(steps).toBeGreaterThan(3)
  expect(new Set(after)).toEqual(new Set([lineAt(0), "new 0"]))
})

test("a process that dies anywhere in rolling a part loses no acknowledged line", async () => {
  const steps = await atEachStep(
    async (root, fault) => {
      const { storage, files } = openAt(root, { maxPartBytes: 100 })
      const head = await fill(storage, "a", 5)
      fault(files)
      await storage.append("a", [lineAt(5)], { expect: head })
    },
    async (storage) => {
      const lines = await linesOf(storage, "a")
      expect([linesTo(5), linesTo(6)]).toContainEqual(lines)
      await storage.append("a", ["on"], { expect: await headOf(storage) })
      expect(await linesOf(storage, "a")).toEqual([...lines, "on"])
    },
  )
  expect(steps).toBeGreaterThan(3)
})

test("a process that dies anywhere in a deletion leaves the session whole or gone", async () => {
  const steps = await atEachStep(
    async (root, fault) => {
      const { storage, files } = openAt(root)
      await fill(storage, "a", 4)
      await storage.docs.put("sessions/a/d", "mine", { expect: null })
      fault(files)
      await storage.delete("a")
    },
    async (storage) => {
      const lines = await linesOf(storage, "a")
      expect([linesTo(4), []]).toContainEqual(lines)
      expect((await storage.docs.get("sessions/a/d")) === undefined).toBe(lines.length === 0)
    },
  )
  expect(steps).toBeGreaterThan(3)
})

test("a process that dies anywhere in writing a document leaves the old text or the new one", async () => {
  const steps = await atEachStep(
    async (root, fault) => {
      const { storage, files } = openAt(root)
      const version = await storage.docs.put("pointers", "old", { expect: null })
      fault(files)
      await storage.docs.put("pointers", "new", { expect: version })
    },
    async (storage) => {
      const doc = await storage.docs.get("pointers")
      expect(["old", "new"]).toContain(doc?.text)
      await storage.docs.put("pointers", "newer", { expect: doc?.version ?? null })
    },
  )
  expect(steps).toBeGreaterThan(3)
})

async function headOf(storage: SessionStorage): Promise<Head> {
  const info = await storage.head("a")
  return { next: info?.next ?? 0, log: info?.log ?? "" }
}

/** Runs the work as often as it has steps, which it gives, the process ending before another one each time; then looks with a new storage. */
async function atEachStep(
  work: (root: string, fault: (files: FaultyFiles) => void) => Promise<unknown>,
  look: (storage: SessionStorage) => Promise<void>,
): Promise<number> {
  for (let step = 0; ; step++) {
    const root = makeRoot()
    let taken = 0
    let died = (): void => undefined
    const death = new Promise<void>((resolve) => {
      died = resolve
    })
    const done = work(root, (files) => {
      files.fault = (call, proceed) => {
        if (!isChange(call) && call.op !== "open") return proceed()
        if (taken++ < step) return proceed()
        files.fault = dead()
        died()
        return files.fault(call, proceed)
      }
    }).then(
      () => "done" as const,
      () => "failed" as const,
    )
    const end = await Promise.race([done, death.then(() => "died" as const)])
    killOwners(join(root, ".locks"))
    await look(openAt(root).storage)
    if (end === "done") return step
  }
}
