import { execFile } from "node:child_process"
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, beforeEach, expect, test } from "vitest"
import { FLAGS } from "../../.config/program.ts"

const program = fileURLToPath(new URL("main.ts", import.meta.url))

let cwd = ""
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "resume-after-crash-"))
})
afterEach(() => rm(cwd, { recursive: true, force: true }))

function start(...args: string[]): Promise<string> {
  const { INIT_CWD: _, NODE_OPTIONS: __, ...env } = process.env
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [...FLAGS, program, ...args], { cwd, env }, (error, stdout, stderr) => {
      if (error === null && stderr === "") resolve(stdout)
      else reject(new Error(`${stdout}\n${stderr}`))
    })
  })
}

async function countSessions(): Promise<number> {
  return (await readdir(join(cwd, ".sessions"))).filter((name) => !name.startsWith(".")).length
}

/** One key and one id for all, since each run has its own. */
function withoutIds(text: string): string {
  return text.replaceAll(/\b[0-9a-f]{32}\b/g, "KEY").replaceAll(/\b[0-9A-Z]{26}\b/g, "ID")
}

test("a killed charge is settled by the next process, as the README shows it, and a second run adds a session", async () => {
  const first = await start()
  const readme = await readFile(new URL("README.md", import.meta.url), "utf8")
  const [, shown = ""] = /^```text\n([^]*?)^```$/m.exec(readme) ?? []
  const pieces = shown.split(/^ *…\n/m)
  expect(pieces.length).toBeGreaterThan(1)
  for (const piece of pieces) expect(withoutIds(first)).toContain(piece.replaceAll("…", "KEY"))
  expect(new Set(first.match(/\b[0-9a-f]{32}\b/g)).size).toBe(1)
  expect(first).toMatch(/about [\d,]+ tokens before, \d+ after/)
  expect(first).toMatch(/\* [0-9A-Z]{26} +compaction/)
  await start()
  expect(await countSessions()).toBe(2)
})

test("the session file of another agent is imported and gets a new turn", async () => {
  const lines = [
    '{"type":"session","version":3,"id":"pi-1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/project"}',
    '{"type":"message","id":"aa","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"hi\\u001b[2J"}}',
    '{"type":"message","id":"bb","parentId":"aa","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"hello"}]}}',
  ]
  await writeFile(join(cwd, "pi.jsonl"), lines.map((line) => `${line}\n`).join(""))
  const shown = await start("pi.jsonl")
  expect(shown).toContain("from pi version 3")
  expect(shown).toMatch(/assistant +The last answer was: hello/)
  expect(shown).not.toContain("\u001b")
})

test("a file that is not a session ends with one line and status 1", async () => {
  await writeFile(join(cwd, "notes.txt"), "hello\n")
  await expect(start("notes.txt")).rejects.toThrow(/resume-after-crash: [^\n]+\n$/)
})
