import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { readRedaction } from "./redaction.ts"

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sessions-redaction-"))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function rules(text: string): Promise<(text: string) => string> {
  await writeFile(join(folder, "rules.txt"), text)
  return readRedaction("rules.txt", folder)
}

test("every match of every rule is replaced; empty lines and comments are no rules", async () => {
  const redact = await rules("# keys\r\nsk-[a-z0-9]+\r\n\n/PASSWORD=\\S+/i\n/path/with/slashes\n")
  expect(redact("sk-12 sk-ab password=x /path/with/slashes # keys")).toBe(
    "[redacted] [redacted] [redacted] [redacted] # keys",
  )
  expect(redact("nothing")).toBe("nothing")
})

test("a rule is not changed by what it replaced before, and `$` in a text means nothing", async () => {
  const redact = await rules("/secret/i")
  for (const text of ["secret", "SECRET $&", "secret"]) expect(redact(text)).toBe(text.replace(/secret/i, "[redacted]"))
})

test("a file without rules, a wrong pattern, one that matches nothing at all, and a missing file are refused", async () => {
  await expect(rules("# only a comment\n")).rejects.toThrow(/has no rules/)
  await expect(rules("good\n(")).rejects.toThrow(/line 2 of rules.txt is no regular expression/)
  await expect(rules("a*")).rejects.toThrow(/line 1 of rules.txt matches the empty text/)
  await expect(readRedaction("none.txt", folder)).rejects.toThrow(/cannot read none.txt: no such file/)
})
