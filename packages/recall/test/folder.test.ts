/** Memory in a folder: what is in the way, what an editor does meanwhile, and what a killed writer leaves. */
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { CONSOLIDATION_FILES, type MemoryFiles } from "../src/index.ts"
import { createFolderMemory } from "../src/node/index.ts"
import { folderMemoryOn } from "../src/node/folder.ts"
import { type System, SYSTEM } from "../src/node/system.ts"
import { codeOf, SCOPE } from "./helpers.ts"

let root = ""
let folder = ""
let files: MemoryFiles
beforeEach(() => {
  root = fs.mkdtempSync(join(tmpdir(), "sessions-recall-folder-"))
  folder = join(root, "memory")
  files = createFolderMemory(folder).of(SCOPE)
})
afterEach(() => fs.rmSync(root, { recursive: true }))

function contents(): Record<string, string> {
  return Object.fromEntries(fs.readdirSync(folder).map((name) => [name, fs.readFileSync(join(folder, name), "utf8")]))
}

test("files are plain Markdown with the mode 0600, in a folder with 0700; consolidation's begin with a dot", async () => {
  await files.write("MEMORY.md", "# Notes\n", { expect: null })
  await files.write(CONSOLIDATION_FILES.state, "{}", { expect: null })
  await files.write(CONSOLIDATION_FILES.lock, "1", { expect: null })
  expect(contents()).toEqual({
    ".scope": SCOPE,
    "MEMORY.md": "# Notes\n",
    ".consolidation_state.json": "{}",
    ".consolidation_lock": "1",
  })
  for (const name of fs.readdirSync(folder)) expect(fs.statSync(join(folder, name)).mode & 0o777).toBe(0o600)
  expect(fs.statSync(folder).mode & 0o777).toBe(0o700)
})

test("files that people made are read and listed as they are; other names are left alone", async () => {
  fs.mkdirSync(folder)
  fs.writeFileSync(join(folder, "MEMORY.md"), "by hand")
  fs.writeFileSync(join(folder, "notes of mine.md"), "x")
  fs.mkdirSync(join(folder, "folder.md"))
  fs.symlinkSync("/etc/passwd", join(folder, "link.md"))
  expect(await files.list()).toEqual(["MEMORY.md"])
  const file = await files.read("MEMORY.md")
  expect(file?.text).toBe("by hand")
  await files.write("MEMORY.md", "by hand, and more", { expect: file?.version ?? null })
  expect(fs.readFileSync(join(folder, "notes of mine.md"), "utf8")).toBe("x")
})

test("a link, a folder and a pipe in the place of a file are refused, and what a link leads to is untouched", async () => {
  fs.mkdirSync(join(folder, "folder.md"), { recursive: true })
  const outside = join(root, "outside.md")
  fs.writeFileSync(outside, "outside")
  fs.symlinkSync(outside, join(folder, "link.md"))
  for (const name of ["folder.md", "link.md"]) {
    expect(await files.read(name).catch(codeOf)).toBe("misconfigured")
    expect(await files.write(name, "x", { expect: null }).catch(codeOf)).toBe("misconfigured")
  }
  expect(fs.readFileSync(outside, "utf8")).toBe("outside")
})

test("the folder itself may be a link", async () => {
  fs.mkdirSync(join(root, "real"))
  fs.symlinkSync(join(root, "real"), folder)
  await files.write("MEMORY.md", "x", { expect: null })
  expect(fs.readFileSync(join(root, "real", "MEMORY.md"), "utf8")).toBe("x")
})

test("a file that is not UTF-8 is `corrupt` and stays as it is", async () => {
  fs.mkdirSync(folder)
  fs.writeFileSync(join(folder, "MEMORY.md"), Buffer.from([0x67, 0xfc, 0x6e]))
  expect(await files.read("MEMORY.md").catch(codeOf)).toBe("corrupt")
  expect(await files.write("MEMORY.md", "x", { expect: null }).catch(codeOf)).toBe("conflict")
  expect([...fs.readFileSync(join(folder, "MEMORY.md"))]).toEqual([0x67, 0xfc, 0x6e])
})

/** Calls `before` before each call of the file system, with its number. */
function stepping(before: (step: number, name: keyof System) => void): System {
  let step = 0
  const wrapped = Object.entries(SYSTEM).map(([name, call]) => [
    name,
    (...args: unknown[]) => {
      if (typeof call !== "function") return call
      before(step++, name as keyof System)
      return (call as (...args: unknown[]) => unknown)(...args)
    },
  ])
  return Object.fromEntries(wrapped) as System
}

test("what an editor saves at any step up to the last comparison stays, and the write is refused", async () => {
  const version = await files.write("MEMORY.md", "before", { expect: null })
  const steps: string[] = []
  const counted = folderMemoryOn(
    stepping((_, name) => steps.push(name)),
    folder,
  ).of(SCOPE)
  const second = await counted.write("MEMORY.md", "agent", { expect: version })
  await files.write("MEMORY.md", "before", { expect: second })
  const last = steps.lastIndexOf("readFileSync")
  expect(steps.slice(last)).toEqual(["readFileSync", "closeSync", "renameSync", "openSync", "fsyncSync", "closeSync"])
  for (let at = 0; at <= last; at++) {
    fs.writeFileSync(join(folder, "MEMORY.md"), "before")
    const edits = (step: number): void => {
      if (step === at) fs.writeFileSync(join(folder, "MEMORY.md"), `edit ${at}`)
    }
    const racing = folderMemoryOn(stepping(edits), folder).of(SCOPE)
    expect(await racing.write("MEMORY.md", "agent", { expect: version }).catch(codeOf), `step ${at}`).toBe("conflict")
    expect(fs.readFileSync(join(folder, "MEMORY.md"), "utf8")).toBe(`edit ${at}`)
  }
  expect(fs.readdirSync(folder).sort()).toEqual([".scope", "MEMORY.md"])
})

test("a writer that fails at any step leaves the old file or the new one, and the next write clears up", async () => {
  for (let at = 0, isDone = false; !isDone; at++) {
    fs.rmSync(folder, { recursive: true, force: true })
    const version = await files.write("MEMORY.md", "old", { expect: null })
    const fails = (step: number): void => {
      // Everything from there on, as after the end of the process.
      if (step >= at) throw new Error("killed")
    }
    const killed = folderMemoryOn(stepping(fails), folder).of(SCOPE)
    isDone = await killed.write("MEMORY.md", "new", { expect: version }).then(
      () => true,
      () => false,
    )
    const found = await files.read("MEMORY.md")
    expect(["old", "new"]).toContain(found?.text)
    await files.write("MEMORY.md", "next", { expect: found?.version ?? null })
    expect(fs.readdirSync(folder).sort()).toEqual([".scope", "MEMORY.md"])
  }
})
