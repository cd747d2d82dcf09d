/** Folders for tests, which are deleted after the tests of a file. */
import { mkdtempSync } from "node:fs"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"

const folders: string[] = []
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "langgraph-"))
  folders.push(folder)
  return folder
}
