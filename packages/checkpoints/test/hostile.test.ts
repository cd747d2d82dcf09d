/** Paths and links that lead out of the folder: the outside stays as it is, whatever the moment at which a link appears. */
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { WorkFiles } from "../src/index.ts"
import { type System, SYSTEM } from "../src/node/system.ts"
import { workFilesOn } from "../src/node/work-files.ts"
import { createWorkspace, filesBelow } from "./helpers.ts"

let base: string
let root: string
let outside: string
const BYTES = new TextEncoder().encode("new bytes")

beforeEach(() => {
  base = fs.mkdtempSync(join(tmpdir(), "sessions-hostile-"))
  root = join(base, "root")
  outside = join(base, "outside")
  for (const folder of [join(root, "folder"), outside]) {
    fs.mkdirSync(folder, { recursive: true })
    fs.writeFileSync(join(folder, "file"), folder === outside ? "secret" : "inside")
  }
})

afterEach(() => fs.rmSync(base, { recursive: true, force: true }))

test.each([
  "../outside/file",
  "folder/../../outside/file",
  "/etc/passwd",
  "C:\\x",
  "C:/x",
  "\\\\host\\x",
  "a\0b",
  "",
  ".",
  "a\ud800",
])("the path %j is invalid", async (path) => {
  using w = await createWorkspace()
  await w.begin()
  await expect(w.checkpoints.track(path)).rejects.toMatchObject({ code: "invalid" })
  const files = workFilesOn(SYSTEM, root)
  for (const call of [files.stat(path), files.read(path), files.write(path, BYTES), files.remove(path)])
    await expect(call).rejects.toMatchObject({ code: "invalid" })
  expect(w.files()).toEqual({})
})

test("links, folders and devices are not tracked, and a rewind leaves them alone", async () => {
  using w = await createWorkspace()
  fs.symlinkSync(outside, join(w.root, "linked"))
  fs.symlinkSync(join(outside, "file"), join(w.root, "link"))
  fs.mkdirSync(join(w.root, "folder"))
  const message = await w.begin()
  const paths = ["folder", "link", "linked/file"]
  for (const path of paths) expect(await w.checkpoints.track(path)).toEqual({ tracked: false, reason: "not_a_file" })
  const skipped = paths.map((path) => ({ path, reason: "not_a_file" }))
  expect(await w.checkpoints.rewind(message)).toMatchObject({ skipped, restored: [], removed: [], failed: [] })
  expect(fs.readFileSync(join(outside, "file"), "utf8")).toBe("secret")
})

test("a tracked file whose place a link took is left alone", async () => {
  using w = await createWorkspace()
  w.write("folder/a", "a0")
  const message = await w.begin()
  await w.edit("folder/a", "a1")
  await w.edit("new", "n1")
  fs.rmSync(join(w.root, "folder"), { recursive: true })
  fs.symlinkSync(outside, join(w.root, "folder"))
  fs.rmSync(join(w.root, "new"))
  fs.symlinkSync(join(outside, "file"), join(w.root, "new"))
  const { restored, removed, skipped } = await w.checkpoints.rewind(message)
  expect({ restored, removed }).toEqual({ restored: [], removed: [] })
  expect(skipped.map(({ path }) => path).sort()).toEqual(["folder/a", "new"])
  expect(filesBelow(outside)).toEqual({ file: btoa("secret") })
})

test("an error of the file system names the file, and no number of an open folder", async () => {
  const path = join("folder", "a".repeat(300))
  const real = fs.realpathSync(root)
  const files = workFilesOn(SYSTEM, root)
  for (const call of [files.read(path), files.write(path, BYTES), files.remove(path)]) {
    const message = `ENAMETOOLONG: name too long, lstat '${join(real, path)}'`
    await expect(call).rejects.toMatchObject({ code: "ENAMETOOLONG", message })
  }
})

test("a document with a path that leads out of the folder is refused", async () => {
  using w = await createWorkspace()
  const message = await w.begin()
  for await (const key of w.storage.docs.list(`sessions/${w.session.id}/checkpoint.`)) {
    const { text, version: expect } = (await w.storage.docs.get(key)) as { text: string; version: string }
    const files = '"files":{"../outside/file":{"blob":null,"bytes":0}}'
    await w.storage.docs.put(key, text.replace('"files":{}', files), { expect })
  }
  await w.restart()
  await expect(w.checkpoints.rewind(message)).rejects.toMatchObject({ code: "corrupt" })
})

/** The calls of each operation, and what swaps the folder for a link to the outside before one of them. */
const OPERATIONS: Readonly<Record<string, (files: WorkFiles) => Promise<unknown>>> = {
  "write of a file": (files) => files.write("folder/file", BYTES, { mode: 0o600 }),
  "write of a new file": (files) => files.write("folder/new/file", BYTES),
  "write in the place of a folder": (files) => files.write("folder/empty", BYTES),
  remove: (files) => files.remove("folder/file"),
  read: (files) => files.read("folder/file"),
}

describe.each(Object.entries(OPERATIONS))("%s", (name, operation) => {
  test.runIf(process.platform === "linux")("a link swapped in at any step leads nowhere", async () => {
    const { steps, outcomes } = await swapAtEachStep(operation, SYSTEM)
    expect(steps).toBeGreaterThan(2)
    for (const { after, found } of outcomes) expect({ after, found }).toEqual({ after, found: undefined })
  })

  test("elsewhere, it leads nowhere unless it appears between the last check and the change", async () => {
    // Without the paths of descriptors, as on systems other than Linux.
    const statSync = (() => {
      throw new Error("There is no /proc.")
    }) as unknown as System["statSync"]
    const { outcomes } = await swapAtEachStep(operation, { ...SYSTEM, statSync })
    const harmed = outcomes.filter(({ found }) => found !== undefined)
    // `unlink` and `rmdir` are the last calls after their check; a write ends with a rename of a file that is inside.
    const unprotected = name === "remove" ? ["unlinkSync"] : name.endsWith("of a folder") ? ["rmdirSync"] : []
    expect(harmed.every(({ after }) => unprotected.includes(after))).toBe(true)
  })
})

interface SwapOutcome {
  /** The call before which the folder was swapped. */
  readonly after: string
  /** What harm was done outside, or what was read from there. */
  readonly found: unknown
}

/** Repeats the operation, each time swapping the folder before another one of its calls, until it has no more calls. */
async function swapAtEachStep(
  operation: (files: WorkFiles) => Promise<unknown>,
  system: System,
): Promise<{ steps: number; outcomes: SwapOutcome[] }> {
  const outcomes: SwapOutcome[] = []
  for (let step = 0; ; step++) {
    fs.rmSync(root, { recursive: true })
    fs.rmSync(outside, { recursive: true })
    for (const folder of [join(root, "folder"), outside]) {
      fs.mkdirSync(join(folder, "empty", "inner"), { recursive: true })
      fs.mkdirSync(join(folder, "new"))
      fs.writeFileSync(join(folder, "file"), folder === outside ? "secret" : "inside")
    }
    let calls = 0
    let swapped: string | undefined
    const before = (call: string): void => {
      if (calls++ !== step) return
      swapped = call
      fs.renameSync(join(root, "folder"), join(root, "aside"))
      fs.symlinkSync(outside, join(root, "folder"))
    }
    const result = await operation(workFilesOn(withHook(system, before), root)).catch(() => undefined)
    if (swapped === undefined) return { steps: step, outcomes }
    const read = result instanceof Uint8Array ? new TextDecoder().decode(result) : undefined
    const names = (fs.readdirSync(outside, { recursive: true }) as string[]).sort((a, b) => (a < b ? -1 : 1))
    const isWhole = names.join() === "empty,empty/inner,file,new"
    const file = isWhole ? fs.readFileSync(join(outside, "file"), "utf8") : "gone"
    const found = read === "secret" ? read : isWhole && file === "secret" ? undefined : fs.readdirSync(outside)
    outcomes.push({ after: swapped, found })
  }
}

function withHook(system: System, before: (call: string) => void): System {
  const hooked = Object.entries(system).map(([name, call]) => {
    const run = (...args: unknown[]): unknown => {
      before(name)
      return (call as (...args: unknown[]) => unknown)(...args)
    }
    return [name, typeof call === "function" ? run : call]
  })
  return Object.fromEntries(hooked) as System
}
