import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { StorageError } from "@sessions/core/storage"
import { afterEach, beforeEach, expect, test } from "vitest"
import { holdInFile } from "./index.ts"

let folder = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sessions-hold-test-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test("held lines come back as they were, whatever their length and characters", async () => {
  const file = holdInFile(folder)
  const hold = file.hold()
  const lines = ["a", "", "\uFEFFé€😀", "x".repeat(200_000), "é".repeat(65_536), "\u2028", "z"]
  const many = Array.from({ length: 3_000 }, (_, i) => `${lines[i % lines.length]?.slice(0, 90)}${i}`)
  for (const line of [...lines, ...many]) hold.push(line)
  const back: string[] = []
  for await (const some of hold.lines()) back.push(...some)
  expect(back).toEqual([...lines, ...many])
  file[Symbol.dispose]()
})

test("the file is made when it is needed, only its user may read it, and the disposal removes it", () => {
  const file = holdInFile(folder)
  expect(readdirSync(folder)).toEqual([])
  file.hold().push("secret")
  const [name = ""] = readdirSync(folder)
  if (process.platform !== "win32") {
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o700)
    expect(statSync(join(folder, name, "lines")).mode & 0o777).toBe(0o600)
  }
  file[Symbol.dispose]()
  expect(existsSync(join(folder, name))).toBe(false)
})

test("a folder in which no file can be made is an error with a code and the folder", () => {
  const missing = join(folder, "missing")
  const file = holdInFile(missing)
  expect(() => file.hold()).toThrow(StorageError)
  expect(() => file.hold()).toThrow(missing)
  file[Symbol.dispose]()
})
