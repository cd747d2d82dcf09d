/** A storage that stays open remembers parts, ends and rows. Whatever others do meanwhile, it answers as one that was just made. */
import * as fs from "node:fs"
import { join } from "node:path"
import type { Head, HeadInfo, ListRow, SessionStorage } from "@sessions/core/storage"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { chunked, linesOf, makeRoot, openAt } from "./helpers.ts"
import { runs } from "../../../.config/runs.ts"

const PART = { maxPartBytes: 900 }
/** Longer than what a checksum covers, and the same for all lines, so that checksums alone tell little. */
const TAIL = "z".repeat(80)

type Action = (place: Place) => Promise<unknown> | void

interface Place {
  readonly folder: string
  readonly aside: string
  readonly writers: readonly SessionStorage[]
}

const appendBy =
  (writer: number, sizes: readonly number[]): Action =>
  async ({ writers }) => {
    const storage = writers[writer] as SessionStorage
    const lines = sizes.map((size) => "x".repeat(size) + TAIL)
    await storage.append("a", lines, { expect: await headOf(storage), info: sizes.join() })
  }

const appends = fc
  .tuple(fc.nat(1), fc.array(fc.constantFrom(0, 10, 20, 100), { minLength: 1, maxLength: 3 }))
  .map(([writer, sizes]) => ({ name: `append ${sizes.join()} by ${writer}`, act: appendBy(writer, sizes) }))

const others: Readonly<Record<string, Action>> = {
  delete: ({ writers }) => writers[0]?.delete("a"),
  replace: async ({ writers }) => {
    const expected = await headOf(writers[1] as SessionStorage)
    if (expected !== 0) await writers[1]?.replace?.("a", chunked(["one", TAIL], ["three"]), { expect: expected })
  },
  copy: ({ folder, aside }) => {
    fs.rmSync(aside, { recursive: true, force: true })
    if (fs.existsSync(folder)) fs.cpSync(folder, aside, { recursive: true, preserveTimestamps: true })
  },
  "put the copy back": ({ folder, aside }) => {
    if (!fs.existsSync(aside)) return
    fs.rmSync(folder, { recursive: true, force: true })
    fs.cpSync(aside, folder, { recursive: true, preserveTimestamps: true })
  },
  "put back what follows the log": ({ folder, aside }) => {
    const [from, to] = [join(aside, "metadata.json"), join(folder, "metadata.json")]
    if (fs.existsSync(from) && fs.existsSync(folder)) fs.cpSync(from, to, { preserveTimestamps: true })
  },
  "remove what follows the log": ({ folder }) => fs.rmSync(join(folder, "metadata.json"), { force: true }),
  "make the folder look old": ({ folder }) => {
    if (fs.existsSync(folder)) fs.utimesSync(folder, 1_000_000, 1_000_000)
  },
  "make all look old": ({ folder }) => {
    for (const name of fs.existsSync(folder) ? ["", ...fs.readdirSync(folder)] : []) {
      fs.utimesSync(join(folder, name), 1_000_000, 1_000_000)
    }
  },
}

/**
 * Deno 2.9 gives the time of a change (`ctimeMs`) in whole seconds. There a folder whose time is set back to the same value twice within a
 * second looks unchanged, so nothing sets it back.
 */
const isCoarse = "Deno" in globalThis
const possible = Object.entries(others).filter(([name]) => !isCoarse || !name.endsWith("look old"))

const actions = fc.oneof(appends, fc.constantFrom(...possible.map(([name, act]) => ({ name, act }))))

test("a storage that stays open answers as one that was just made, whatever is written, copied and put back meanwhile", async () => {
  const property = fc.asyncProperty(fc.array(actions, { minLength: 8, maxLength: 20 }), async (steps) => {
    const root = makeRoot()
    const writers = [openAt(root, PART).storage, openAt(root, PART).storage]
    const reader = openAt(root, PART).storage
    const place = { folder: join(root, "a"), aside: join(root, ".aside"), writers }
    for (const { name, act } of steps) {
      await act(place)
      await nextTick(root)
      expect(await answers(reader), name).toEqual(await answers(openAt(root, PART).storage))
    }
    await Promise.all([reader, ...writers].map((storage) => storage[Symbol.asyncDispose]()))
  })
  await fc.assert(property, { numRuns: runs(10) })
})

/** Everything that a reader can ask, where a listing says what `head` says; `info` aside, which follows the log, and may come between two readers. */
async function answers(storage: SessionStorage): Promise<unknown> {
  const rows: unknown[] = []
  for await (const row of storage.list()) rows.push(withoutInfo(row))
  const head = withoutInfo(await storage.head("a"))
  expect(rows).toEqual(head === undefined ? [] : [{ id: "a", ...head }])
  const ranges = [{}, { maxBytes: 50 }, { from: 3, to: 6 }]
  return { rows, head, lines: await Promise.all(ranges.map((range) => linesOf(storage, "a", range))) }
}

function withoutInfo(head: HeadInfo | ListRow | undefined): object | undefined {
  if (head === undefined) return undefined
  const { info: _, ...rest } = head
  return rest
}

async function headOf(storage: SessionStorage): Promise<Head | 0> {
  const head = await storage.head("a")
  return head === undefined ? 0 : { next: head.next, log: head.log }
}

/** Until the system's clock for files has moved on: what changes twice within one step of it looks the same. */
async function nextTick(root: string): Promise<void> {
  const path = join(root, ".clock")
  fs.writeFileSync(path, "")
  const before = fs.statSync(path).mtimeMs
  await expect.poll(() => (fs.writeFileSync(path, ""), fs.statSync(path).mtimeMs), { interval: 2 }).not.toBe(before)
}
