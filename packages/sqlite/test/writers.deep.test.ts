/** Several processes that write to one file. */
import { execFile } from "node:child_process"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, onTestFinished, test } from "vitest"
import { linesOf, openAt } from "./helpers.ts"
import { FLAGS } from "../../../.config/program.ts"

const WRITER = fileURLToPath(new URL("writer-process.ts", import.meta.url))

test("of 8 processes with 500 appends each on one session, every append is there once, in its writer's order", async () => {
  const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "sessions-sqlite-writers-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, "sessions.db")
  const names = Array.from({ length: 8 }, (_, n) => `w${n}`)
  const run = (name: string) => promisify(execFile)(process.execPath, [...FLAGS, WRITER, path, "a", name, "500"])
  await Promise.all(names.map(run))
  const lines = (await linesOf(openAt(path), "a")).map((line) => JSON.parse(line) as { name: string; n: number })
  expect(lines).toHaveLength(4000)
  for (const name of names) {
    const own = lines.filter((line) => line.name === name).map(({ n }) => n)
    expect(own).toEqual(Array.from({ length: 500 }, (_, n) => n))
  }
})
