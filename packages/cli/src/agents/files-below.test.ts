/** Links, pipes, and folders with names of files. */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { filesBelow } from "./files-below.ts"

const MKFIFO = "mkfifo"

let root = ""
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "sessions-files-below-"))
  mkdirSync(join(root, "folder"))
  writeFileSync(join(root, "folder", "a.jsonl"), "")
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

test.skipIf(process.platform === "win32")("a folder is read once, also if a link in it leads back to it", async () => {
  symlinkSync("..", join(root, "folder", "up"))
  expect(await filesBelow(root)).toEqual(["folder/a.jsonl"])
})

test.skipIf(process.platform === "win32")("pipes and folders are no files, whatever their names", async () => {
  execFileSync(MKFIFO, [join(root, "folder", "pipe.jsonl")])
  mkdirSync(join(root, "folder", "b.jsonl"))
  expect(await filesBelow(root)).toEqual(["folder/a.jsonl"])
})
