import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { createCli } from "../../test/harness.ts"
import { makeSample, USER } from "../../test/sample.ts"

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sessions-html-"))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test("export --format html writes one file with the whole session, and nothing beside it", async () => {
  const cli = createCli({ cwd: folder })
  const { id, entries } = await cli.use((sessions) => makeSample(sessions))
  const { stdout } = await cli("export", id, "--format", "html", "--out", "one.html")
  expect(stdout).toMatch(/^wrote one\.html/)
  const html = await readFile(join(folder, "one.html"), "utf8")
  expect(html.startsWith("<!doctype html>")).toBe(true)
  for (const entry of entries) expect(html.includes(entry)).toBe(true)
  expect(await readdir(folder)).toEqual(["one.html"])
  const { stdout: printed } = await cli("export", id, "--format", "html")
  expect(printed === html).toBe(true)
})

test("export --redact replaces what its rules match, and no file is left if a rule is wrong", async () => {
  const cli = createCli({ cwd: folder })
  const { id } = await cli.use((sessions) => makeSample(sessions))
  await writeFile(join(folder, "rules"), `${USER}\n/NPM TEST/i\n`)
  const { stdout: html } = await cli("export", id, "--format", "html", "--redact", "rules")
  for (const text of [USER, "npm test"]) expect(html.includes(text)).toBe(false)
  expect(html.includes("[redacted]")).toBe(true)
  await writeFile(join(folder, "rules"), "(\n")
  const { exit, stderr } = await cli("export", id, "--format", "html", "--redact", "rules", "--out", "two.html")
  expect([exit, stderr]).toEqual([2, expect.stringMatching(/line 1 of rules is no regular expression/)])
  expect(await readdir(folder)).not.toContain("two.html")
})

test("export --subagents adds their sessions; --redact and --subagents need --format html", async () => {
  const cli = createCli({ cwd: folder })
  const { id } = await cli.use(async (sessions) => {
    const sample = await makeSample(sessions)
    await sessions.create({ id: "agent", kind: "subagent", title: "the agent", parentSession: { id: sample.id } })
    return sample
  })
  expect((await cli("export", id, "--format", "html", "--subagents")).stdout.includes('data-session="agent"')).toBe(
    true,
  )
  expect((await cli("export", id, "--format", "html")).stdout.includes('data-session="agent"')).toBe(false)
  for (const option of [["--subagents"], ["--redact", "rules"]]) {
    const { exit, stderr } = await cli("export", id, ...option)
    expect([exit, stderr]).toEqual([2, expect.stringMatching(/requires --format html/)])
  }
})
