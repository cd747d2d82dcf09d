import { existsSync } from "node:fs"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, beforeEach, expect, test } from "vitest"
import { run } from "../src/index.ts"
import { runProcess } from "./cli-process.ts"
import { captured, type Result } from "./harness.ts"

let cwd = ""
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "sessions-cli-"))
})
afterEach(() => rm(cwd, { recursive: true, force: true }))

/** In this process. */
async function runHere(...argv: string[]): Promise<Result> {
  const { io, stdout, stderr } = captured({ cwd })
  return { exit: await run(argv, io), stdout: stdout(), stderr: stderr() }
}

const PI = [
  '{"type":"session","version":3,"id":"pi-1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/project"}',
  '{"type":"message","id":"aa","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"hi"}}',
  "",
].join("\n")

test("import stores a session from standard input in ./.sessions, and export prints the stored bytes", async () => {
  const imported = await runProcess({ cwd, stdin: PI }, "import", "-")
  expect(imported).toEqual({
    exit: 0,
    stdout: expect.stringMatching(/^pi\.[0-9a-f]{32}\n$/),
    stderr: "format: pi  pi-1  hi\n",
  })
  const id = imported.stdout.trim()
  const exported = await runProcess({ cwd }, "export", "@last", "--store", "./.sessions")
  expect(exported.stdout).toBe(await readFile(join(cwd, ".sessions", id, "session.jsonl"), "utf8"))
  const removed = await runHere("rm", id.slice(0, 20), "--yes")
  expect(removed.stdout).toMatch(new RegExp(`^deleted ${id} \\(1 part, \\d+ B\\)\n$`))
  expect(JSON.parse((await runHere("list", "--json")).stdout)).toMatchObject({ sessions: [] })
})

test("wrong usage exits with 2 and a failure with 1, each with a one-line message", async () => {
  expect(await runProcess({ cwd }, "lsit")).toEqual({
    exit: 2,
    stdout: "",
    stderr: expect.stringMatching(/^sessions: [^\n]+\n$/),
  })
  const missing = await runProcess({ cwd }, "show", "nope")
  expect(missing).toEqual({ exit: 1, stdout: "", stderr: expect.stringMatching(/^sessions: [^\n]+\n$/) })
})

test("a reader that closes the pipe is not an error", async () => {
  const line = (i: number): string =>
    `{"type":"message","id":"m${i}","parentId":${i === 0 ? "null" : `"m${i - 1}"`},"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"${"x".repeat(500)}"}}\n`
  const log = PI.split("\n")[0] + "\n" + Array.from({ length: 2000 }, (_, i) => line(i)).join("")
  await writeFile(join(cwd, "in.jsonl"), log)
  await runHere("import", "in.jsonl")
  expect(await runProcess({ cwd, stopReading: true }, "export", "@last")).toMatchObject({ exit: 0, stderr: "" })
})

const fixtures = fileURLToPath(new URL("../../formats/test/fixtures/", import.meta.url))

test("a session of pi version 1 has the context that pi gives it", async () => {
  const { stdout } = await runHere("import", join(fixtures, "pi", "v1.jsonl"))
  const context = await runHere("context", stdout.trim(), "--json", "--repair", "none")
  const { messages, model } = JSON.parse(context.stdout) as {
    messages: { entryId: string }[]
    model: { provider: string }
  }
  expect(messages.length).toBe(3)
  expect(messages.every(({ entryId }) => entryId.length > 0)).toBe(true)
  expect(model).toMatchObject({ provider: "anthropic" })
})

test("a session that ends in a reset has an empty context", async () => {
  const { stdout } = await runHere("import", join(fixtures, "oh-my-pi", "title-slot.jsonl"))
  const context = await runHere("context", stdout.trim(), "--json")
  expect(JSON.parse(context.stdout)).toMatchObject({ messages: [] })
  expect((await runHere("list")).stdout).toContain("Letters")
})

test("a file of invalid JSON is refused, and creates no store", async () => {
  await writeFile(join(cwd, "bad.jsonl"), "{{{\n")
  expect((await runHere("import", "bad.jsonl")).exit).toBe(1)
  expect(existsSync(join(cwd, ".sessions"))).toBe(false)
})

const isDeno = "Deno" in globalThis
if (isDeno) console.info("A removed folder is not tried: Deno itself ends there before it runs a program.")
test.skipIf(process.platform === "win32" || isDeno)(
  "in a folder that was removed, help is shown, and errors are one line",
  async () => {
    const from = (...args: string[]): ReturnType<typeof runProcess> => runProcess({ cwd, removed: "gone" }, ...args)
    expect(await from("--help")).toMatchObject({ exit: 0, stderr: "" })
    for (const args of [["list", "--store", "file:/nowhere/at/all"], ["list"]])
      expect(await from(...args)).toMatchObject({
        exit: 1,
        stderr: expect.stringMatching(/^sessions: [^\n]+\n$/) as string,
      })
  },
)
